#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records heads and gradient surgery, computed with NumPy alone.

    python scripts/task_fixtures.py --seed 11 --out tests/parity/data/tasks/seed-11

heads.safetensors has hidden states, a mask, weights, and for each head what it
answers ("expected.KIND.POOLING"); surgery.json has gradients of several tasks
and what dominant surgery and PCGrad (Yu et al., 2020, algorithm 1) make of
them. Whose turn comes when in PCGrad is drawn as the trainer draws it.
"""

import argparse
import json
import math
import pathlib

import numpy
from safetensors.numpy import save_file

BITS = (1 << 64) - 1
WIDTH, OUTPUTS, MIDDLE, TEXTS, TOKENS = 32, 3, 10, 6, 5
SCALE = 5.0


def mixed(seed, value):
    z = (seed + (value + 1) * 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def others_in_turn(task, tasks, seed, step):
    mine = mixed(mixed(seed, step), task)
    drawn = [(mixed(mine, other), other) for other in range(tasks)
             if other != task]
    return [other for _, other in sorted(drawn)]


def dominant(gradients):
    longest = max(range(len(gradients)),
                  key=lambda i: gradients[i] @ gradients[i])
    star = gradients[longest]
    total = star.copy()
    for i, gradient in enumerate(gradients):
        if i == longest:
            continue
        along = gradient @ star
        total += gradient - (along / (star @ star) * star if along < 0 else 0)
    return total


def pcgrad(gradients, seed, step):
    total = numpy.zeros_like(gradients[0])
    for i, gradient in enumerate(gradients):
        mine = gradient.copy()
        for j in others_in_turn(i, len(gradients), seed, step):
            along = mine @ gradients[j]
            if along < 0:
                mine -= along / (gradients[j] @ gradients[j]) * gradients[j]
        total += mine
    return total


def record_surgery(dice, out):
    cases = []
    for number in range(12):
        tasks = 2 + number % 4
        gradients = list(dice.normal(size=(tasks, 7)))
        seed, step = int(dice.integers(0, 1 << 62)), int(dice.integers(0, 500))
        conflict = any(a @ b < 0 for i, a in enumerate(gradients)
                       for b in gradients[:i])
        cases.append({
            "gradients": [list(g) for g in gradients],
            # As text: JSON's numbers end at 2^53.
            "seed": str(seed), "step": step, "conflict": conflict,
            "dominant": list(dominant(gradients)),
            "pcgrad": list(pcgrad(gradients, seed, step))})
    (out / "surgery.json").write_text(json.dumps({"cases": cases}, indent=1))


def gelu(x):
    return 0.5 * x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2)))


def pooled(hidden, mask, pooling, weights):
    there = mask[:, :, None].astype(float)
    if pooling == "mean":
        return (hidden * there).sum(1) / there.sum(1)
    if pooling == "max":
        return numpy.where(there > 0, hidden, -numpy.inf).max(1)
    first = hidden[:, 0]
    return numpy.tanh(first @ weights["pooler.weight"].T + weights["pooler.bias"])


def answer(kind, read, w):
    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    left, right = read[:len(read) // 2], read[len(read) // 2:]
    if kind == "linear":
        return linear(read, "linear")
    if kind == "linear_apart":
        return linear(numpy.concatenate([left, right], 1), "linear_apart")
    if kind == "mlp":
        return linear(gelu(linear(read, "mlp_in")), "mlp_out")
    if kind == "inner_product":
        return (linear(left, "left") * linear(right, "right")).sum(1)
    if kind == "cosine":
        a, b = linear(left, "left"), linear(right, "left")
        norms = numpy.linalg.norm(a, axis=1) * numpy.linalg.norm(b, axis=1)
        return SCALE * numpy.maximum(0, (a * b).sum(1) / norms)
    return linear(numpy.concatenate(
        [left, right, abs(left - right), left * right], 1), "features")


def record_heads(dice, out):
    def map_of(name, outputs, inputs):
        return {name + ".weight": dice.normal(size=(outputs, inputs)) * 0.4,
                name + ".bias": dice.normal(size=outputs) * 0.4}

    weights = {}
    for name, outputs, inputs in (
            ("pooler", WIDTH, WIDTH), ("linear", OUTPUTS, WIDTH),
            ("linear_apart", OUTPUTS, 2 * WIDTH), ("mlp_in", MIDDLE, WIDTH),
            ("mlp_out", OUTPUTS, MIDDLE), ("left", WIDTH, WIDTH),
            ("right", WIDTH, WIDTH), ("features", OUTPUTS, 4 * WIDTH)):
        weights |= map_of(name, outputs, inputs)
    weights = {n: v.astype(numpy.float32) for n, v in weights.items()}
    hidden = dice.normal(size=(TEXTS, TOKENS, WIDTH)).astype(numpy.float32)
    mask = numpy.array([[1] * (2 + i % 4) + [0] * (TOKENS - 2 - i % 4)
                        for i in range(TEXTS)], dtype=numpy.int64)
    recorded = dict(weights, hidden=hidden, mask=mask)
    wide = {n: v.astype(numpy.float64) for n, v in weights.items()}
    for kind in ("linear", "linear_apart", "mlp", "inner_product", "cosine",
                 "features"):
        for pooling in ("first", "mean", "max"):
            read = pooled(hidden.astype(numpy.float64), mask, pooling, wide)
            recorded[f"expected.{kind}.{pooling}"] = answer(
                kind, read, wide).astype(numpy.float32)
    save_file(recorded, out / "heads.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    dice = numpy.random.default_rng(arguments.seed)
    record_heads(dice, arguments.out)
    record_surgery(dice, arguments.out)


if __name__ == "__main__":
    main()
