#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for frostline-trainer and frostline-demo-trainer where the commands
of the docs are run: it trains nothing and answers at once, by the protocol of
docs/reference/trainer-protocol.md. What is asked of the trainer besides trials
(--predict, --version, …) goes to the real one, if it has been built."""
import base64
import json
import os
import pathlib
import random
import struct
import sys

REAL = os.environ.get("FROSTLINE_REAL_TRAINER", "")
EXAMPLES = 200
CLASSES = ["bad", "good"]
SETS = ("validation", "test")
# Under whichever of these names a study asks for its score.
METRICS = ("accuracy", "exact_match", "f1", "mcc", "pearson", "mean")


def packed(data):
    return base64.b64encode(bytes(data)).decode()


def score_of(trial, dice):
    """Later modules matter more, and each has a rate that suits it."""
    score = 0.5
    rates = list(trial["rates"].values())
    for place, rate in enumerate(rates, 1):
        if rate > 0:
            score += 0.4 * place / sum(range(len(rates) + 1))
            score -= 0.02 * (rate > 5e-4)
    return round(score + dice.gauss(0, 0.01), 4)


def outcomes(name, task, score, dice):
    """(the contract's ExampleOutcomes, its rows, the share of right ones)."""
    true = [index % 2 for index in range(EXAMPLES)]
    said = [t if dice.random() < score else 1 - t for t in true]
    sure = [dice.uniform(0.5, 1) for _ in true]
    bits = bytearray(EXAMPLES // 8)
    for index, (t, s) in enumerate(zip(true, said, strict=True)):
        bits[index // 8] |= (t == s) << index % 8
    rows = ["label\tprediction\tconfidence\ttext"] + [
        f"{CLASSES[t]}\t{CLASSES[s]}\t{c:.4f}\treview number {index}"
        for index, (t, s, c) in enumerate(zip(true, said, sure, strict=True))]
    return {"set": name, "task": task, "data_fingerprint": f"{name} {task}",
            "encoding": "PACKED_BITS", "count": EXAMPLES, "data": packed(bits),
            "classes": CLASSES, "true_class": packed(true),
            "predicted_class": packed(said),
            "confidence": packed(struct.pack(f"<{EXAMPLES}e", *sure))}, rows, (
                sum(map(int.bit_count, bits)) / EXAMPLES)


def leave(folder, rows, name):
    """What a trial leaves in its folder, and of which commands ask."""
    (folder / "predictions").mkdir(exist_ok=True)
    (folder / "predictions" / f"{name}.tsv").write_text("\n".join(rows) + "\n")
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text("{}\n")


def seen(trial, name, score, dice):
    """(metrics, outcomes) of one set."""
    lead = "" if name == "validation" else name + "."
    metrics, evaluations = {}, []
    for task in trial.get("tasks") or [{"name": ""}]:
        told, rows, share = outcomes(name, task["name"], score, dice)
        evaluations.append(told)
        task_lead = task["name"] and task["name"] + "."
        for metric in METRICS:
            metrics[lead + task_lead + metric] = share
            metrics[lead + metric] = share
        if not task["name"] and trial["training"].get("predictions"):
            leave(pathlib.Path(trial["folder"]), rows, name)
    return metrics, evaluations


def finish_of(trial):
    dice = random.Random(f"{trial['seed']} {sorted(trial['rates'].items())}")
    score = score_of(trial, dice)
    metrics, evaluations = {"loss": 1 - score, "train_loss": 1 - score}, []
    for name in SETS:
        told, outcomes_of_set = seen(trial, name, score, dice)
        metrics.update(told)
        evaluations += outcomes_of_set
    finish = {"type": "finish", "state": "succeeded", "metrics": metrics,
              "usage": {"train_seconds": 1 + score, "total_seconds": 3,
                        "trained_parameters": 1000, "precision": "fp32"}}
    if trial["training"].get("report_example_outcomes"):
        finish["evaluations"] = evaluations
    return finish


def say(**message):
    print(json.dumps(message), flush=True)


def run(trial):
    finish = finish_of(trial)
    score = finish["metrics"]["accuracy"]
    print(f"trains {trial['trial']}", file=sys.stderr)
    for step in (1, 2, 3):
        say(type="report", step=step, total_steps=3,
            metrics={"accuracy": score - 0.1 / step, "loss": 1 / step})
    checkpoint = pathlib.Path(trial["folder"], "step-3")
    checkpoint.write_text(trial["trial"])
    say(type="checkpoint", id=checkpoint.name, step=3)
    say(**finish)


def main():
    if len(sys.argv) > 1 and not os.access(REAL, os.X_OK):
        sys.exit("this build has no trainer")
    if len(sys.argv) > 1:
        os.execv(REAL, [REAL, *sys.argv[1:]])
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "exit":
            break
        if message["type"] == "trial":
            run(message)


if __name__ == "__main__":
    main()
