#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""records_test.py PROGRAMS: studies in MLflow, TensorBoard and Parquet, read by these."""
import subprocess
import sys
import unittest

import pandas
from world import scratch, study

from frostline import records
from totals import run_and_count

LAYERS = {"space": {"modules": {"layer.*": [0, 1e-3], "head": 1e-3}},
          "model": {"id": "m", "layers": 2, "no_pooler": True}}


def train(toy, count, steps=3):
    for _ in range(count):
        trial = toy.ask()
        for step in range(steps):
            trial.report(step, score=0.1 * step + 100 * trial.rates["layer.1"])
        toy.tell(trial, score=0.5)


class Mlflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from mlflow.tracking import MlflowClient
        place = scratch()
        cls.folder = place.__enter__()
        cls.addClassCleanup(place.__exit__, None, None, None)
        cls.uri = f"sqlite:///{cls.folder}/mlflow.db"
        cls.client = MlflowClient(cls.uri)  # one database for all: to make one takes 5 s

    def runs(self, experiment):
        found = self.client.get_experiment_by_name(experiment)
        return self.client.search_runs([found.experiment_id], max_results=1000)

    def test_a_study_is_a_run_with_its_trials_below_it(self):
        with study(budget=4, **LAYERS) as (_, toy):
            train(toy, 2)
            parent = records.to_mlflow(toy, self.uri, "one")
            held = toy.ask()
            held.report(1, score=0.25)
            self.assertEqual(parent, records.to_mlflow(toy, self.uri, "one"))
            runs = {run.data.tags.get("frostline.trial"): run for run in self.runs("one")}
            self.assertEqual({None, "0", "1", "2"}, set(runs))
            first = runs["0"]
            self.assertEqual("FINISHED", first.info.status)
            self.assertEqual(parent, first.data.tags["mlflow.parentRunId"])
            told = next(one for one in toy.results(rates=True) if one.number == 0)
            self.assertEqual({f"rate.{m}": str(r) for m, r in told.rates.items()},
                             {k: v for k, v in first.data.params.items() if k[:5] == "rate."})
            self.assertEqual(0.5, first.data.metrics["final.score"])
            curve = self.client.get_metric_history(first.info.run_id, "score")
            self.assertEqual([0, 1, 2], [point.step for point in curve])
            self.assertEqual("RUNNING", runs["2"].info.status)
            self.assertEqual(0.25, runs["2"].data.metrics["score"])
            toy.tell(held, state="infeasible", cause="loss is NaN")

    def test_it_goes_on_until_the_study_ends_and_repeats_nothing(self):
        with study(budget=3, **LAYERS) as (client, toy):
            train(toy, 1)
            command = [sys.executable, "-m", "frostline.records", "toy", "--connect",
                       client.address, "--mlflow", self.uri, "--experiment", "live"]
            writer = subprocess.Popen([*command, "--follow", "--every", "0.2"])
            train(toy, 2)
            self.assertEqual(0, writer.wait(timeout=120))
            subprocess.run(command, check=True, timeout=120)
            runs = self.runs("live")
            self.assertEqual(4, len(runs))
            for run in runs:
                self.assertEqual("FINISHED", run.info.status)
                if "frostline.trial" in run.data.tags:
                    curve = self.client.get_metric_history(run.info.run_id, "score")
                    self.assertEqual([0, 1, 2], [point.step for point in curve])

    def test_a_failed_trial_says_why(self):
        with study(budget=1, **LAYERS) as (_, toy):
            for _ in range(3):
                toy.tell(toy.ask(), state="failed", cause="no data")
            records.to_mlflow(toy, self.uri, "failed")
            run = next(one for one in self.runs("failed") if "frostline.trial" in one.data.tags)
            self.assertEqual(("FAILED", "no data (3 of 3 attempts)"),
                             (run.info.status, run.data.tags["frostline.cause"]))


class Files(unittest.TestCase):
    def test_tensorboard_reads_curves_and_hyperparameters(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        with scratch() as folder, study(budget=3, **LAYERS) as (_, toy):
            train(toy, 2)
            self.assertEqual(2, records.to_tensorboard(toy, str(folder)))
            self.assertEqual(0, records.to_tensorboard(toy, str(folder)))
            read = EventAccumulator(str(folder / "trial-1"))
            read.Reload()
            self.assertEqual([0, 1, 2], [one.step for one in read.Scalars("score")])
            self.assertEqual([0.5], [one.value for one in read.Scalars("final/score")])
            plugin = read.PluginTagToContent("hparams")
            self.assertIn(b"rate.layer.1", plugin["_hparams_/session_start_info"])

    def test_parquet_and_csv_have_every_trial(self):
        with scratch() as folder, study(budget=3, **LAYERS) as (_, toy):
            train(toy, 2)
            table = toy.to_pandas(rates=True)
            table.to_parquet(folder / "toy.parquet")
            table.to_csv(folder / "toy.csv", index=False)
            for read in (pandas.read_parquet(folder / "toy.parquet"),
                         pandas.read_csv(folder / "toy.csv")):
                self.assertEqual([0, 1], list(read["number"])[:2])
                self.assertEqual(list(table["rates_layer.1"])[:2],
                                 list(read["rates_layer.1"])[:2])


class BadInput(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        for words, cause in (((), "name --mlflow, --tensorboard or --wandb"),
                             (("--tensorboard", "x"), "FL-4003")):
            run = subprocess.run([sys.executable, "-m", "frostline.records", "toy",
                                  "--connect", "127.0.0.1:9", *words],
                                 capture_output=True, text=True, timeout=60)
            self.assertIn(cause, run.stderr)
            self.assertNotEqual(0, run.returncode)

    def test_nothing_is_imported_before_it_is_used(self):
        code = ("import frostline.records, sys; "
                "print({'mlflow', 'torch', 'tensorboard', 'grpc'} & set(sys.modules))")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual("set()\n", run.stdout)


if __name__ == "__main__":
    sys.exit(run_and_count())
