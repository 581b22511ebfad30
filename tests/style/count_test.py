#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/count_tests.py must count what ran, and never call a crash a pass."""
import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

from totals import run_and_count

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import count_tests  # noqa: E402

GTEST = """<testsuites><testsuite>
<testcase name="a" status="run" result="completed"/>
<testcase name="b" status="run" result="completed"><failure message="x"/></testcase>
<testcase name="c" status="run" result="skipped"><skipped/></testcase>
</testsuite></testsuites>"""
GREEN = '<testsuites><testcase name="a" status="run" result="completed"/></testsuites>'


def ctest(*entries):
    return "<testsuite>" + "".join(entries) + "</testsuite>"


def entry(name, status, inner=""):
    return f'<testcase name="{name}" status="{status}">{inner}</testcase>'


class Count(unittest.TestCase):
    def run_count(self, report, gtest=None, ctest_status=0, again=None,
                  gtest_again=None):
        with tempfile.TemporaryDirectory() as folder:
            if report is not None:
                pathlib.Path(folder, "ctest.xml").write_text(report)
            if again is not None:
                pathlib.Path(folder, "again").mkdir()
                pathlib.Path(folder, "again", "ctest.xml").write_text(again)
            for name, text in (gtest or {}).items():
                pathlib.Path(folder, f"{name}_test.xml").write_text(text)
            for name, text in (gtest_again or {}).items():
                pathlib.Path(folder, "again", f"{name}_test.xml").write_text(text)
            run = subprocess.run(
                [sys.executable, ROOT / "scripts/count_tests.py", folder,
                 str(ctest_status)], capture_output=True, text=True)
            return run.stdout.splitlines()[-1], run.returncode

    def test_cases_of_a_program_count_one_by_one(self):
        self.assertEqual(
            self.run_count(ctest(entry("base", "fail")), {"base": GTEST}, 8),
            ("1 passed, 1 failed, 1 skipped", 1))

    def test_a_crash_after_green_cases_is_a_failure(self):
        self.assertEqual(
            self.run_count(ctest(entry("base", "fail"), entry("study", "fail")),
                           {"base": GREEN, "study": GREEN}, 8),
            ("2 passed, 2 failed, 0 skipped", 1))

    def test_a_crash_before_any_report_is_a_failure(self):
        self.assertEqual(self.run_count(ctest(entry("base", "fail")), {}, 8),
                         ("0 passed, 1 failed, 0 skipped", 1))

    def test_totals_that_a_runner_printed_count(self):
        out = "<system-out>PASS x\n3 passed, 0 failed, 2 skipped\n</system-out>"
        self.assertEqual(self.run_count(ctest(entry("parity", "run", out))),
                         ("3 passed, 0 failed, 2 skipped", 0))

    def test_totals_of_nodes_runner_count_and_it_may_be_unsteady(self):
        def out(good, bad):
            return ("<system-out>not ok 1 - a\n1..3\n# tests 3\n# suites 0\n"
                    f"# pass {good}\n# fail {bad}\n# cancelled 0\n# skipped 0\n# todo 0\n"
                    "# duration_ms 5.5\n</system-out>")
        first = ctest(entry("page", "fail", out(2, 1)))
        self.assertEqual(self.run_count(first, {}, 8),
                         ("2 passed, 1 failed, 0 skipped", 1))
        again = ElementTree.fromstring(entry("page", "run", out(3, 0)))
        self.assertEqual(((3, 0, 0), True), count_tests.steady_counts(
            ElementTree.fromstring(entry("page", "fail", out(2, 1))),
            pathlib.Path("none"), {"page": again}))

    def test_any_other_program_counts_one(self):
        self.assertEqual(self.run_count(ctest(entry("tool", "run"))),
                         ("1 passed, 0 failed, 0 skipped", 0))

    def test_a_program_that_is_missing_is_a_failure(self):
        inner = '<skipped message="Unable to find executable"/>'
        self.assertEqual(
            self.run_count(ctest(entry("base", "notrun", inner)), {}, 8),
            ("0 passed, 1 failed, 0 skipped", 1))

    def test_each_label_says_its_time_and_whether_that_is_too_much(self):
        def listed(name, label):
            return {"name": name, "properties": [
                {"name": "LABELS", "value": [label, "at:tests/x"]}]}
        entries = [ElementTree.fromstring(
            f'<testcase name="{name}" status="run" time="{time}"/>')
            for name, time in (("a", 1.5), ("b", 2), ("c", 900))]
        tests = [listed("a", "unit"), listed("b", "unit"), listed("c", "docs")]
        self.assertEqual(count_tests.label_times(entries, tests),
                         {"unit": (2, 3.5), "docs": (1, 900.0)})
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.redirect_stdout(said):
            listing = pathlib.Path(folder, "tests.json")
            listing.write_text(json.dumps({"tests": tests}))
            count_tests.print_label_times(entries, listing)
        docs, unit = said.getvalue().splitlines()
        self.assertIn("OVER", docs)
        self.assertNotIn("OVER", unit)

    def test_every_label_of_the_build_has_a_budget(self):
        text = (ROOT / "cmake/Library.cmake").read_text()
        labels = re.search(r"set\(FROSTLINE_LABELS ([^)]*)\)", text).group(1)
        self.assertEqual(set(labels.split()),
                         set(count_tests.budgets("label")))

    def test_every_phase_of_ci_has_a_budget(self):
        phases = re.findall(r"^\s*phase(?:_in_time)? (\w+)",
                            (ROOT / ".ci/run").read_text(), re.MULTILINE)
        self.assertEqual({*phases, "all"}, set(count_tests.budgets("phase")))

    def test_what_passes_alone_is_unsteady_and_has_passed(self):
        first = ctest(entry("base", "fail"), entry("study", "run"))
        self.assertEqual(
            self.run_count(first, {"base": GTEST}, 8,
                           ctest(entry("base", "run")), {"base": GREEN}),
            ("2 passed, 0 failed, 0 skipped", 0))

    def test_what_fails_twice_has_failed(self):
        first = ctest(entry("base", "fail"))
        self.assertEqual(
            self.run_count(first, {"base": GTEST}, 8, first, {"base": GTEST}),
            ("1 passed, 1 failed, 1 skipped", 1))

    def test_a_second_run_forgives_neither_a_crash_nor_a_race(self):
        race = "<system-out>WARNING: ThreadSanitizer: data race</system-out>"
        for output, report in (("", {}), ("", {"base": GREEN}),
                               (race, {"base": GTEST})):
            self.assertEqual(
                self.run_count(ctest(entry("base", "fail", output)), report, 8,
                               ctest(entry("base", "run")),
                               {"base": GREEN})[1], 1)

    def test_ctest_that_never_ran_is_a_failure(self):
        self.assertEqual(self.run_count(None, {}, 1),
                         ("0 passed, 1 failed, 0 skipped", 1))


if __name__ == "__main__":
    sys.exit(run_and_count())
