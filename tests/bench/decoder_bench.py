#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""decoder_bench.py PROGRAMS [--quick] [--device cpu|cuda] [--whole]: steps of a Llama-like
decoder that learns classes, and answers, by our trainer and by transformers, in turn: the
same weights, texts, batches, optimiser, clipping and threads. With --whole the decoder is
as large as SmolLM2 of 135M, and eight trials of half its depth run with and without sharing;
that is what a GPU is borrowed for, ten minutes at most."""
import argparse
import hashlib
import json
import pathlib
import random
import resource
import statistics
import string
import subprocess
import sys
import tempfile
import time

import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "recipes" / "samples"))

import make_samples  # noqa: E402  a tokenizer of bytes

LENGTH, PROMPT, BATCH = 64, 48, 8  # tokens of a text and of its prompt; texts of a batch
RATE = 1e-4


def say(task, **figures):
    print(json.dumps({f"decoder.{task}.{name.replace('__', '.')}": round(value, 4)
                      for name, value in figures.items()}), flush=True)


class World:
    """A registry with one decoder of random weights and texts of equal length, which have
    classes, or end in an answer."""

    def __init__(self, folder, task, layers, vocabulary, rows):
        self.folder, self.task, self.layers = pathlib.Path(folder, task), task, layers
        self.model = self.folder / "model"
        config = transformers.LlamaConfig(
            hidden_size=576, intermediate_size=1536, num_hidden_layers=layers,
            num_attention_heads=9, num_key_value_heads=3, vocab_size=vocabulary,
            max_position_embeddings=1024, tie_word_embeddings=True, bos_token_id=None,
            eos_token_id=0, pad_token_id=0)
        torch.manual_seed(1)
        transformers.LlamaForCausalLM(config).save_pretrained(self.model)
        (self.model / "tokenizer.json").write_text(json.dumps(make_samples.byte_tokenizer()))
        (self.model / "tokenizer_config.json").write_text(json.dumps(
            {"eos_token": make_samples.END, "pad_token": make_samples.END}))
        draw = random.Random(1)
        texts = ["".join(draw.choices(string.ascii_lowercase, k=LENGTH - 1))
                 for _ in range(rows)]
        if task == "answers":
            form, head = "jsonl", ""
            lines = [json.dumps({"prompt": text[:PROMPT], "answer": text[PROMPT:]}) + "\n"
                     for text in texts]
        else:
            form, head = "tsv", "text\tlabel\n"
            lines = [f"{text}\t{k % 2}\n" for k, text in enumerate(texts)]
        for name, rows_of in (("train", lines), ("few", lines[:BATCH])):
            (self.folder / name).write_text(head + "".join(rows_of))

        def sum_of(name):
            return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
        (self.folder / "models.yaml").write_text(
            "m:\n  path: model\n  weights: model.safetensors\n"
            f"  sha256: {sum_of('model/model.safetensors')}\n")
        (self.folder / "datasets.yaml").write_text(
            f"d:\n  task: {task}\n  format: {form}\n  splits:\n"
            f"    train: {{path: train, sha256: {sum_of('train')}}}\n"
            f"    validation: {{path: few, sha256: {sum_of('few')}}}\n")
        letters = {letter: k + 1 for k, letter in enumerate(make_samples.byte_letters())}
        end = [0] if task == "answers" else []
        self.ids = torch.tensor([[letters[one] for one in text] + end for text in texts])
        self.classes = torch.arange(rows) % 2

    def modules(self):
        head = [] if self.task == "answers" else ["head"]
        return ["embeddings", *(f"layer.{k}" for k in range(self.layers)), *head]

    def batch(self, step):
        """Token ids and labels."""
        at = step * BATCH % len(self.ids)
        ids = self.ids[at:at + BATCH]
        if self.task != "answers":
            return ids, self.classes[at:at + BATCH]
        labels = ids.clone()
        labels[:, :PROMPT] = -100
        return ids, labels


class Ours:
    """The trainer, one process for all its trials."""

    def __init__(self, programs, world, device, precision, prefixes=None):
        self.world, self.count = world, 0
        self.precision = precision
        flags = ["--registry", world.folder, "--device", device, "--threads", "1"]
        if prefixes:
            flags += ["--prefix-dir", prefixes]
        self.log = world.folder / f"{id(self)}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [programs / "frostline-trainer", *flags], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True)

    def trial(self, frozen, steps):
        """A trial with so many layers frozen, with the embeddings; its usage."""
        modules = self.world.modules()
        self.count += 1
        folder = self.world.folder / f"{id(self)}-{self.count}"
        folder.mkdir()
        self.process.stdin.write(json.dumps({
            "type": "trial", "protocol": 1, "trial": f"studies/b/trials/{self.count}",
            "attempt": 1, "parameters": {}, "seed": 1,
            "rates": {name: 0.0 if frozen > 0 and k <= frozen else RATE
                      for k, name in enumerate(modules)},
            "prefix_depth": frozen if frozen > 0 else -1,
            "objectives": [{"metric": "loss", "direction": "minimize"}],
            "model": {"id": "m", "layers": self.world.layers}, "data": {"id": "d"},
            "training": {"max_steps": steps, "batch_size": BATCH, "max_length": LENGTH,
                         "schedule": "constant", "clip_norm": 1.0,
                         "precision": self.precision},
            "labels": {}, "takes": [], "folder": str(folder), "resume_from": None}) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            if message["type"] == "finish":
                if message["state"] != "succeeded":
                    raise SystemExit(f"decoder_bench: {message}")
                return message["usage"]
        raise SystemExit(f"decoder_bench: the trainer ended: {self.log.read_text()}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def theirs(world, frozen, steps, device, precision):
    """Seconds of each step of transformers, but the first."""
    kind = (transformers.LlamaForCausalLM if world.task == "answers"
            else transformers.LlamaForSequenceClassification)
    model = kind.from_pretrained(world.model).to(device).train()
    for k, part in enumerate([model.model.embed_tokens, *model.model.layers]):
        part.requires_grad_(not (frozen > 0 and k <= frozen))
    trained = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.0)
    took = []
    for step in range(steps):
        ids, labels = (one.to(device) for one in world.batch(step))
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        loss.item()
        took.append(time.perf_counter() - began)
    return took[1:]


def step_of(usage):
    return usage["train_seconds"] / usage["steps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    steps, rounds = (3, 1) if options.quick else (8, 3)
    layers, vocabulary = (30, 49152) if options.whole else (8, 8192)
    precision = "fp32" if options.device == "cpu" else "bf16"
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    for task in ("classification", "answers"):
        with tempfile.TemporaryDirectory(prefix="frostline-bench-") as folder:
            world = World(folder, task, layers, vocabulary, BATCH * steps)
            measure(world, options, precision, steps, rounds)


def measure(world, options, precision, steps, rounds):
    depths = {"full": 0, "half": world.layers // 2, "three_quarters": 3 * world.layers // 4}
    seen = {name: {"ours": [], "shared": [], "theirs": []} for name in depths}
    alone = Ours(options.programs, world, options.device, precision)
    shared = Ours(options.programs, world, options.device, precision, world.folder / "prefixes")
    for _ in range(rounds):
        for name, frozen in depths.items():
            seen[name]["ours"].append(step_of(alone.trial(frozen, steps)))
            seen[name]["theirs"].append(statistics.median(
                theirs(world, frozen, steps + 1, options.device, precision)))
            if frozen:
                shared.trial(frozen, steps)  # its first one fills the store
                seen[name]["shared"].append(step_of(shared.trial(frozen, steps)))
    report(world.task, seen)
    if options.whole:
        eight(world.task, alone, shared, world.layers // 2, steps)
    usage = alone.trial(0, steps)
    say(world.task, peak_mib__ours=usage["peak_memory_bytes"] / 2**20, peak_mib__theirs=(
        torch.cuda.max_memory_allocated() / 2**20 if options.device == "cuda" else
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
    shared.close()
    alone.close()


def report(task, seen):
    middle = {name: {who: statistics.median(took) for who, took in by.items() if took}
              for name, by in seen.items()}
    for name, by in middle.items():
        say(task, **{f"step_ms__{name}.{who}": 1000 * took for who, took in by.items()})
        say(task, **{f"vs_transformers__{name}": by["theirs"] / by["ours"]})
        if "shared" in by:
            say(task, **{f"shared_vs_transformers__{name}": by["theirs"] / by["shared"],
                         f"shared_vs_full__{name}": middle["full"]["theirs"] / by["shared"]})
    say(task, **{f"tokens_per_s__{who}": BATCH * LENGTH / middle["full"][who]
                 for who in ("ours", "theirs")})


def eight(task, alone, shared, frozen, steps):
    """Eight trials of one depth, as a study has them."""
    for name, trainer in (("alone", alone), ("shared", shared)):
        began = time.perf_counter()
        for _ in range(8):
            trainer.trial(frozen, steps)
        say(task, **{f"eight_trials_s__{name}": time.perf_counter() - began})


if __name__ == "__main__":
    main()
