#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wandb_test.py PROGRAMS: offline runs of W&B, read by its own reader."""
import json
import os
import sys
import time
import unittest

from wandb.proto import wandb_internal_pb2
from wandb.sdk.internal.datastore import DataStore
from world import scratch, study

from frostline import records
from totals import run_and_count

os.environ["WANDB_ERROR_REPORTING"] = "false"
LAYERS = {"space": {"modules": {"layer.*": [0, 1e-3], "head": 1e-3}},
          "model": {"id": "m", "layers": 2, "no_pooler": True}}


def read(folder, id):
    """What a run has, once its end is in the file: W&B's own service writes it, and on
    a busy machine a moment after the run has been finished."""
    path, = folder.glob(f"wandb/offline-run-*-{id}/*.wandb")
    until = time.monotonic() + 60
    while (found := scan(path))[-1] is None and time.monotonic() < until:
        time.sleep(0.1)
    return found


def scan(path):
    """A run's group, configuration, history and summary, and how it ended."""
    store, config, history, summary = DataStore(), {}, [], {}
    group = code = None
    store.open_for_scan(str(path))
    while (piece := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record.FromString(bytes(piece))
        if record.HasField("run"):
            group = record.run.run_group
            config.update({one.key: json.loads(one.value_json) for one in record.run.config.update})
        elif record.HasField("history"):
            history.append({(one.key or one.nested_key[0]): json.loads(one.value_json)
                            for one in record.history.item})
        elif record.HasField("summary"):
            summary.update({(one.key or one.nested_key[0]): json.loads(one.value_json)
                            for one in record.summary.update})
        elif record.HasField("exit"):
            code = record.exit.exit_code
    store._fp.close()
    return group, config, history, summary, code


class Wandb(unittest.TestCase):
    def test_each_ended_trial_is_an_offline_run_once(self):
        with scratch() as folder, study(budget=3, **LAYERS) as (_, toy):
            trial = toy.ask()
            for step in (1, 5):
                trial.report(step, score=step / 10)
            toy.tell(trial, score=0.75)
            toy.tell(toy.ask(), state="infeasible", cause="the loss became NaN")
            running = toy.ask()
            self.assertEqual(2, records.to_wandb(toy, str(folder)))
            group, config, history, summary, code = read(folder, "toy-0")
            self.assertEqual(("toy", 0), (group, code))
            self.assertEqual(trial.rates, {k[5:]: v for k, v in config.items() if k[:5] == "rate."})
            self.assertEqual([(1, 0.1), (5, 0.5)],
                             [(one["_step"], one["score"]) for one in history])
            self.assertEqual((0.75, "SUCCEEDED"), (summary["final/score"], summary["state"]))
            _, _, _, summary, code = read(folder, "toy-1")
            self.assertEqual(("the loss became NaN", 1), (summary["cause"], code))
            toy.tell(running, score=0.5)
            self.assertEqual(1, records.to_wandb(toy, str(folder)))
            self.assertEqual(0, records.to_wandb(toy, str(folder)))


if __name__ == "__main__":
    sys.exit(run_and_count())
