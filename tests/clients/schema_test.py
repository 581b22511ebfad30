#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema_test.py PROGRAMS: the schema of `frostline schema study` takes every
study file that we show, and refuses what the reader refuses. Where `./dev setup`
has not fetched the validator, all is skipped, but never in CI."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from page import ROOT
from world import missing, python, python_environment

sys.path.insert(0, str(ROOT / "tests" / "style"))

from totals import run_and_count  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
SMALL = "maximize: f1\nbudget: 9\nspace: {modules: {head: [0, 1e-3]}}\n"
# What each is wrong in is added to a file that is right.
WRONG = (
    "budgett: 3", "seeds: sometimes", "seed: -1", "seed: '3'",
    "model: {id: a, layer: 6}", "model: {id: a, layers: six}",
    "objectives: [{metric: f1}]", "lease: {ttl: soon}", "freeze: soft",
    "training: {epochs: 2.5}", "priority: 3000000000", "labels: [a]",
    "enqueue: [{strategy: {half: 1}}]",
    "constraints: {loss: frozen}", "pruner: {name: asha, options: 3}",
)
# The coordinator refuses these alone.
NOT_SERVED = (
    "enqueue: [{baseline: true}]", "priority: 5000", "priority: -1001", "max_parallel: -1",
    "training: {epochs: -1}", "lease: {max_trial_faults: -1}",
    "model: {id: a, layers: 100000}", "data: {id: a, train_rows: -5}",
)
RIGHT = (
    "priority: -1000", "max_parallel: 0", "training: {epochs: 0}",
    "seeds: PAIRED", "seeds: SEED_MODE_FIXED", "lease: {ttl: 1h30m}",
    "lease: {ttl: 90}", "freeze: LR0", "model: 3", "labels: {team: 7, a: on}",
    "minimize: [loss, {train_seconds: {lo: 0}}]", "warm_start: [studies/old]",
    "enqueue: [{strategy: full}, {values: {a: no, b: [1, null]}}]",
    "notify: [mail]", "repeat: {times: 2}", "constraints: {train_seconds: 600}",
    "training: {extra: {any: {thing: [1]}}, seed: 18446744073709551615}",
)
SPACES = (
    ("{modules: {head: frozen, 'layer.*': {levels: [frozen, 2e-5]}}}", True),
    ("{modules: [{select: head, levels: {rates: [0, 1e-3]}}]}", True),
    ("{tie: {low: {modules: [head], log_uniform: [1e-7, 1e-3]}}}", True),
    ("{prefix_depth: [0, 6], parameters: {o: [adam, sgd], b: {int: [8, 64]}}}",
     True),
    ("{layerwise_decay: {base_rate: 2e-5, decay: [0.9, 1]}}", True),
    ("{modules: {head: {levels: [0], fixed: 0}}}", False),
    ("{modules: {head: hot}}", False),
    ("{modules: {head: {log_uniform: [1, 2, 3]}}}", False),
    ("{tie: {a: {levels: [0]}}, ties: []}", False),
    ("{modles: {head: [0]}}", False),
)


def schema_of(what):
    return json.loads(subprocess.run(
        [PROGRAMS / "frostline", "schema", what], check=True,
        capture_output=True, text=True).stdout)


def samples():
    """Blocks of the reference, most of them parts of a file."""
    page = (ROOT / "docs/reference/study-file.md").read_text()
    return re.findall(r"```yaml\n(.*?)```", page, re.S)


class SchemaTest(unittest.TestCase):
    """Given the schema, then the validator of another project agrees with our
    reader about files."""

    @classmethod
    def setUpClass(cls):
        # The validator is for one version of Python, this may be another.
        import judge
        cls.judge = staticmethod(judge.judge)
        cls.schema = schema_of("study")

    def mistakes(self, text, schema=None):
        return self.judge(schema or self.schema, text)

    def reader_takes(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            run = subprocess.run(
                [PROGRAMS / "frostline", "study", "create", file.name,
                 "--dry-run", "--connect", "127.0.0.1:1"],
                capture_output=True, text=True, env={"PATH": os.environ["PATH"],
                                                     "HOME": "/nonexistent"})
        self.assertIn(run.returncode, (0, 100), run.stderr)
        return run.returncode == 0

    def test_it_takes_the_study_files_of_the_repository(self):
        files = sorted((ROOT / "recipes/demo").glob("*.yaml"))
        self.assertGreater(len(files), 2)
        for file in files:
            self.assertEqual(self.mistakes(file.read_text()), [], file)

    def test_it_takes_the_samples_of_the_reference(self):
        self.assertGreater(len(samples()), 6)
        self.assertEqual(self.mistakes(samples()[0]), [])
        part = {key: value for key, value in self.schema.items()
                if key not in ("required", "anyOf", "allOf")}
        for sample in samples():
            self.assertEqual(self.mistakes(sample, part), [], sample)

    def test_it_refuses_what_the_reader_refuses(self):
        for line in WRONG:
            self.assertNotEqual(self.mistakes(SMALL + line), [], line)
            self.assertFalse(self.reader_takes(SMALL + line), line)
        for line in NOT_SERVED:
            self.assertNotEqual(self.mistakes(SMALL + line), [], line)
        for budget in (-3, 0, 2000000):
            self.assertNotEqual(
                self.mistakes(SMALL.replace("budget: 9", f"budget: {budget}")),
                [], budget)
        for gone in SMALL.splitlines():
            self.assertNotEqual(self.mistakes(SMALL.replace(gone, "")), [])

    def test_it_takes_what_the_reader_takes(self):
        for line in RIGHT:
            self.assertEqual(self.mistakes(SMALL + line), [], line)
            self.assertTrue(self.reader_takes(SMALL + line), line)

    def test_of_spaces_it_thinks_as_the_reader_does(self):
        start = "maximize: f1\nbudget: 9\nspace: "
        for space, is_right in SPACES:
            text = start + space
            self.assertEqual(self.mistakes(text) == [], is_right, space)
            self.assertEqual(self.reader_takes(text), is_right, space)

    def test_messages_have_schemas_too(self):
        trial = schema_of("trial")
        self.assertEqual(
            self.mistakes('{"name": "studies/a/trials/1", "number": "1"}',
                          trial), [])
        self.assertNotEqual(self.mistakes('{"nam": "x"}', trial), [])


def main():
    lacks, in_ci = missing("Python"), bool(os.environ.get("CI"))
    if lacks:
        print(f"{'FAILED' if in_ci else 'SKIPPED'}: {lacks}: run ./dev setup")
        print(f"0 passed, {int(in_ci)} failed, {int(not in_ci)} skipped")
        return int(in_ci)
    if sys.version_info[:2] != (3, 11):
        return subprocess.run([python(), "-B", __file__, PROGRAMS],
                              check=False).returncode
    return run_and_count()


if __name__ == "__main__":
    sys.exit(main())
