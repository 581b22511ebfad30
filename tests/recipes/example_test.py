#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo's finished study is what its script makes of the recorded table."""
import json
import pathlib
import sys
import unittest

DEMO = pathlib.Path(__file__).resolve().parents[2] / "recipes/demo"
sys.path.insert(0, str(DEMO))
import make_example  # noqa: E402


class Example(unittest.TestCase):
    def setUp(self):
        self.lines = (DEMO / "example.jsonl").read_text().splitlines()

    def test_it_is_what_the_script_writes(self):
        self.assertEqual(make_example.lines(), self.lines)

    def test_it_is_large_enough_for_every_screen_and_small_enough_to_carry(self):
        self.assertEqual(200, len(self.lines))
        self.assertLess(sum(map(len, self.lines)), 150_000)

    def test_its_rates_are_levels_of_its_study(self):
        study = (DEMO / "example.yaml").read_text()
        self.assertIn("[0, 2e-5, 1e-4, 3e-4, 1e-3]", study)
        levels = {0, 2e-5, 1e-4, 3e-4, 1e-3}
        for line in self.lines:
            rates = json.loads(line)["parameters"]
            self.assertEqual(7, len(rates))
            self.assertLessEqual(set(rates.values()), levels)


if __name__ == "__main__":
    unittest.main()
