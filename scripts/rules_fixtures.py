#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records which layers rules of the literature choose, computed by NumPy and PyTorch.

    HF_HUB_OFFLINE=1 python scripts/rules_fixtures.py --seed 41 \\
        --out tests/worker/trainer/freeze/data/rules_s41.json

"matrices" are small, of noise with a few strong directions, each with its signal-to-noise
ratio after Spectrum (Hartford et al., 2024). "model" is one of tests/parity/data whose
matrices are multiplied, column by column, by "factors", all of them eighths: the ratio of
each matrix of its layers, the place of each layer among them, and of a "batch" the relative
gradient |g| / |w| of each layer by autograd (Lee et al., 2023). Shares name the layers that
each rule then takes. All figures are of fp64.
"""

import argparse
import json
import math
import os
import pathlib

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy
import torch
import transformers

DATA = pathlib.Path(__file__).parent.parent / "tests" / "parity" / "data"
MODEL = "models/bert-seq2"
SHAPES = ((8, 8), (6, 20), (20, 6), (2, 9), (12, 30))
SHARES = (0.34, 0.67)
TEXTS, TOKENS, FIRST_WORD = 4, 10, 5
NEAR = 1e-5  # of the edge: nearer to it, fp32 might put a value on its other side


def ratio_of(matrix):
    """Singular values above the edge of noise, over the others, over the largest. The edge
    of Marchenko and Pastur: a matrix of n x m numbers of deviation d has no singular value
    above d (sqrt(n) + sqrt(m)) = d sqrt(max) (1 + sqrt(min / max)). Spectrum takes for
    d sqrt(max) the deviation of the singular values, by their quartiles."""
    values = numpy.linalg.svd(matrix, compute_uv=False)
    lower, upper = numpy.quantile(values, [0.25, 0.75])
    shape = sorted(matrix.shape)
    edge = (upper - lower) / 1.349 * (1 + math.sqrt(shape[0] / shape[1]))
    assert abs(values - edge).min() > NEAR * edge, (values, edge)
    above = values > edge
    return values[above].sum() / (values[~above].sum() or 1.0) / values.max()


def matrix_of(shape, dice):
    """Noise with one or two strong directions, in whole sixteenths."""
    rows, columns = shape
    made = dice.normal(size=shape)
    for _ in range(dice.integers(1, 3)):
        made += dice.uniform(1, 3) * numpy.outer(dice.normal(size=rows),
                                                 dice.normal(size=columns))
    return numpy.round(made * 16) / 16


def layer_and_kind(name):
    """("layer.1", "output.dense.weight"), or nothing for what is in no layer."""
    before, _, after = name.partition(".layer.")
    if not after:
        return None
    number, _, kind = after.partition(".")
    return f"layer.{number}", kind


def places_of(ratios):
    """The mean of a layer's places among the matrices of each kind, 1 for the best."""
    kinds = {}
    for name, ratio in ratios.items():
        layer, kind = layer_and_kind(name)
        kinds.setdefault(kind, []).append((-ratio, layer))
    places = {}
    for each in kinds.values():
        for place, (_, layer) in enumerate(sorted(each), 1):
            places.setdefault(layer, []).append(place)
    return {layer: sum(each) / len(each) for layer, each in sorted(places.items())}


def batch_of(dice):
    ids = dice.integers(FIRST_WORD, 140, size=(TEXTS, TOKENS))
    lengths = dice.integers(3, TOKENS + 1, size=(TEXTS, 1))
    lengths[0] = TOKENS
    mask = (numpy.arange(TOKENS) < lengths).astype(int)
    return {"input_ids": (ids * mask).tolist(), "attention_mask": mask.tolist(),
            "labels": dice.integers(0, 2, size=TEXTS).tolist()}


def relative_gradients(model, batch):
    model(**{name: torch.tensor(value) for name, value in batch.items()}).loss.backward()
    sums = {}
    for name, value in model.named_parameters():
        if layer_and_kind(name):
            squares = sums.setdefault(layer_and_kind(name)[0], [0.0, 0.0])
            squares[0] += value.grad.square().sum().item()
            squares[1] += value.detach().square().sum().item()
    return {layer: math.sqrt(g / w) for layer, (g, w) in sorted(sums.items())}


def taken(order):
    """The first of each share, rounded down, but one at least."""
    return [sorted(order[:max(1, int(share * len(order)))]) for share in SHARES]


def recorded_model(dice):
    model = transformers.BertForSequenceClassification.from_pretrained(
        DATA / MODEL, attn_implementation="eager").double().eval()
    factors, ratios = {}, {}
    for name, value in model.named_parameters():
        if layer_and_kind(name) and value.dim() == 2:
            eighths = dice.integers(2, 25, size=value.shape[1]) / 8
            factors[name] = eighths.tolist()
            with torch.no_grad():
                value.mul_(torch.from_numpy(eighths))
            ratios[name] = ratio_of(value.detach().numpy())
    places = places_of(ratios)
    batch = batch_of(dice)
    gradients = relative_gradients(model, batch)
    return {"model": MODEL, "factors": factors, "ratios": ratios, "places": places,
            "spectrum": taken(sorted(places, key=places.get)), "batch": batch,
            "gradients": gradients,
            "gradient": taken(sorted(gradients, key=gradients.get, reverse=True)),
            "shares": SHARES}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dice = numpy.random.default_rng(arguments.seed)
    matrices = [matrix_of(shape, dice) for shape in SHAPES]
    recorded = {"matrices": [{"rows": each.tolist(), "ratio": ratio_of(each)}
                             for each in matrices]} | recorded_model(dice)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
    print({name: recorded[name] for name in ("places", "spectrum", "gradients", "gradient")})


if __name__ == "__main__":
    main()
