#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_tests.py RESULTS CTEST_STATUS

Counts what ran: the cases of every GoogleTest program, the totals that another
runner printed at its end, else one for each ctest entry. Prints the time
that each label took beside its budget (where RESULTS/tests.json, written by
`ctest --show-only=json-v1`, says which test is of which label), what failed,
and then "N passed, N failed, N skipped"; exit 1 when something failed. A label
over its budget is said, not failed.

RESULTS/again holds a second run of what failed. A test that passes there, alone,
is named as unsteady and counts as passed, unless the first run showed what no
other process can cause: a crash, a hang, or a finding of a sanitizer.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

FINDING = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|"
                     r"runtime error: ")
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
# What Node's test runner says last.
OF_NODE = re.compile(r"^# pass (\d+)\n# fail (\d+)\n# cancelled 0\n# skipped (\d+)\n",
                     re.MULTILINE)


def gtest_counts(report):
    """(passed, failed, skipped) of one GoogleTest XML report."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None:
            failed += 1
        elif case.get("result") in ("skipped", "suppressed") or \
                case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def printed_counts(entry):
    """The totals that a runner of ours, or Node's, printed last, or None."""
    output = entry.findtext("system-out") or ""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    match = TOTALS.match(lines[-1]) if lines else None
    if not match:
        match = OF_NODE.search("\n".join(lines[-8:]))
    return tuple(int(n) for n in match.groups()) if match else None


def own_counts(entry, results):
    """What a test says of itself, or None; a crash leaves half a report or
    none."""
    report = results / f"{entry.get('name')}_test.xml"
    if not report.exists():
        return printed_counts(entry)
    try:
        return gtest_counts(report)
    except ElementTree.ParseError:
        return (0, 0, 0)


def entry_counts(entry, results):
    """What one ctest entry counts; a crash counts even after green cases."""
    status = entry.get("status")
    if status in ("notrun", "disabled"):
        # A program that is missing is "notrun" too, and that is a failure.
        skipped = entry.find("skipped")
        reason = skipped.get("message", "") if skipped is not None else ""
        missing = "SKIP" not in reason.upper() and status == "notrun"
        return (0, 1, 0) if missing else (0, 0, 1)
    counts = own_counts(entry, results)
    if counts is None:
        counts = (0, 1, 0) if status == "fail" else (1, 0, 0)
    if status == "fail" and counts[1] == 0:
        counts = (counts[0], 1, counts[2])
    return counts


def budgets(kind):
    """{name: seconds} of the lines "KIND NAME SECONDS" of budgets.txt."""
    lines = (pathlib.Path(__file__).parent / "budgets.txt").read_text()
    rows = [line.split() for line in lines.splitlines()]
    return {row[1]: int(row[2]) for row in rows if row and row[0] == kind}


def label_of(test):
    """The kind of a test in ctest's JSON; "at:" labels say where it lies."""
    for entry in test.get("properties", []):
        if entry["name"] == "LABELS":
            return next((label for label in entry["value"]
                         if not label.startswith("at:")), None)
    return None


def label_times(entries, tests):
    """{label: (tests, seconds)} of what ran."""
    labels = {test["name"]: label_of(test) for test in tests}
    times = {}
    for entry in entries:
        label = labels.get(entry.get("name"))
        if label and entry.get("status") != "notrun":
            count, seconds = times.get(label, (0, 0.0))
            times[label] = (count + 1, seconds + float(entry.get("time", 0)))
    return times


def print_label_times(entries, listing):
    tests = json.loads(listing.read_text()).get("tests", [])
    limits = budgets("label")
    for label, (count, seconds) in sorted(label_times(entries, tests).items()):
        limit = limits.get(label)
        over = "  OVER ITS BUDGET" if limit and seconds > limit else ""
        print(f"label {label:9} {count:4} programs {seconds:6.0f} s of "
              f"{limit if limit else 'any':>4}{over}")


def read_entries(results):
    report = results / "ctest.xml"
    return list(ElementTree.parse(report).getroot().iter("testcase")) \
        if report.exists() else []


def may_be_disturbed(entry, results):
    """Whether another process may have made this test fail: it came to its end
    and says itself what it had expected."""
    counts = own_counts(entry, results)
    return counts is not None and counts[1] > 0 and \
        not FINDING.search(entry.findtext("system-out") or "")


def steady_counts(entry, results, again):
    """(counts, whether it passed in the second run alone)."""
    counts = entry_counts(entry, results)
    second = again.get(entry.get("name"))
    if counts[1] == 0 or second is None or \
            not may_be_disturbed(entry, results):
        return counts, False
    counts_alone = entry_counts(second, results / "again")
    if counts_alone[1] or not counts_alone[0]:
        return counts, False
    return counts_alone, True


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    results, ctest_status = pathlib.Path(arguments[0]), int(arguments[1])
    totals, failed_names, unsteady_names = [0, 0, 0], [], []
    entries = read_entries(results)
    again = {entry.get("name"): entry
             for entry in read_entries(results / "again")}
    for entry in entries:
        counts, unsteady = steady_counts(entry, results, again)
        totals = [a + b for a, b in zip(totals, counts)]
        if counts[1]:
            failed_names.append(entry.get("name"))
        if unsteady:
            unsteady_names.append(entry.get("name"))
    if ctest_status != 0 and not failed_names and not unsteady_names:
        print(f"ctest itself ended with {ctest_status}")
        totals[1] += 1
    if (results / "tests.json").exists():
        print_label_times(entries, results / "tests.json")
    for name in unsteady_names:
        print(f"unsteady: {name} failed, and passed when run again alone")
    for name in failed_names:
        print(f"failed: {name}")
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
