#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record.py [ROW...] [--minutes N] [--quick] [--page] [--check]

Runs what breaks things, and writes docs/reference/reliability.md of what it came to.

  ROW...        only these, also where this commit has them already (default: each
                row that this commit lacks, so that a stopped record goes on)
  --minutes N   how long a row may take (default 1); a test that can be made larger
                is run as it is first, and then as large as there is time for
  --quick       each test as it is, once
  --page        runs nothing, writes the page
  --check       runs nothing; 1 where the page is not what rows and results give, or
                a row names a test that is not there

The rows are in scripts/record_rows.py, results in docs/measured/record.json. A later
run takes the place of an earlier one, unless it is a shorter one of the same code.
Ends with 1 when a promise did not hold.
"""
import argparse
import datetime
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from record_rows import REPEAT, ROWS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "measured" / "record.json"
PAGE = ROOT / "docs" / "reference" / "reliability.md"
OWN = [str(path.relative_to(ROOT)) for path in (RESULTS, PAGE)]
LINE = re.compile(r"\brecord: (\w+=\d+(?: \w+=\d+)*)")
GTEST = re.compile(r"^\[  (PASSED|SKIPPED|FAILED) +\] (\d+) tests?[.,]", re.MULTILINE)
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
NODE = re.compile(r"^\W* ?(pass|fail|skipped) (\d+)$", re.MULTILINE)
WHY_SKIPPED = re.compile(r"(?:Skipped\n|# skip \(?|skipped '|SKIPPED:? )(.{3,100}?)\)?'?$",
                         re.MULTILINE)
PATIENCE = 600  # seconds that a test may take as it is
MARGIN = 0.8  # of the time left that a larger run is meant to take

OPENING = """<!-- Written by ./dev record from scripts/record_rows.py and docs/measured/record.json. -->
# What was tried to break it

Each row is a fault, what Frostline promises in spite of it, the test that tries it, and what the newest run of that test has counted.
The tests count by themselves. A *violation* is a promise that did not hold: a lost row, a result that counted twice, a wrong answer, a crash.

`./dev record` runs all rows, `./dev record 3 --minutes 10` row 3 for ten minutes. A goal is what a run is to reach in the end; *not yet* says
that the newest one was smaller. Behind *no test yet* stands what nothing tries.
"""


def asked(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", metavar="ROW", nargs="*", type=int)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    unknown = set(options.rows) - {row.id for row in ROWS}
    if unknown:
        parser.error(f"there is no row {min(unknown)}")
    return options


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


def commit():
    """The commit that is tried, with a "+" where files differ from it."""
    others = [":!" + path for path in OWN]
    changed = git("status", "--porcelain", "--", ".", *others).stdout.strip()
    return git("rev-parse", "--short=10", "HEAD").stdout.strip() + ("+" if changed else "")


def is_of(kept, now):
    """Whether a result is of the code that there is: files of ours alone came since."""
    if "+" in kept + now:
        return False
    return git("diff", "--quiet", kept, now, "--", ".", *[":!" + p for p in OWN]).returncode == 0


def read_results():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write_results(results):
    ordered = dict(sorted(results.items(), key=lambda item: int(item[0])))
    RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")


# --- running ---

def known_tests():
    """name -> (command, variables, folder), as ctest has it."""
    said = subprocess.run(["ctest", "--test-dir", "build", "--show-only=json-v1"], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout
    tests = {}
    for test in json.loads(said)["tests"]:
        have = {one["name"]: one["value"] for one in test.get("properties", [])}
        tests[test["name"]] = (test.get("command", []),
                               dict(one.split("=", 1) for one in have.get("ENVIRONMENT", [])),
                               have.get("WORKING_DIRECTORY", str(ROOT)))
    return tests


def build(rows):
    """The programs of the rows' tests."""
    subprocess.run([ROOT / "scripts" / "build.sh", "dev", "--configure"], check=True)
    wanted = {"frostline", "frostline-coordinator", "frostline-worker",
              "frostline-demo-trainer", "frostline-trainer", "frostline_stand_in_nvml"}
    tests = known_tests()
    for row in rows:
        for one in row.runs:
            command = tests.get(one.test, ([],))[0]
            # One that was never built has no command.
            if one.test and (not command or command[0].endswith(f"/{one.test}_test")):
                wanted.add(f"{one.test}_test")
    there = subprocess.run(["ninja", "-C", "build", "-t", "targets", "all"], cwd=ROOT,
                           capture_output=True, text=True).stdout
    wanted = [one for one in sorted(wanted) if re.search(rf"^{re.escape(one)}: ", there, re.M)]
    subprocess.run([ROOT / "scripts" / "build.sh", "dev", *wanted], check=True, cwd=ROOT)


def ran(command, variables, folder, longest):
    """(output, exit status or None when it took too long)."""
    with subprocess.Popen(command, cwd=folder, env={**os.environ, **variables}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.communicate(timeout=longest)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0], None
        except BaseException:  # Ctrl-C: the test goes, too
            os.killpg(process.pid, signal.SIGKILL)
            raise


def counted(output):
    """(figures, passed, failed, skipped) of what a test has printed."""
    figures = {}
    for line in LINE.findall(output):
        for name, count in (word.split("=") for word in line.split()):
            before = figures.get(name, 0)
            figures[name] = max(before, int(count)) if name.startswith("most_") \
                else before + int(count)
    found = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
    for kind, count in GTEST.findall(output):
        found[kind] += int(count)
    passed, failed, skipped = found["PASSED"], found["FAILED"], found["SKIPPED"]
    for totals in TOTALS.findall(output):
        passed, failed, skipped = (a + int(b) for a, b in zip((passed, failed, skipped), totals))
    node = dict(NODE.findall(output))
    if {"pass", "fail"} <= set(node):
        passed, failed = passed + int(node["pass"]), failed + int(node["fail"])
        skipped += int(node.get("skipped", 0))
    return figures, passed, failed, skipped


def words_of(one, size):
    """The command of a run, as a person would type it in the checkout."""
    if one.command:
        return " ".join(one.command)
    if not one.only and not one.size:
        return f"ctest --test-dir build -V -R '^{one.test}$'"
    words = [f"{one.size}={size}"] if size and one.size != REPEAT else []
    words.append(f"build/tests/{one.test}_test")
    words += [f"'--gtest_filter={one.only}'"] if one.only else []
    words += [f"{REPEAT}={size}"] if size and one.size == REPEAT else []
    return " ".join(words)


def try_once(one, size, longest, tests):
    """What one run came to."""
    if one.command:
        command, variables, folder = list(one.command), {}, str(ROOT)
    else:
        command, variables, folder = tests[one.test]
        command, variables = list(command), dict(variables)
        if one.only:
            command.append(f"--gtest_filter={one.only}")
        if size and one.size == REPEAT:
            command.append(f"{REPEAT}={size}")
        elif size:
            variables[one.size] = str(size)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    output, status = ran(command, variables, folder, longest)
    figures, passed, failed, skipped = counted(output)
    result = "passed"
    if status is None:
        result = "late"
    elif status != 0 or failed or figures.get("violations"):
        result = "failed"
    elif not passed:
        result = "skipped"
    why = WHY_SKIPPED.search(output)
    return {"result": result, "figures": figures, "tests": passed, "skipped": skipped,
            "failed_tests": failed, "why": why.group(1).strip() if skipped and why else "",
            "seconds": time.monotonic() - begun, "command": words_of(one, size),
            "output": output}


def try_row(row, options, tests):
    """What a row came to: its runs together."""
    whole = {"result": "passed", "figures": {}, "tests": 0, "seconds": 0.0, "commands": []}
    sized = sum(1 for one in row.runs if one.size) or 1
    for one in row.runs:
        if one.test and one.test not in tests:
            got = {"result": "skipped", "figures": {}, "tests": 0, "seconds": 0.0,
                   "command": words_of(one, 0), "why": f"{one.test} is not built here"}
        else:
            got = try_once(one, 0, 4 * 3600 if row.slow else PATIENCE, tests)
        share = 60 * options.minutes / sized
        larger = int(one.usual * MARGIN * (share - got["seconds"]) / max(got["seconds"], 0.05))
        if one.size and got["result"] == "passed" and not options.quick \
                and larger > 1.5 * one.usual:
            more = try_once(one, larger, 3 * share + 60, tests)
            got = more if more["result"] != "late" else got
        if got["result"] in ("failed", "late"):
            print("\n".join(got["output"].splitlines()[-40:]), file=sys.stderr)
        for name, count in got["figures"].items():
            before = whole["figures"].get(name, 0)
            whole["figures"][name] = max(before, count) if name.startswith("most_") \
                else before + count
        whole["tests"] += got["tests"]
        whole["seconds"] += got["seconds"]
        whole["commands"].append(got["command"])
        if got["result"] in ("failed", "late"):
            whole["result"] = "failed"
            whole["why"] = one.test if got["result"] == "failed" else f"{one.test} did not end"
        elif got["why"]:
            whole["why"] = got["why"]
        if got["result"] == "skipped":
            whole.setdefault("not_run", []).append(one.test)
    if len(whole.get("not_run", [])) == len(row.runs):
        whole["result"] = "skipped"
    violations = whole["figures"].pop("violations", None)
    if violations is not None:
        whole["figures"]["violations"] = violations
    whole["seconds"] = round(whole["seconds"], 1)
    return whole


def replaces(new, kept):
    """Whether a result takes the place of the one that is kept."""
    return kept is None or new["result"] != kept["result"] \
        or not is_of(kept["commit"], new["commit"]) or new["seconds"] >= kept["seconds"]


def record(options):
    results, now = read_results(), commit()
    rows = []
    for row in ROWS:
        kept = results.get(str(row.id))
        done = kept and kept["result"] == "passed" and is_of(kept["commit"], now)
        if row.runs and (row.id in options.rows or
                         not options.rows and not row.slow and not done):
            rows.append(row)
    build(rows)
    tests = known_tests()
    failed = []
    for row in rows:
        print(f"row {row.id}: {row.fault}", flush=True)
        new = {**try_row(row, options, tests), "date": datetime.date.today().isoformat(),
               "commit": now}
        print(f"  {new['result']} in {new['seconds']} s: {figure(new)}", flush=True)
        if new["result"] == "failed":
            failed.append(row.id)
        results = read_results()  # another record may have written meanwhile
        if replaces(new, results.get(str(row.id))):
            results[str(row.id)] = new
            write_results(results)
            PAGE.write_text(page(results))
    PAGE.write_text(page(read_results()))
    for number in failed:
        print(f"row {number}: a promise did not hold", file=sys.stderr)
    return 1 if failed else 0


# --- the page ---

def said(name):
    return name.replace("_", " ")


def figure(result):
    """What a run has counted, in words."""
    words = [f"{said(name)} {count:,}" if name.startswith("most_") else f"{count:,} {said(name)}"
             for name, count in result["figures"].items() if name != "unanswered" or count]
    if not words:
        words = [f"{result['tests']:,} tests passed"]
    if result["result"] == "failed":
        return f"**failed** ({result.get('why', '')}): " + ", ".join(words)
    if result["result"] == "skipped":
        return "not run: " + result.get("why", "")
    return ", ".join(words)


def goal(row, result):
    text = ", ".join(f"{count:,} {said(name)}" for name, count in row.goal.items())
    if not text or result is None:
        return text
    figures = result["figures"]
    is_reached = all(figures.get(name, 0) >= count for name, count in row.goal.items())
    return text + (": reached" if is_reached else ": not yet")


def tests_of(row):
    """Where the tests are, by their names in ctest and in their programs."""
    names = {}
    for one in row.runs:
        suites = {re.split(r"[./*]", part.removeprefix("All/").lstrip("*"))[0]
                  for part in one.only.split(":") if part and not part.startswith("-")}
        names.setdefault(one.test or " ".join(one.command), set()).update(suites - {""})
    return ", ".join(f"`{name}`" + (f" ({', '.join(sorted(suites))})" if suites else "")
                     for name, suites in names.items())


def line(row, result):
    tests = tests_of(row) or "no test yet"
    if row.lacks:
        tests = f"no test yet: {row.lacks}" if not row.runs else \
            f"{tests}; no test yet: {row.lacks}"
    counted_words = figure(result) if result else "not run yet" if row.runs else ""
    command = f"`./dev record {row.id}`" if row.runs else ""
    cells = [row.id, row.fault, row.promise, tests, command, counted_words, goal(row, result),
             result["date"] if result else "", f"`{result['commit']}`" if result else ""]
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def page(results):
    lines = [OPENING]
    known = [results[str(row.id)] for row in ROWS if str(row.id) in results]
    held = sum(1 for one in known if one["result"] == "passed")
    broken = sum(1 for one in known if one["result"] == "failed")
    without = sum(1 for row in ROWS if not row.runs)
    lines.append(f"Of {len(ROWS)} rows {held} held, {broken} failed, {without} have no test yet, "
                 f"{len(ROWS) - held - broken - without} were not run.\n")
    lines += ["| | fault | promise | test | run it again | newest figure | goal | date | commit |",
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    lines += [line(row, results.get(str(row.id))) for row in ROWS]
    lines.append("\nThe exact command of each run, with the size that its test was given, is in "
                 "`docs/measured/record.json`. What a test needs and this machine lacks (the right "
                 "to mount, PostgreSQL, a browser) is said in its row.")
    return "\n".join(lines) + "\n"


# --- the check ---

def faults():
    """What is wrong with rows, page and results."""
    results = read_results()
    if not PAGE.exists() or PAGE.read_text() != page(results):
        yield f"{PAGE.relative_to(ROOT)} is not what ./dev record --page writes"
    for number in sorted(set(results) - {str(row.id) for row in ROWS}, key=int):
        yield f"{RESULTS.relative_to(ROOT)} has row {number}, which is no row"
    if [row.id for row in ROWS] != list(range(1, len(ROWS) + 1)):
        yield "the rows are not numbered from 1"
    for row in ROWS:
        for one in row.runs:
            yield from (f"row {row.id}: {name} is no test" for name in lost(one))


@functools.lru_cache
def sources():
    """(what makes the tests, what the tests are) of the tree."""
    files = [path for path in (ROOT / "tests").rglob("*") if path.is_file()]
    return tuple("\n".join(path.read_text() for path in files if path.suffix in kinds)
                 for kinds in ((".txt",), (".cc", ".h")))


def lost(one):
    """The names of a run that the tests' sources do not have."""
    _, code = sources()
    if one.test and not is_made(one.test):
        yield one.test
    if one.size.startswith("FROSTLINE_") and f'"{one.size}"' not in code:
        yield one.size
    for part in filter(None, one.only.split(":")):
        suite, _, case = part.strip("*-").removeprefix("All/").partition(".")
        name = suite if not case.strip("*") else rf"{suite}, *\n? *{case.partition('*')[0]}"
        if not re.search(rf"\b{name}", code):
            yield part


def is_made(test):
    """Whether a CMakeLists.txt makes this test. Some are made by a loop, with the
    folder's word before the name."""
    making, _ = sources()
    if re.search(rf"frostline_(?:command_)?test\({test}\b", making):
        return True
    rest = test.partition("_")[2]
    return any(re.search(rf"(?:foreach|frostline_\w+_test)\([^)]*\b{word}\b", making)
               for word in (rest, test) if word)


def main(arguments):
    options = asked(arguments)
    if options.check:
        found = list(faults())
        for one in found:
            print(one, file=sys.stderr)
        return 1 if found else 0
    if options.page:
        PAGE.write_text(page(read_results()))
        return 0
    return record(options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
