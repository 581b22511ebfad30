#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/reliability.md is what scripts/record.py writes of its rows and
results, and each test that a row names is there."""
import dataclasses
import pathlib
import sys
import unittest
import unittest.mock

from totals import run_and_count

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import record  # noqa: E402
from record_rows import ROWS, Row, Run  # noqa: E402

KILLED = """[ RUN      ] KillTest.A
record: kills=12 most_mib=3 violations=0
[       OK ] KillTest.A (5 ms)
record: kills=30 most_mib=2 violations=0
[  PASSED  ] 2 tests.
"""


def tried(output, status, only="", size="", minutes=0.0):
    """What a row with one run comes to that prints this and ends so; the sizes
    that it was given."""
    row = Row(1, "a fault", "a promise", (Run("t", only, size, 10),), {"kills": 50})
    options = unittest.mock.Mock(minutes=minutes, quick=not minutes)
    with unittest.mock.patch.object(record, "ran", return_value=(output, status)) as runs, \
            unittest.mock.patch("sys.stderr"):
        got = record.try_row(row, options, {"t": (["t"], {}, str(ROOT))})
    return row, got, [call.args[1].get(size) for call in runs.call_args_list]


class Page(unittest.TestCase):
    def test_it_is_what_rows_and_results_give_and_every_test_is_there(self):
        self.assertEqual(list(record.faults()), [])

    def test_a_page_that_was_written_by_hand_is_found(self):
        with unittest.mock.patch.object(record, "page", return_value="other"):
            self.assertIn("is not what", next(record.faults()))

    def test_a_test_that_is_not_there_is_found(self):
        for run in (Run("fault_kyll"), Run("fault_kill", "KyllTest.*"),
                    Run("fault_kill", "KillTest.NothingAtAll"),
                    Run("fault_kill", "", "FROSTLINE_NO_SUCH", 1)):
            rows = (dataclasses.replace(ROWS[0], runs=(run,)), *ROWS[1:])
            with unittest.mock.patch.object(record, "ROWS", rows):
                found = [one for one in record.faults() if "is no test" in one]
            self.assertEqual(len(found), 1, run)


class Figures(unittest.TestCase):
    def test_lines_are_added_up_and_the_most_is_kept(self):
        row, got, _ = tried(KILLED, 0)
        self.assertEqual(got["result"], "passed")
        self.assertEqual(record.figure(got), "42 kills, most mib 3, 0 violations")
        self.assertEqual(record.goal(row, got), "50 kills: not yet")

    def test_without_a_line_tests_are_counted(self):
        for output in ("[  PASSED  ] 3 tests.\n", "ok\n3 passed, 0 failed, 0 skipped\n",
                       "# pass 3\n# fail 0\n# cancelled 0\n# skipped 0\n"):
            self.assertEqual(record.figure(tried(output, 0)[1]), "3 tests passed")

    def test_a_violation_a_status_and_a_hang_are_failures(self):
        for output, status in ((KILLED.replace("violations=0", "violations=1"), 0),
                               (KILLED, 1), (KILLED, None)):
            row, got, _ = tried(output, status)
            self.assertEqual(got["result"], "failed")
            self.assertIn("**failed**", record.line(row, {**got, "date": "", "commit": ""}))

    def test_what_was_skipped_has_not_held(self):
        got = tried("a_test.cc:3: Skipped\nno right to mount\n\n[  PASSED  ] 0 tests.\n"
                    "[  SKIPPED ] 1 test, listed below:\n", 0)[1]
        self.assertEqual(record.figure(got), "not run: no right to mount")

    def test_a_test_is_made_as_large_as_there_is_time_for(self):
        with unittest.mock.patch.object(record.time, "monotonic", side_effect=[0, 1, 1, 60]):
            sizes = tried(KILLED, 0, size="FROSTLINE_FAULT_COUNT", minutes=1)[2]
        self.assertEqual(sizes, [None, "472"])  # ten a second, in 0.8 of 59 s

    def test_a_shorter_run_of_the_same_code_replaces_nothing(self):
        kept = {"result": "passed", "seconds": 60, "commit": "a"}
        with unittest.mock.patch.object(record, "is_of", return_value=True):
            self.assertFalse(record.replaces({**kept, "seconds": 5}, kept))
            self.assertTrue(record.replaces({**kept, "seconds": 5, "result": "failed"}, kept))


if __name__ == "__main__":
    sys.exit(run_and_count())
