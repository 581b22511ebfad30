#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what transformers and plain PyTorch compute, for tests/parity.

    HF_HUB_OFFLINE=1 python scripts/parity_fixtures.py --seed 7 --out DIR
    ./dev parity --fixtures DIR

Needs torch, transformers, peft and safetensors; a CPU is enough. Models are tiny and
random, every dropout is 0, arithmetic is fp32 on one thread. What the files
hold: docs/reference/parity.md. Writes models/ and trajectories/ below DIR;
files of these names are replaced.
"""

import argparse
import copy
import json
import math
import os
import pathlib

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import peft
import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import save_file

WORDS, WIDTH, LAYERS, HEADS, FEED_FORWARD, PLACES = 140, 32, 3, 4, 64, 64
STEPS = 20
FIRST_WORD = 5  # ids below are special tokens


def small(family, **more):
    """A configuration as small as a test can be, without dropout."""
    if family == "distilbert":
        return transformers.DistilBertConfig(
            vocab_size=WORDS, dim=WIDTH, n_layers=LAYERS, n_heads=HEADS,
            hidden_dim=FEED_FORWARD, max_position_embeddings=PLACES,
            dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0,
            initializer_range=0.2, **more)
    return transformers.BertConfig(
        vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, intermediate_size=FEED_FORWARD,
        max_position_embeddings=PLACES, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, classifier_dropout=0.0,
        initializer_range=0.2, **more)


def shake(module, dice):
    """Biases of 0 and scales of 1 would hide a term that was forgotten."""
    with torch.no_grad():
        for name, value in module.named_parameters():
            if value.dim() == 1:
                value += 0.15 * torch.randn(value.shape, generator=dice)


class Pairs(torch.nn.Module):
    """scale * relu(cosine(projection(left), projection(right)))."""

    def __init__(self, encoder, family, pooling, scale):
        super().__init__()
        # Named as transformers names an encoder below a head.
        setattr(self, family, encoder)
        self.family, self.pooling, self.scale = family, pooling, scale
        self.projection = torch.nn.Linear(WIDTH, WIDTH)

    def read(self, input_ids, attention_mask):
        out = getattr(self, self.family)(
            input_ids=input_ids, attention_mask=attention_mask,
            output_hidden_states=True)
        tokens = out.last_hidden_state
        if self.pooling == "mean":
            there = attention_mask.unsqueeze(-1).float()
            return (tokens * there).sum(1) / there.sum(1), out
        if self.family == "bert":
            return out.pooler_output, out
        return tokens[:, 0], out

    def centre(self, dice):
        """Random texts are all alike, and a cosine below 0 must occur."""
        with torch.no_grad():
            text, _ = self.read(**texts(dice, 64, 12))
            self.projection.bias.copy_(-self.projection.weight @ text.mean(0))

    def forward(self, input_ids, attention_mask, labels, **more):
        text, out = self.read(input_ids, attention_mask)
        left, right = self.projection(text).chunk(2)
        dot = (left * right).sum(1)
        cosine = dot / (left.norm(dim=1) * right.norm(dim=1))
        logits = self.scale * cosine.clamp(min=0)
        loss = ((logits - labels) ** 2).mean()
        return transformers.modeling_outputs.SequenceClassifierOutput(
            loss=loss, logits=logits, hidden_states=out.hidden_states)


# ------------------------------------------------------------------ models
def texts(dice, rows, width):
    """Random ids with padding on the right; the first row is full."""
    ids = torch.randint(FIRST_WORD, WORDS, (rows, width), generator=dice)
    lengths = torch.randint(3, width, (rows,), generator=dice)
    lengths[0] = width
    mask = (torch.arange(width) < lengths.unsqueeze(1)).long()
    return {"input_ids": ids * mask, "attention_mask": mask}


def labels_for(task, dice, rows, mask):
    if task == "pair":
        return 5 * torch.rand(rows // 2, generator=dice)
    if task == "tok":
        wanted = torch.randint(0, 17, mask.shape, generator=dice)
        silent = torch.rand(mask.shape, generator=dice) < 0.4
        silent[0, 1] = False
        return wanted.masked_fill(silent | (mask == 0), -100)
    return torch.randint(0, 2, (rows,), generator=dice)


def batch_for(task, dice, rows, width):
    batch = texts(dice, rows, width)
    batch["labels"] = labels_for(task, dice, rows, batch["attention_mask"])
    return batch


def tensors_of(batches):
    return {f"b{i}.{name}": value.contiguous()
            for i, batch in enumerate(batches) for name, value in batch.items()}


def make_pair(family, pooling, dice):
    config = small(family)
    kind = {"bert": transformers.BertModel,
            "distilbert": transformers.DistilBertModel}[family]
    config._attn_implementation = "eager"
    more = {"add_pooling_layer": pooling == "first"} if family == "bert" else {}
    return Pairs(kind(config, **more), family, pooling, 5.0), config


def make_sst2(dice):
    config = small("distilbert", finetuning_task="sst-2", num_labels=2,
                   id2label={0: "NEGATIVE", 1: "POSITIVE"},
                   label2id={"NEGATIVE": 0, "POSITIVE": 1})
    config._attn_implementation = "eager"
    return transformers.DistilBertForSequenceClassification(config), config


def make_tok17(dice):
    config = small("bert", num_labels=17)
    config._attn_implementation = "eager"
    return transformers.BertForTokenClassification(config), config


MODELS = {
    # folder: (task, how it is made, members of expected.json)
    "bert-pair": ("pair", lambda d: make_pair("bert", "mean", d),
                  {"pooling": "mean", "scale": 5.0}),
    "bert-pairfirst": ("pair", lambda d: make_pair("bert", "first", d),
                       {"pooling": "first", "scale": 5.0}),
    "distilbert-pairfirst": ("pair", lambda d: make_pair("distilbert", "first", d),
                             {"pooling": "first", "scale": 5.0}),
    "bert-pairopposed": ("pair", lambda d: make_pair("bert", "mean", d),
                         {"pooling": "mean", "scale": 5.0}),
    "distilbert-sst2": ("seq", make_sst2, {}),
    "bert-accumulated": ("tok", make_tok17, {}),
}


def figures(value, first):
    value = value.detach().double()
    return {"sum": value.sum().item(), "abs_sum": value.abs().sum().item(),
            f"first{first}": value.flatten()[:first].tolist()}


def expected_of(task, model, batches, recorded):
    expected = {"task": task, "weights_dtype": "float16", "batches": []}
    for i, batch in enumerate(batches):
        out = model(**batch, output_hidden_states=True)
        recorded[f"b{i}.logits"] = out.logits.detach().contiguous()
        recorded[f"b{i}.last_hidden_state"] = (
            out.hidden_states[-1].detach().contiguous())
        there = batch["attention_mask"] == 1
        expected["batches"].append({
            "loss": out.loss.item(),
            "hidden_abs_mean_valid": [
                state.detach()[there].double().abs().mean().item()
                for state in out.hidden_states]})
        if i > 0:
            continue
        out.loss.backward()
        named = list(model.named_parameters())
        expected["no_grad_params"] = [n for n, p in named if p.grad is None]
        expected["grads_b0"] = {n: figures(p.grad, 8) for n, p in named
                                if p.grad is not None}
        expected["grad_norm"] = math.sqrt(sum(
            p.grad.double().pow(2).sum().item() for _, p in named
            if p.grad is not None))
        model.zero_grad(set_to_none=True)
    return expected


def record_model(out, name, dice):
    """Makes a model, writes it as fp16 and records what the file computes."""
    task, make, members = MODELS[name]
    model, config = make(dice)
    shake(model, dice)
    opposed = name == "bert-pairopposed"
    if opposed:
        model.centre(dice)
    model.half().float()  # what a reader of the file has
    folder = out / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    save_file({n: p.detach().half().contiguous()
               for n, p in model.state_dict().items()
               if p.is_floating_point()}, folder / "model.safetensors")
    rows = (16, 12) if opposed else (6, 4)
    batches = [batch_for(task, dice, rows[0], 12),
               batch_for(task, dice, rows[1], 30)]
    recorded = tensors_of(batches)
    expected = expected_of(task, model.eval(), batches, recorded) | members
    if opposed:
        scores = torch.cat([recorded["b0.logits"], recorded["b1.logits"]])
        assert (scores == 0).any() and (scores > 0).any(), scores
    expected["num_labels"] = {"pair": 1, "tok": 17, "seq": 2}[task]
    save_file(recorded, folder / "io.safetensors")
    write_json(folder / "expected.json", expected)
    return model


def write_json(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")


# ------------------------------------------------------------ trajectories
LEVEL = {"embeddings": 1e-3, "layer.0": 1e-3, "layer.1": 1e-3,
         "layer.2": 1e-3, "head": 1e-3}

# Scores of pairs are steep: rounding grows with every step of a fast run.
SLOW = {name: 3e-4 for name in LEVEL}

# What differs from AdamW at one rate, linear, clipped at 1, two warm-up steps.
CASES = {
    "bert_e_pair_cosine": dict(model="bert-pair", rates=SLOW),
    "distilbert_e_pair_cosine": dict(model="distilbert-pairfirst", rates=SLOW,
                                     schedule="cosine"),
    "bert_f_sublayers": dict(
        model="bert-accumulated",
        rates=LEVEL | {"embeddings": 0.0, "layer.0.attention": 0.0,
                       "layer.1.ffn": 0.0, "layer.2.attention": 2e-3}),
    "distilbert_f_sublayers": dict(
        model="distilbert-sst2",
        rates=LEVEL | {"embeddings": 0.0, "layer.0.ffn": 0.0,
                       "layer.2.attention": 0.0}),
    "distilbert_f_sublayers_lr0": dict(
        model="distilbert-sst2", mode="lr0", clip=0.5,
        rates=LEVEL | {"layer.0.ffn": 0.0, "layer.2.attention": 0.0}),
    "distilbert_g_attention_head": dict(
        model="distilbert-sst2", weight_decay=0.1,
        rates=LEVEL | {"layer.1.head.2": 0.0, "layer.2.head.0": 0.0}),
    "distilbert_h_adam": dict(model="distilbert-sst2", kind="adam",
                              weight_decay=0.1),
    "distilbert_i_sgd": dict(
        model="distilbert-sst2", kind="sgd", weight_decay=0.1,
        rates={name: 0.05 for name in LEVEL} | {"layer.1": 0.2}),
    "distilbert_j_constant": dict(model="distilbert-sst2",
                                  schedule="constant", warmup=0),
    "distilbert_k_cosine": dict(model="distilbert-sst2", schedule="cosine",
                                warmup=4),
    "bert_l_accumulation": dict(model="bert-accumulated", parts=2),
    "distilbert_m_smoothing": dict(model="distilbert-sst2", smoothing=0.15),
    "bert_m_smoothing": dict(model="bert-accumulated", smoothing=0.1),
    "bert_n_lora": dict(
        model="bert-accumulated",
        rates=LEVEL | {"embeddings": 0.0, "layer.0": 0.0, "layer.2": 2e-3},
        lora={"rank": 4, "alpha": 8.0, "modules": ["query", "value"]}),
    "bert_n_lora_pooler": dict(
        model="bert-pairfirst", rates=SLOW | {"embeddings": 0.0},
        lora={"rank": 3, "alpha": 3.0, "modules": ["key", "ffn_out"]}),
    "distilbert_n_lora_everywhere": dict(
        model="distilbert-sst2", weight_decay=0.1, clip=0.0,
        rates=LEVEL | {"embeddings": 0.0},
        lora={"rank": 8, "alpha": 4.0, "modules":
              ["q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2"]}),
    "distilbert_n_lora_lr0": dict(
        model="distilbert-sst2", mode="lr0", clip=0.5,
        rates=LEVEL | {"embeddings": 0.0, "layer.1": 0.0,
                       "layer.2.attention": 0.0},
        lora={"rank": 2, "alpha": 16.0, "modules": ["attention_out", "ffn_in"]}),
}

# Where peft finds what a study calls by our names.
TARGETS = {"ffn_out": r".*(layer\.\d+\.output\.dense|mlp\.Wo|\.down_proj)",
           "key": r".*\.(key(_proj)?|k_proj)", "query": r".*\.(query(_proj)?|q_proj)",
           "value": r".*\.(value(_proj)?|v_proj)", "qkv": r".*\.Wqkv",
           "attention_out": r".*(\.out_lin|attention\.output\.dense|attn\.Wo|\.o_proj)",
           "ffn_in": r".*(\.lin1|\.intermediate\.dense|\.Wi|\.up_proj)",
           "ffn_gate": r".*\.gate_proj"}


def module_of(name):
    """(embeddings | layer.N | head, attention | ffn | nothing)."""
    parts = name.replace(".layers.", ".layer.").split(".")
    if "projection" in parts or parts[0] in ("pooler", "head", "classifier", "score"):
        return "head", ""
    if parts[1] in ("final_norm", "norm"):  # behind all layers
        return f"layer.{LAYERS - 1}", "ffn"
    if parts[1] == "embed_tokens":
        return "embeddings", ""
    if "layer" not in parts:
        whole = {"embeddings", "embeddings_project", "encoder"}
        return ("embeddings" if whole & set(parts) else "head"), ""
    at = parts.index("layer")
    inside = "attention" if parts[at + 2] in (
        "attention", "sa_layer_norm", "attn", "attn_norm", "self_attn",
        "input_layernorm") else "ffn"
    return f"layer.{parts[at + 1]}", inside


def rate_of(name, rates):
    module, inside = module_of(name)
    return rates.get(f"{module}.{inside}", rates[module])


def head_slices(name, rates):
    """Which rows or columns of a weight belong to attention heads of rate 0."""
    module, inside = module_of(name)
    parts = name.split(".")
    size = WIDTH // HEADS
    if inside != "attention" or "norm" in name.lower():
        return []
    out = parts[-2] in ("out_lin", "Wo") or parts[-3:-1] == ["output", "dense"]
    if out and parts[-1] == "bias":
        return []
    blocks = 3 if "Wqkv" in parts else 1  # one behind the other
    cut = [slice(block * WIDTH + h * size, block * WIDTH + (h + 1) * size)
           for block in range(blocks) for h in range(HEADS)
           if rates.get(f"{module}.head.{h}") == 0.0]
    return [(slice(None), one) if out else (one,) for one in cut]


def decays(name):
    return not name.endswith("bias") and "norm" not in name.lower()


def factor_at(case, step):
    """Written out, and compared with the schedules of transformers below."""
    if step < case["warmup"]:
        return step / case["warmup"]
    done = (step - case["warmup"]) / (STEPS - case["warmup"])
    return {"linear": 1 - done, "constant": 1.0,
            "cosine": (1 + math.cos(math.pi * done)) / 2}[case["schedule"]]


def adapt(model, lora):
    """Adapters as peft makes them: A drawn, B of 0."""
    targets = "|".join(TARGETS.get(each, r".*\." + each)
                       for each in lora["modules"])
    return peft.inject_adapter_in_model(peft.LoraConfig(
        r=lora["rank"], lora_alpha=lora["alpha"], lora_dropout=0.0,
        target_modules=targets), model)


def plain(name):
    """What a weight is called without peft's own words."""
    return name.replace(".base_layer.", ".").replace(".default.", ".")


def stays(case, name):
    """Adapters, or biases alone, train in the place of the encoder's weights."""
    if module_of(name)[0] == "head":
        return False
    if case["biases"]:
        return not name.endswith("bias")
    return (case["lora"] and ".lora_" not in name or
            case["adapters"] and ".adapter." not in name)


def record_adapters(case, model, batch):
    """Gradients at the end, and, of peft's, the weights of a merged model."""
    model.train()
    loss_of(case, model, batch)[0].backward()
    gradients = {plain(n): figures(p.grad, 8)
                 for n, p in model.named_parameters() if p.grad is not None}
    merged = {plain(n + ".weight"): figures(
                  m.base_layer.weight + m.get_delta_weight("default"), 4)
              for n, m in model.named_modules() if hasattr(m, "lora_A")}
    recorded = {"final_grads": gradients}
    return recorded | ({"merged_weights": merged} if merged else {})


def optimizer_of(case, model):
    groups = []
    for name, value in model.named_parameters():
        rate = rate_of(name, case["rates"])
        value.requires_grad_((rate > 0 or case["mode"] == "lr0") and
                             not stays(case, name))
        if value.requires_grad:
            groups.append({"params": [value], "lr": rate, "weight_decay":
                           case["weight_decay"] if decays(name) else 0.0})
    kinds = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam,
             "sgd": torch.optim.SGD}
    optimizer = kinds[case["kind"]](groups)
    if case["schedule"] == "constant":
        schedule = transformers.get_constant_schedule(optimizer)
    else:
        make = {"linear": transformers.get_linear_schedule_with_warmup,
                "cosine": transformers.get_cosine_schedule_with_warmup}
        schedule = make[case["schedule"]](optimizer, case["warmup"], STEPS)
    return optimizer, schedule


def loss_of(case, model, batch):
    """The mean over the labels, and how many there are."""
    labels = batch["labels"]
    if case["smart"]:
        return case["smart"].loss(model, batch), None
    out = model(**batch)
    count = int((labels != -100).sum()) if labels.dtype == torch.long else len(labels)
    if case["smoothing"] == 0.0:
        return out.loss, count
    scores = F.log_softmax(out.logits.flatten(0, -2), dim=-1)
    labels = labels.flatten()
    scores, labels = scores[labels != -100], labels[labels != -100]
    right = -scores.gather(1, labels.unsqueeze(1)).mean()
    share = case["smoothing"]
    return (1 - share) * right - share * scores.mean(), count


def take_step(case, model, parts, optimizer, masks):
    """Each label weighs the same, however the parts were cut."""
    counts = [int((p["labels"] != -100).sum()) if p["labels"].dtype == torch.long
              else len(p["labels"]) for p in parts]
    total = 0.0
    for batch, count in zip(parts, counts):
        loss, _ = loss_of(case, model, batch)
        loss = loss * (count / sum(counts))
        loss.backward()
        total += loss.item()
    for value, cut in masks:
        for one in cut:
            value.grad[one] = 0
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(),
                                          case["clip"] or math.inf)
    # A decay moves even what has no gradient: a frozen slice is put back.
    kept = [(value, one, value.detach()[one].clone())
            for value, cut in masks for one in cut]
    optimizer.step()
    with torch.no_grad():
        for value, one, before in kept:
            value[one] = before
    optimizer.zero_grad(set_to_none=True)
    if case["smart"]:
        case["smart"].after_step(model)
    return total, norm.item()


def run_case(case, model, batches):
    start = {n: p.detach().clone() for n, p in model.named_parameters()}
    optimizer, schedule = optimizer_of(case, model)
    masks = [(p, head_slices(n, case["rates"]))
             for n, p in model.named_parameters()]
    masks = [(p, cut) for p, cut in masks if cut]
    highest = max(case["rates"].values())
    steps = []
    for step, indices in enumerate(case["order"]):
        factor = factor_at(case, step)
        now = max(group["lr"] for group in optimizer.param_groups)
        assert abs(now - factor * highest) < 1e-12, (step, now, factor)
        loss, norm = take_step(case, model, [batches[i] for i in indices],
                               optimizer, masks)
        schedule.step()
        steps.append({"loss": loss, "grad_norm": norm, "lr_factor": factor})
    final = {plain(n): figures(p, 4) |
             {"delta_abs_sum": figures(p - start[n], 4)["abs_sum"]}
             for n, p in model.named_parameters() if not stays(case, n)}
    model.eval()
    with torch.no_grad():
        losses = [model(**batch).loss.item() for batch in batches]
    adapts = case["lora"] or case["adapters"] or case["biases"]
    more = record_adapters(case, model, batches[0]) if adapts else {}
    return {"steps": steps, "final_weights": final, "final_eval_loss": losses,
            "undetermined": [n for n in final
                             if n.endswith(("key.bias", "k_lin.bias"))]} | more


def record_case(out, name, changes, model, batches, batch_file, more=None):
    case = {"kind": "adamw", "weight_decay": 0.01, "schedule": "linear",
            "warmup": 2, "clip": 1.0, "smoothing": 0.0, "mode": "hard",
            "rates": LEVEL, "parts": 1, "lora": None, "adapters": None,
            "biases": False, "smart": None} | changes
    more = dict(more or {})
    if case["lora"]:
        model = adapt(model, case["lora"])
        more["lora"] = case["lora"] | {"start": f"trajectories/{name}.safetensors"}
        save_file({plain(n): p.detach().contiguous()
                   for n, p in model.named_parameters() if ".lora_A." in n},
                  out / "trajectories" / f"{name}.safetensors")
    case["order"] = [[(step * case["parts"] + part) % len(batches)
                      for part in range(case["parts"])]
                     for step in range(STEPS)]
    recorded = run_case(case, model.train(), batches)
    write_json(out / "trajectories" / f"{name}.json", {
        "model": f"models/{case['model']}", "batches": batch_file,
        "order": case["order"], "rates": case["rates"], "mode": case["mode"],
        "optimizer": {"kind": case["kind"], "betas": [0.9, 0.999],
                      "eps": 1e-8, "weight_decay": case["weight_decay"]},
        "schedule": case["schedule"], "warmup_steps": case["warmup"],
        "total_steps": STEPS, "clip": case["clip"],
        "label_smoothing": case["smoothing"]} | more | recorded)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    dice = torch.Generator().manual_seed(arguments.seed + 1)
    out = arguments.out
    (out / "trajectories").mkdir(parents=True, exist_ok=True)
    models, batches = {}, {}
    for name in MODELS:
        models[name] = record_model(out, name, dice)
    for task in ("pair", "seq", "tok"):
        # Of different sizes, so that a mean of means is not the mean.
        batches[task] = [batch_for(task, dice, rows, 12) for rows in (8, 4, 6, 2)]
        save_file(tensors_of(batches[task]),
                  out / "trajectories" / f"batches_{task}.safetensors")
    for name, changes in CASES.items():
        task = MODELS[changes["model"]][0]
        record_case(out, name, changes, copy.deepcopy(models[changes["model"]]),
                    batches[task], f"trajectories/batches_{task}.safetensors")
    print(f"{out}: {len(models)} models, {len(CASES)} trajectories")


if __name__ == "__main__":
    main()
