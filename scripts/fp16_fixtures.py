#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records twenty steps in fp16 on a processor, and what GradScaler answers.

    HF_HUB_OFFLINE=1 python scripts/fp16_fixtures.py --seed 7 \\
        --out tests/worker/trainer/train/data/fp16.json

Models and batches are those of parity_fixtures.py that are in the tree; losses
are scaled by torch.amp.GradScaler, one gradient is made infinite, and a step
that is skipped moves no schedule, as in the Trainer of transformers.
"""

import argparse
import math
import pathlib
import random

import torch
from safetensors.torch import load_file

import parity_fixtures as shared

DATA = pathlib.Path(__file__).parent.parent / "tests" / "parity" / "data"
CASES = {
    "distilbert-sst2": (
        shared.transformers.DistilBertForSequenceClassification, "seq"),
    "bert-accumulated": (
        shared.transformers.BertForTokenClassification, "tok")}
CLIP, RATE, WARMUP, DOUBLE_AFTER, SPOILT = 1.0, 1e-3, 2, 6, 9
# Low enough that nothing overflows but what is made to.
EXPONENT = 12


def batches_of(task):
    stored = load_file(DATA / "trajectories" / f"batches_{task}.safetensors")
    names = sorted({name.split(".")[0] for name in stored})
    return [{name.split(".")[1]: value for name, value in stored.items()
             if name.startswith(batch + ".")} for batch in names]


def take_step(model, batch, scaler, optimizer, spoilt):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(**batch).loss
    scale = scaler.get_scale()
    scaler.scale(loss).backward()
    if spoilt:
        model.classifier.weight.grad[1, 3] = math.inf
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    return {"loss": loss.item(), "scale": scale,
            "skipped": scaler.get_scale() < scale,
            "grad_norm": norm.item() if math.isfinite(norm) else -1.0}


def run(name):
    kind, task = CASES[name]
    model = kind.from_pretrained(DATA / "models" / name, dtype=torch.float32,
                                 attn_implementation="eager").train()
    start = {n: p.detach().clone() for n, p in model.named_parameters()}
    batches = batches_of(task)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0)
    schedule = shared.transformers.get_linear_schedule_with_warmup(
        optimizer, WARMUP, shared.STEPS)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** EXPONENT,
                                  growth_interval=DOUBLE_AFTER)
    steps = []
    for step in range(shared.STEPS):
        steps.append(take_step(model, batches[step % len(batches)], scaler,
                               optimizer, step == SPOILT))
        if not steps[-1]["skipped"]:
            schedule.step()
    moved = {n: (p - start[n]).detach().double().abs().sum().item()
             for n, p in model.named_parameters()}
    return {"model": f"models/{name}", "steps": steps, "moved": moved,
            "batches": f"trajectories/batches_{task}.safetensors"}


def answers(dice):
    """One weight, whose gradient is infinite every now and then."""
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scaler = torch.amp.GradScaler("cpu", growth_interval=DOUBLE_AFTER)
    finite, scales = [], []
    for _ in range(200):
        finite.append(dice.random() > 0.11)
        scaler.scale(weight.sum()).backward()
        if not finite[-1]:
            weight.grad.fill_(dice.choice([math.inf, -math.inf, math.nan]))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        scales.append(scaler.get_scale())
    assert min(scales) > 1.0, "a scale of 1 is where the two differ"
    return {"finite": finite, "scales": scales}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    recorded = {
        "clip": CLIP, "rate": RATE, "warmup_steps": WARMUP,
        "total_steps": shared.STEPS, "double_after": DOUBLE_AFTER,
        "exponent": EXPONENT,
        "spoilt_step": SPOILT, "scaler": answers(random.Random(arguments.seed)),
        "runs": [run(name) for name in CASES]}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    shared.write_json(arguments.out, recorded)
    print(f"{arguments.out}: {len(CASES)} runs")


if __name__ == "__main__":
    main()
