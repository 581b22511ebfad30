#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records families of models beyond those of parity_fixtures.py.

    HF_HUB_OFFLINE=1 python scripts/family_fixtures.py --seed 7 --out DIR
    ./dev parity --fixtures DIR

ELECTRA, DistilRoBERTa, ModernBERT, DeBERTa-v3, Llama, Qwen2 and Qwen3 in miniature, read and trained
by transformers: models/ and trajectories/ below DIR, of the form of
parity_fixtures.py, which this script uses. docs/reference/parity.md says what
the files hold.
"""

import argparse
import copy
import pathlib

import torch
import transformers
from safetensors.torch import save_file

import parity_fixtures as shared

SIZES = dict(vocab_size=shared.WORDS, hidden_size=shared.WIDTH,
             num_hidden_layers=shared.LAYERS,
             num_attention_heads=shared.HEADS,
             intermediate_size=shared.FEED_FORWARD,
             max_position_embeddings=shared.PLACES, initializer_range=0.2)
DECODER = SIZES | dict(num_key_value_heads=shared.HEADS // 2, pad_token_id=0,
                       bos_token_id=1, eos_token_id=2, classifier_dropout=0.0)
BERT = SIZES | dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def electra(**more):
    return transformers.ElectraConfig(**BERT, embedding_size=20,
                                      classifier_dropout=0.0, **more)


def electra_wide(**more):
    """As ELECTRA-base: its tables are as wide as its layers."""
    return transformers.ElectraConfig(**BERT, embedding_size=shared.WIDTH,
                                      classifier_dropout=0.0, **more)


def distilroberta(**more):
    """Half of RoBERTa's layers, one token type, and two places that stay empty."""
    return transformers.RobertaConfig(
        **BERT | dict(num_hidden_layers=2, max_position_embeddings=66),
        type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1,
        classifier_dropout=0.0, **more)


def modernbert(**more):
    """A window of four tokens to each side in the second and third layer."""
    return transformers.ModernBertConfig(
        **SIZES, local_attention=8, global_attn_every_n_layers=3,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1,
        sep_token_id=2, **more)


def deberta(**more):
    """Eight buckets of distances: beyond four tokens they are shared."""
    return transformers.DebertaV2Config(
        **BERT, type_vocab_size=0, relative_attention=True,
        position_buckets=8, max_relative_positions=-1, share_att_key=True,
        pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm",
        position_biased_input=False, pooler_dropout=0.0, cls_dropout=0.0,
        **more)


def deberta_far(**more):
    """Distances without buckets, up to ten."""
    config = deberta(**more)
    config.position_buckets = -1
    config.max_relative_positions = 10
    return config


def llama(**more):
    """Four heads of queries share two of keys, as in Llama 3 and SmolLM2."""
    return transformers.LlamaConfig(**DECODER, **more)


def llama_far(**more):
    """Rotary scaling of Llama 3.1, of texts four times as long."""
    return transformers.LlamaConfig(**DECODER, rope_parameters={
        "rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16}, **more)


def qwen2(**more):
    return transformers.Qwen2Config(**DECODER, **more)


def qwen2_far(**more):
    """YaRN's scaling: of four pairs one stays, one is mixed, and two are slowed."""
    return transformers.Qwen2Config(**DECODER, rope_parameters={
        "rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
        "beta_fast": 2.0, "original_max_position_embeddings": 32}, **more)


def qwen3(**more):
    """Its heads are wider than the hidden states' share."""
    return transformers.Qwen3Config(**DECODER, head_dim=12, **more)


HEADS = {"seq": ("ForSequenceClassification", 2),
         "tok": ("ForTokenClassification", 17),
         "lm": ("ForCausalLM", 2)}
FAMILIES = {"Electra": electra, "ElectraWide": electra_wide,
            "Roberta": distilroberta, "ModernBert": modernbert,
            "DebertaV2": deberta, "DebertaV2Far": deberta_far, "Llama": llama,
            "LlamaFar": llama_far, "Qwen2": qwen2, "Qwen2Far": qwen2_far,
            "Qwen3": qwen3}
MODELS = {
    # folder: (family, task, more of its configuration)
    "electra-seq2": ("Electra", "seq", {}),
    "electra-tok17": ("ElectraWide", "tok", {}),
    "distilroberta-seq2": ("Roberta", "seq", {}),
    "modernbert-seq2": ("ModernBert", "seq", {"classifier_pooling": "cls"}),
    "modernbert-mean-seq2": ("ModernBert", "seq",
                             {"classifier_pooling": "mean"}),
    "modernbert-tok17": ("ModernBert", "tok", {}),
    "deberta-seq2": ("DebertaV2", "seq", {}),
    "deberta-tok17": ("DebertaV2", "tok", {}),
    "deberta-far-seq2": ("DebertaV2Far", "seq", {}),
    "llama-seq2": ("Llama", "seq", {}),
    "llama-tok17": ("Llama", "tok", {}),
    "llama-far-seq2": ("LlamaFar", "seq", {}),
    "qwen2-seq2": ("Qwen2", "seq", {}),
    "qwen3-seq2": ("Qwen3", "seq", {}),
}

# Made after all others, so that what was recorded before stays.
LATER = {"qwen2-far-seq2": ("Qwen2Far", "seq", {})}

THREE = {"embeddings": 5e-4, "layer.0": 1e-3, "layer.1": 2e-3,
         "layer.2": 1e-3, "head": 2e-3}
ALL = ["query", "key", "value", "attention_out", "ffn_in", "ffn_out"]
CASES = {
    "electra_b_per_module_lr": dict(model="electra-seq2", rates=THREE),
    "electra_c_freeze_prefix": dict(
        model="electra-tok17", rates=THREE | {"embeddings": 0.0, "layer.0": 0.0}),
    "electra_n_lora": dict(
        model="electra-seq2", rates=THREE | {"embeddings": 0.0},
        lora={"rank": 4, "alpha": 8.0, "modules": ["query", "ffn_out"]}),
    "distilroberta_b_per_module_lr": dict(
        model="distilroberta-seq2",
        rates={n: r for n, r in THREE.items() if n != "layer.2"}),
    "modernbert_b_per_module_lr": dict(model="modernbert-mean-seq2",
                                       rates=THREE),
    "modernbert_c_freeze_prefix": dict(
        model="modernbert-seq2",
        rates=THREE | {"embeddings": 0.0, "layer.0": 0.0, "layer.1": 0.0}),
    "modernbert_g_attention_head": dict(
        model="modernbert-tok17", weight_decay=0.1,
        rates=THREE | {"layer.1.head.2": 0.0, "layer.2.head.0": 0.0}),
    "modernbert_n_lora": dict(
        model="modernbert-tok17", rates=THREE | {"embeddings": 0.0},
        lora={"rank": 4, "alpha": 8.0,
              "modules": ["qkv", "attention_out", "ffn_in", "ffn_out"]}),
    "deberta_b_per_module_lr": dict(model="deberta-seq2", rates=THREE),
    "deberta_c_freeze_prefix": dict(
        model="deberta-tok17", rates=THREE | {"embeddings": 0.0, "layer.0": 0.0}),
    "deberta_f_sublayers": dict(
        model="deberta-far-seq2",
        rates=THREE | {"layer.0.attention": 0.0, "layer.1.ffn": 0.0}),
    "deberta_n_lora": dict(
        model="deberta-seq2", rates=THREE | {"embeddings": 0.0},
        lora={"rank": 4, "alpha": 8.0, "modules": ALL}),
    "llama_b_per_module_lr": dict(model="llama-seq2", rates=THREE),
    "llama_c_freeze_prefix": dict(
        model="llama-tok17", rates=THREE | {"embeddings": 0.0, "layer.0": 0.0}),
    "llama_f_sublayers": dict(
        model="llama-far-seq2",
        rates=THREE | {"layer.0.attention": 0.0, "layer.1.ffn": 0.0}),
    "qwen2_b_per_module_lr": dict(model="qwen2-seq2", rates=THREE),
    "qwen3_n_lora": dict(
        model="qwen3-seq2", rates=THREE | {"embeddings": 0.0},
        lora={"rank": 4, "alpha": 8.0, "modules": [*ALL, "ffn_gate"]}),
}


# Recorded after all others, by draws of their own: what is above stays.
ANSWERS = {
    "llama-lm": ("Llama", "lm", {"tie_word_embeddings": False}),
    "qwen2-lm": ("Qwen2", "lm", {"tie_word_embeddings": True}),
    "qwen3-lm": ("Qwen3", "lm", {"tie_word_embeddings": True}),
}
ANSWER_CASES = {
    "llama_a_answers": dict(model="llama-lm", rates=THREE),
    "qwen2_a_answers": dict(model="qwen2-lm", rates=THREE),
    "qwen3_a_answers": dict(
        model="qwen3-lm", rates=THREE | {"embeddings": 0.0, "layer.0": 0.0}),
}
SPOKEN = 12  # tokens


def group_of(model):
    return "decoders" if (MODELS | LATER)[model][0] in (
        "Llama", "LlamaFar", "Qwen2", "Qwen2Far", "Qwen3") else "families"


def make(family, task, more):
    suffix, labels = HEADS[task]
    config = FAMILIES[family](num_labels=labels, **more)
    config._attn_implementation = "eager"
    kind = family.removesuffix("Wide").removesuffix("Far")
    return getattr(transformers, kind + suffix)(config), config


def batch_for(task, dice, rows, width, pad):
    batch = shared.batch_for(task, dice, rows, width)
    batch["input_ids"] = batch["input_ids"].masked_fill(
        batch["attention_mask"] == 0, pad)
    return batch


def answers_for(dice, rows, width, pad):
    """Each text is a prompt of 1 to 6 tokens and its answer: only that has labels."""
    batch = batch_for("seq", dice, rows, width, pad)
    prompts = torch.randint(1, 7, (rows, 1), generator=dice)
    answered = (torch.arange(width) >= prompts) & (batch["attention_mask"] == 1)
    batch["labels"] = torch.where(answered, batch["input_ids"], -100)
    return batch


def next_labels(batches):
    """Of each token its next one, as our batches have it; transformers shifts by itself."""
    tensors = shared.tensors_of(batches)
    for i, batch in enumerate(batches):
        tensors[f"b{i}.labels"] = torch.nn.functional.pad(
            batch["labels"], (0, 1), value=-100)[:, 1:].contiguous()
    return tensors


def likelihoods(logits, labels):
    """Of each label log p, and what it lacks to the likeliest: as our head has it."""
    said, wanted = logits[labels != -100], labels[labels != -100].unsqueeze(1)
    own = said.gather(1, wanted).squeeze(1)
    return torch.stack([said.log_softmax(1).gather(1, wanted).squeeze(1),
                        own - said.amax(1)], 1)


def record_answers(out, seed):
    dice = torch.Generator().manual_seed(seed + 3)
    models = {}
    for name, (family, task, more) in ANSWERS.items():
        models[name], config = make(family, task, more)
        model = models[name]
        shared.shake(model, dice)
        for value in model.parameters():
            value.data = value.data.half().float()
        folder = out / "models" / name
        folder.mkdir(parents=True, exist_ok=True)
        config.save_pretrained(folder)
        save_file({n: p.detach().half().contiguous()
                   for n, p in model.state_dict().items()
                   if p.is_floating_point() and not (
                       config.tie_word_embeddings and n == "lm_head.weight")},
                  folder / "model.safetensors")
        batches = [answers_for(dice, rows, width, 0)
                   for rows, width in ((4, 12), (2, 30))]
        recorded = next_labels(batches)
        expected = shared.expected_of("lm", model.eval(), batches, recorded)
        expected["num_labels"] = 1
        for b in ("b0", "b1"):
            recorded[f"{b}.logits"] = likelihoods(recorded[f"{b}.logits"],
                                                  recorded[f"{b}.labels"])
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            rounded = likelihoods(model(**batches[0]).logits.float(),
                                  recorded["b0.labels"])
        largest = recorded["b0.logits"].abs().max().clamp(min=1.0)
        expected["bf16_error"] = (
            (rounded - recorded["b0.logits"]).abs().max() / largest).item()
        prompts = [torch.randint(shared.FIRST_WORD, shared.WORDS, (1, length),
                                 generator=dice) for length in (5, 3, 8)]
        expected["prompts"] = [prompt[0].tolist() for prompt in prompts]
        expected["spoken"] = [
            model.generate(prompt, attention_mask=torch.ones_like(prompt),
                           max_new_tokens=SPOKEN, do_sample=False,
                           )[0, prompt.shape[1]:].tolist() for prompt in prompts]
        save_file(recorded, folder / "io.safetensors")
        shared.write_json(folder / "expected.json", expected)
    some = [answers_for(dice, rows, 12, 0) for rows in (6, 4, 2)]
    path = "trajectories/batches_answers.safetensors"
    save_file(next_labels(some), out / path)
    for name, changes in ANSWER_CASES.items():
        shared.record_case(out, name, changes,
                           copy.deepcopy(models[changes["model"]]), some, path)


def error_in_bf16(model, batch, logits):
    """What autocast costs transformers itself, as a share of the largest logit: sums along
    a decoder's layers are not normalized, so that it is more than an encoder's."""
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = model(**batch).logits.float()
    return ((rounded - logits).abs().max() / logits.abs().max().clamp(min=1.0)).item()


def record_model(out, name, dice):
    family, task, more = (MODELS | LATER)[name]
    model, config = make(family, task, more)
    shared.shake(model, dice)
    for value in model.parameters():  # what a reader of the file has; no buffer
        value.data = value.data.half().float()
    folder = out / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    save_file({n: p.detach().half().contiguous()
               for n, p in model.state_dict().items()
               if p.is_floating_point()}, folder / "model.safetensors")
    batches = [batch_for(task, dice, rows, width, config.pad_token_id)
               for rows, width in ((4, 12), (2, 30))]
    recorded = shared.tensors_of(batches)
    expected = shared.expected_of(task, model.eval(), batches, recorded)
    expected["num_labels"] = HEADS[task][1]
    if group_of(name) == "decoders":
        expected["bf16_error"] = error_in_bf16(model, batches[0], recorded["b0.logits"])
    save_file(recorded, folder / "io.safetensors")
    shared.write_json(folder / "expected.json", expected)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    out = arguments.out
    (out / "trajectories").mkdir(parents=True, exist_ok=True)
    # Those that come later draw by themselves: what was recorded before stays.
    groups = {"families": torch.Generator().manual_seed(arguments.seed + 1),
              "decoders": torch.Generator().manual_seed(arguments.seed + 2)}
    models = {name: record_model(out, name, groups[group_of(name)])
              for name in MODELS}
    batches = {}
    for group, dice in groups.items():
        for task in ("seq", "tok"):
            for pad in (0, 1):
                name = f"trajectories/batches_{group}_{task}{pad}.safetensors"
                batches[group, task, pad] = name, [
                    batch_for(task, dice, rows, 12, pad) for rows in (6, 4, 2)]
    for name, changes in CASES.items():
        model = copy.deepcopy(models[changes["model"]])
        task = MODELS[changes["model"]][1]
        path, some = batches[group_of(changes["model"]), task,
                             model.config.pad_token_id]
        save_file(shared.tensors_of(some), out / path)
        shared.record_case(out, name, changes, model, some, path)
    record_answers(out, arguments.seed)
    torch.manual_seed(arguments.seed + 4)
    dice = torch.Generator().manual_seed(arguments.seed + 4)
    models |= {name: record_model(out, name, dice) for name in LATER}
    print(f"{out}: {len(models) + len(ANSWERS)} models, "
          f"{len(CASES) + len(ANSWER_CASES)} trajectories")


if __name__ == "__main__":
    main()
