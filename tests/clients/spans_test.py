#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spans_test.py PROGRAMS: a study's trials as spans, at a collector that is made
of OpenTelemetry's own types. Where `./dev setup` has not fetched those, all is
skipped, but never in CI."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from page import ROOT
from world import missing, python_environment

sys.path.insert(0, str(ROOT / "tests" / "style"))

from totals import run_and_count  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = pathlib.Path(__file__).resolve().parent
TRIALS = 4
PATIENCE_S = 60
NAMES = {"trial", "queued", "attempt", "prepare", "train", "deliver"}


class SpansTest(unittest.TestCase):
    """Given both sides with --otlp, when a study has run, then each trial is a
    tree of six spans."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.folder = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory()))
        cls.stack = stack
        environment = dict(os.environ, **python_environment(cls.folder))
        got = cls.folder / "spans.jsonl"
        collector = cls.start("python3", "-B", HERE / "collector.py", got,
                              stdout=subprocess.PIPE, env=environment)
        otlp = ("--otlp", "http://" + collector.stdout.readline().strip())
        coordinator = cls.start(
            PROGRAMS / "frostline-coordinator", "--ephemeral", "--listen",
            "127.0.0.1:0", *otlp, stdout=subprocess.PIPE)
        connect = ("--connect", coordinator.stdout.readline().split()[-1])
        subprocess.run(
            [PROGRAMS / "frostline", "study", "create", *connect, "--trials",
             str(TRIALS), ROOT / "recipes" / "demo" / "study.yaml"],
            check=True, stdout=subprocess.DEVNULL)
        with open(cls.folder / "worker.log", "wb") as log:
            worker = cls.start(
                PROGRAMS / "frostline-worker", *connect, *otlp, "--study",
                "demo", "--exit-when-done", "--log-format", "json", "--exec",
                PROGRAMS / "frostline-demo-trainer", stderr=log)
            worker.wait(PATIENCE_S)
        cls.spans = cls.received(got, 6 * TRIALS)

    @classmethod
    def start(cls, *command, **options):
        process = subprocess.Popen(command, cwd=cls.folder, text=True,
                                   **options)

        def end():
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
            if process.stdout:
                process.stdout.close()
        cls.stack.callback(end)
        return process

    @staticmethod
    def received(got, wanted):
        end = time.monotonic() + PATIENCE_S
        lines = []
        while len(lines) < wanted and time.monotonic() < end:
            time.sleep(0.1)
            lines = got.read_text().splitlines()
        return [json.loads(line) for line in lines]

    def traces(self):
        """By trace and name."""
        found = {}
        for span in self.spans:
            found.setdefault(span["trace"], {})[span["name"]] = span
        return found

    def test_each_trial_is_a_trace_of_all_its_spans(self):
        self.assertEqual(len(self.spans), len(NAMES) * TRIALS)
        self.assertEqual(len(self.traces()), TRIALS)
        for spans in self.traces().values():
            self.assertEqual(set(spans), NAMES)

    def test_spans_are_a_tree(self):
        for spans in self.traces().values():
            trial, attempt = spans["trial"], spans["attempt"]
            self.assertEqual(trial["parent"], "")
            for name in ("queued", "attempt"):
                self.assertEqual(spans[name]["parent"], trial["id"])
            for name in ("prepare", "train", "deliver"):
                self.assertEqual(spans[name]["parent"], attempt["id"])
                self.assertEqual(spans[name]["from"], "frostline-worker")

    def test_one_comes_after_the_other(self):
        for spans in self.traces().values():
            order = [spans["trial"]["begin"], spans["queued"]["end"],
                     spans["prepare"]["begin"], spans["train"]["begin"],
                     spans["attempt"]["end"], spans["deliver"]["end"]]
            self.assertEqual(order, sorted(order))
            self.assertEqual(spans["queued"]["end"], spans["attempt"]["begin"])
            self.assertLessEqual(spans["prepare"]["end"],
                                 spans["train"]["begin"])
            self.assertLessEqual(spans["train"]["end"],
                                 spans["deliver"]["begin"])

    def test_they_say_whose_they_are_and_how_it_went(self):
        trials = sorted(spans["trial"]["attributes"]["frostline.trial"]
                        for spans in self.traces().values())
        self.assertEqual(trials, [f"studies/demo/trials/{number}"
                                  for number in range(TRIALS)])
        for spans in self.traces().values():
            self.assertEqual(
                spans["trial"]["attributes"]["frostline.trial.state"],
                "SUCCEEDED")
            self.assertEqual({span["code"] for span in spans.values()}, {0})

    def test_the_log_names_the_same_traces(self):
        lines = [json.loads(line) for line in
                 (self.folder / "worker.log").read_text().splitlines()]
        started = {line["trace_id"] for line in lines
                   if line["event"] == "trial_started"}
        self.assertEqual(started, set(self.traces()))


def main():
    lacks, in_ci = missing("Python"), bool(os.environ.get("CI"))
    if not lacks:
        return run_and_count()
    print(f"{'FAILED' if in_ci else 'SKIPPED'}: {lacks}: run ./dev setup")
    print(f"0 passed, {int(in_ci)} failed, {int(not in_ci)} skipped")
    return int(in_ci)


if __name__ == "__main__":
    sys.exit(main())
