#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at exported models from outside.

    check_export.py plain FOLDER...   with nothing but Python: header, names and
                                      shapes against config.json
    check_export.py peer FOLDER...    transformers loads each, whole, and gives
                                      the numbers of the folder's ours.json
    check_export.py train FOLDER      and so does a run of training

Prints a line for each folder; exit 1 and the reason when one is not right.
"""

import json
import math
import pathlib
import struct
import sys

FORWARD = 1e-5
LOSSES = 1e-4


def require(holds, what):
    if not holds:
        raise SystemExit(f"FAIL {what}")


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


# ------------------------------------------------------------ plain Python
def header_of(path):
    """Name -> shape, after a look at every byte's place."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    require(size % 8 == 0, f"{path}: the data do not begin at a multiple of 8")
    header = json.loads(raw[8:8 + size])
    require(header.pop("__metadata__", {}).get("format") == "pt",
            f"{path}: format is not pt")
    at = 0
    for name, entry in sorted(header.items(),
                              key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        require(entry["dtype"] == "F32", f"{name} is {entry['dtype']}")
        require(begin == at, f"{name}: a hole or an overlap at {begin}")
        require(end - begin == 4 * math.prod(entry["shape"]),
                f"{name}: {end - begin} bytes for {entry['shape']}")
        numbers = struct.unpack(f"<{(end - begin) // 4}f",
                                raw[8 + size + begin:8 + size + end])
        require(all(map(math.isfinite, numbers)), f"{name} is not finite")
        at = end
    require(8 + size + at == len(raw), f"{path}: bytes behind the last tensor")
    return {name: entry["shape"] for name, entry in header.items()}


def pair(names, name, *shape):
    names[name + ".weight"] = list(shape)
    names[name + ".bias"] = [shape[0]]


def encoder_names(config, names):
    distil = config["model_type"] == "distilbert"
    top = {"bert": "bert.", "distilbert": "distilbert."}.get(
        config["model_type"], "roberta.")
    width = config["dim" if distil else "hidden_size"]
    wide = config["hidden_dim" if distil else "intermediate_size"]
    tables = {"word": config["vocab_size"],
              "position": config["max_position_embeddings"]}
    if not distil:
        tables["token_type"] = config["type_vocab_size"]
    for table, rows in tables.items():
        names[f"{top}embeddings.{table}_embeddings.weight"] = [rows, width]
    pair(names, top + "embeddings.LayerNorm", width)
    inner = (["attention.q_lin", "attention.k_lin", "attention.v_lin",
              "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2",
              "output_layer_norm"] if distil else
             ["attention.self.query", "attention.self.key",
              "attention.self.value", "attention.output.dense",
              "attention.output.LayerNorm", "intermediate.dense",
              "output.dense", "output.LayerNorm"])
    shapes = [(width, width)] * 4 + [(width,), (wide, width), (width, wide),
                                     (width,)]
    for i in range(config["n_layers" if distil else "num_hidden_layers"]):
        for name, shape in zip(inner, shapes):
            layers = "transformer" if distil else "encoder"
            pair(names, f"{top}{layers}.layer.{i}.{name}", *shape)
    return top, width


def expected_names(config):
    names = {}
    top, width = encoder_names(config, names)
    kind = config["architectures"][0]
    classes = len(config["id2label"])
    if kind.endswith("ForTokenClassification"):
        pair(names, "classifier", classes, width)
    elif kind == "BertForSequenceClassification":
        pair(names, top + "pooler.dense", width, width)
        pair(names, "classifier", classes, width)
    elif kind == "DistilBertForSequenceClassification":
        pair(names, "pre_classifier", width, width)
        pair(names, "classifier", classes, width)
    else:
        pair(names, "classifier.dense", width, width)
        pair(names, "classifier.out_proj", classes, width)
    return names


def check_plain(folder):
    config = read_json(folder / "config.json")
    there = header_of(folder / "model.safetensors")
    wanted = expected_names(config)
    require(there.keys() == wanted.keys(),
            f"{folder}: names differ: {sorted(there.keys() ^ wanted.keys())}")
    for name, shape in wanted.items():
        require(there[name] == shape, f"{name}: {there[name]}, not {shape}")
    require(sorted(config["label2id"].values()) ==
            sorted(map(int, config["id2label"])), "labels are not the classes")


# ----------------------------------------------------------- transformers
def load(folder):
    import torch
    import transformers
    torch.set_num_threads(1)
    kind = read_json(folder / "config.json")["architectures"][0]
    auto = (transformers.AutoModelForTokenClassification
            if "ForTokenClassification" in kind
            else transformers.AutoModelForSequenceClassification)
    model, info = auto.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager",
        output_loading_info=True)
    require(type(model).__name__ == kind, f"{type(model).__name__}, not {kind}")
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys",
                 "error_msgs"):
        require(not info.get(what), f"{folder}: {what} {info.get(what)}")
    return model.eval()


def close(what, theirs, ours, tolerance):
    import torch
    ours = torch.tensor(ours, dtype=theirs.dtype)
    require(theirs.shape == ours.shape,
            f"{what}: {list(theirs.shape)}, not {list(ours.shape)}")
    furthest = (theirs - ours).abs().max().item()
    require(furthest <= tolerance, f"{what}: {furthest:.3g} apart")
    return furthest


def check_tokenizer(folder, ours):
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, ids in ours:
        theirs = tokenizer(text)["input_ids"]
        require(theirs == ids, f"{folder}: {text!r}: {theirs}, not {ids}")


def inputs_of(ours):
    import torch
    return {name: torch.tensor(ours[name]) for name in
            ("input_ids", "attention_mask", "token_type_ids") if name in ours}


def check_peer(folder):
    import torch
    ours = read_json(folder / "ours.json")
    model = load(folder)
    with torch.no_grad():
        out = model(**inputs_of(ours), output_hidden_states=True)
    apart = close(f"{folder} logits", out.logits, ours["logits"], FORWARD)
    if "hidden" in ours:
        there = torch.tensor(ours["attention_mask"]).unsqueeze(-1)
        apart = max(apart, close(
            f"{folder} hidden states", out.hidden_states[-1] * there,
            ours["hidden"], FORWARD))
    check_tokenizer(folder, ours["texts"])
    return f"logits within {apart:.2g}"


def check_train(folder):
    """Twenty steps of AdamW at one rate, clipped at 1, warmed up and down."""
    import torch
    import transformers
    ours = read_json(folder / "ours.json")
    model = load(folder).train()
    decays = [p for n, p in model.named_parameters()
              if not n.endswith("bias") and "LayerNorm" not in n]
    rest = [p for n, p in model.named_parameters()
            if n.endswith("bias") or "LayerNorm" in n]
    optimizer = torch.optim.AdamW(
        [{"params": decays, "weight_decay": ours["weight_decay"]},
         {"params": rest, "weight_decay": 0.0}], lr=ours["rate"])
    schedule = transformers.get_linear_schedule_with_warmup(
        optimizer, ours["warmup"], len(ours["losses"]))
    inputs, labels = inputs_of(ours), torch.tensor(ours["labels"])
    losses, norms = [], []
    for _ in ours["losses"]:
        loss = model(**inputs, labels=labels).loss
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(
            model.parameters(), 1.0).item())
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
    require(losses[-1] < 0.8 * losses[0], "nothing was learned")
    apart = close("losses", torch.tensor(losses), ours["losses"], LOSSES)
    norm = close("norms", torch.tensor(norms), ours["norms"], 10 * LOSSES)
    return (f"losses from {losses[0]:.4f} to {losses[-1]:.4f} within "
            f"{apart:.2g}, norms within {norm:.2g}")


def main(arguments):
    checks = {"plain": check_plain, "peer": check_peer, "train": check_train}
    if len(arguments) < 2 or arguments[0] not in checks:
        raise SystemExit(__doc__)
    for folder in map(pathlib.Path, arguments[1:]):
        said = checks[arguments[0]](folder)
        print(f"PASS {folder.name}{': ' + said if said else ''}")


if __name__ == "__main__":
    main(sys.argv[1:])
