#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""show_test.py PROGRAMS: data frames and tables of a study, importance and plan."""
import csv
import html.parser
import subprocess
import sys
import time
import unittest

from world import PROGRAMS, coordinator, study

import frostline
from frostline._wire import request_id
from totals import run_and_count

SPACE = {"modules": {"layer.*": [0, 1e-5, 1e-4], "head": 1e-2}}


class Tags(html.parser.HTMLParser):
    """Counts what is open and keeps what is said."""

    def __init__(self, text):
        super().__init__()
        self.open, self.said = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said.append(data)


def imported(client, count, id="toy"):
    """A study of so many trials that were trained elsewhere: layer.1 matters."""
    toy = client.create_study(id, model={"id": "m", "layers": 3, "no_pooler": True},
                              maximize="accuracy", budget=10, space=SPACE)
    rates = [0, 1e-5, 1e-4]
    trials = []
    for i in range(count):
        point = {f"layer.{k}": rates[i // 3 ** k % 3] for k in range(3)}
        score = 0.5 + 0.2 * rates.index(point["layer.1"]) + 0.001 * (i % 7)
        trials.append({"state": "TRIAL_STATE_SUCCEEDED", "parameters": point,
                       "metrics": {"accuracy": score, "loss": 1 - score}})
    for start in range(0, count, 1000):
        client.call("StudyService", "ImportTrials", request_id=request_id(),
                    name=toy.name, trials=trials[start:start + 1000])
    return toy


class Frames(unittest.TestCase):
    def test_ten_thousand_trials_take_less_than_a_second(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            toy = imported(client, 10_000)
            before = time.monotonic()
            frame = toy.to_pandas()
            took = time.monotonic() - before
        print(f"10,000 trials to pandas: {took:.2f} s", file=sys.stderr)
        self.assertEqual((10_000, ["number", "state", "value", "params_layer.0",
                                   "params_layer.1", "params_layer.2", "metrics_accuracy",
                                   "metrics_loss"]),
                         (len(frame), [*frame.columns[:6], *sorted(frame.columns[6:])]))
        self.assertAlmostEqual(0.9, frame.groupby("params_layer.1")["value"].mean()[1e-4], 2)
        self.assertLess(took, 2)

    def test_no_trial_has_the_same_columns(self):
        with study() as (_, toy):
            self.assertEqual(["number", "state", "value"], list(toy.to_pandas().columns))

    def test_rates_where_asked_for(self):
        with study(space=SPACE, model={"id": "m", "layers": 1, "no_pooler": True}) as (_, toy):
            toy.tell(toy.ask(), score=1)
            frame = toy.to_pandas(rates=True)
            self.assertEqual(0.01, frame["rates_head"][0])


class Tables(unittest.TestCase):
    def test_importance_and_plan_say_what_matters(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            toy = imported(client, 60)
            importance, plan = toy.importance(), toy.plan()
            self.assertEqual("layer.1", importance.rows[0][0])
            self.assertEqual("layer.1", importance.to_pandas()["parameter"][0])
            self.assertEqual(1e-4, plan.rates["layer.1"])
            for one in (toy, importance, plan):
                tags = Tags(one._repr_html_())
                self.assertEqual([], tags.open)
                self.assertIn("layer.1", " ".join(tags.said))

    def test_a_long_list_asks_for_the_scores_of_the_first_hundred(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            for k in range(103):
                imported(client, 1, id=f"s{k}")
            told = subprocess.run(
                [PROGRAMS / "frostline", "--connect", address, "study", "list", "--format", "csv",
                 "--columns", "ID,BEST"], capture_output=True, text=True, timeout=60)
            rows = list(csv.reader(told.stdout.splitlines()))[1:]
            self.assertEqual((103, 100), (len(rows), sum(1 for row in rows if row[1])), told)

    def test_too_few_trials_are_said(self):
        with study() as (_, toy):
            with self.assertRaises(frostline.errors.FailedPrecondition) as caught:
                toy.importance()
            self.assertEqual("FL-6001", caught.exception.id)

    def test_names_cannot_write_html(self):
        with study(space={"parameters": {"a<b>": {"float": [0, 1]}}}) as (_, toy):
            toy.tell(toy.ask(), score=1)
            self.assertIn("a&lt;b&gt;", toy._repr_html_())


if __name__ == "__main__":
    sys.exit(run_and_count())
