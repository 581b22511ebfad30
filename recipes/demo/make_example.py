#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_example.py: writes example.jsonl, the trials of the demo's finished study.

They are real: 200 of the 1,200 runs that tests/bench/tables/data has of
`reviews-levels` (docs/measured/tables.md says how they were recorded), all with
training seed 1, in the order of a hash, so that they lie all over the space as a
random search's do. A line is an ImportedTrial of the API, as JSON.
"""
import csv
import hashlib
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "tests/bench/tables/data/reviews-levels.table"
OUT = HERE / "example.jsonl"
TRIALS = 200
SEED = "1"
METRICS = ("accuracy", "f1", "mcc", "loss", "train_loss")


def trial(row):
    """A row of the table as an ImportedTrial."""
    rates = [name for name in row
             if name == "embeddings" or name.startswith("layer.")]
    return {
        "state": "TRIAL_STATE_SUCCEEDED",
        "parameters": {name: float(row[name]) for name in rates},
        "metrics": {name: float(row[name]) for name in METRICS},
        "usage": {"trainSeconds": float(row["train_seconds"]),
                  "trainedParameters": row["trained_parameters"],
                  "steps": row["steps"]},
        "seed": row["seed"],
    }


def lines():
    """What example.jsonl is."""
    table = [line for line in TABLE.read_text().splitlines()
             if not line.startswith("#")]
    rows = [row for row in csv.DictReader(table)
            if row["seed"] == SEED and row["state"] == "succeeded"]
    rows.sort(key=lambda row: hashlib.sha256(
        ",".join(row.values()).encode()).hexdigest())
    return [json.dumps(trial(row)) for row in rows[:TRIALS]]


if __name__ == "__main__":
    OUT.write_text("\n".join(lines()) + "\n")
