#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doc_samples.py [--bin DIR] [--record | --write]: what the demo prints, as
README and the tutorial show it.

tests/docs/demo_run/ holds one real run: what is in the database, and all that
`frostline demo` printed. The demo is shown again from a copy of that database;
its report must be the recorded one, and each sample below a line
`<!-- sample: demo -->` must be lines of it, in order ("…" stands for some that
are left out).

  (nothing)  checks, exit code 1 with what differs
  --write    after a change of the report's words: puts the new ones into the
             recording and the pages
  --record   after a change of the search: runs the demo, some minutes; look at
             the pages' samples and at the sentences around them afterwards
"""
import argparse
import difflib
import gzip
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN = ROOT / "tests/docs/demo_run"
PRINTED = RUN / "printed.txt"
TRIALS = RUN / "trials.sql.gz"
DATABASE = "frostline.sqlite"
# Those that a dump leaves out.
PRAGMAS = ("page_size", "auto_vacuum", "application_id", "user_version")
PAGES = ("README.md", "docs/tutorials/demo.md")
SAMPLE = re.compile(r"(<!-- sample: demo -->\n```text\n)(.*?)(```\n)", re.S)
LEFT_OUT = "…"
# Paths are in the database, too: of nobody's own.
FOLDER = pathlib.Path("/tmp/frostline-demo")
SEARCHED = re.compile(r"^(\d+)/\1 done, 0 running")
RUNS_PLAN = re.compile(r"^running it beside")
# What follows it is of trials that are run then.
REPORT = re.compile(r"^(?:train|what is enough).*?(?=^running it beside)",
                    re.S | re.M)


def demo(folder, programs, until=None):
    """What `frostline demo` says with `folder` as its folder, to its end or to
    the line that matches `until`: it goes no step further."""
    said = []
    with subprocess.Popen([programs / "frostline", "demo", "--dir", folder],
                          stdout=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL) as running:
        for line in running.stdout:
            said.append(line)
            if until and until.search(line):
                running.kill()
                break
    text = "".join(said)
    if not until and running.returncode != 0:
        sys.exit(f"the demo ended with {running.returncode}:\n{text}")
    return text.replace(str(folder), str(FOLDER)).replace(
        str(programs) + "/", "")


def statements(path):
    """What makes a database anew that says the same as that of `path`."""
    database = sqlite3.connect(path)
    for name in PRAGMAS:
        value = database.execute(f"PRAGMA {name}").fetchone()[0]
        yield f"PRAGMA {name} = {value};"
    yield from database.iterdump()
    database.close()


def report_of(text):
    """The report in what a demo has said."""
    found = REPORT.search(text)
    if not found:
        sys.exit("no report was printed:\n" + text)
    return found.group()


def record(programs):
    """Runs the demo anew, and keeps its trials as they were before its plan
    was run, so that the same report can be made of them again."""
    if FOLDER.exists():
        sys.exit(f"{FOLDER} is there already")
    RUN.mkdir(exist_ok=True)
    begun = demo(FOLDER, programs, until=SEARCHED)
    while names_in_processes(FOLDER):
        time.sleep(0.1)  # coordinator and workers end in peace
    said = "\n".join(statements(FOLDER / DATABASE)) + "\n"
    TRIALS.write_bytes(gzip.compress(said.encode(), mtime=0))
    ended = demo(FOLDER, programs)
    PRINTED.write_text(begun + "\n" + ended[REPORT.search(ended).start():])
    remove(FOLDER)


def names_in_processes(folder):
    """Whether a program runs that was started with this folder."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                return True
        except OSError:
            continue  # it has ended
    return False


def shown_again(programs):
    """The report as today's programs make it of the recorded trials."""
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        database = sqlite3.connect(folder / DATABASE)
        database.executescript(gzip.decompress(TRIALS.read_bytes()).decode())
        database.close()
        return report_of(demo(folder, programs, until=RUNS_PLAN))
    finally:
        remove(folder)


def remove(folder):
    """What a killed demo had started ends by itself, and writes until then."""
    tries_end = time.monotonic() + 20
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=time.monotonic() < tries_end)
        time.sleep(0.05)


def pieces(sample):
    """The runs of lines of a sample, without the marks between them."""
    run = []
    for line in sample.splitlines():
        if line.strip() == LEFT_OUT:
            yield run
            run = []
        else:
            run.append(line)
    yield run


def place_of(run, lines, start):
    """Where `run` stands in `lines`, not before `start`; None: nowhere."""
    for at in range(start, len(lines) - len(run) + 1):
        if lines[at:at + len(run)] == run:
            return at
    return None


def wrong_samples(lines):
    """What is said on a page and was not printed."""
    for page in PAGES:
        for _, sample, _ in SAMPLE.findall((ROOT / page).read_text()):
            start = 0
            for run in pieces(sample):
                at = place_of(run, lines, start)
                if at is None:
                    yield f"{page}: the demo has not printed\n  " + "\n  ".join(run)
                else:
                    start = at + len(run)


def moved(old, new):
    """From a line's number in `old` to that of the same place in `new`."""
    where = {len(old): len(new)}
    for _, i1, i2, j1, j2 in difflib.SequenceMatcher(
            None, old, new, autojunk=False).get_opcodes():
        for k in range(i1, i2):
            where[k] = min(j1 + k - i1, j2)
    return where


def rewrite_pages(old, new):
    """Puts the new words where the old ones stand."""
    where = moved(old, new)

    def renew(match):
        start, runs = 0, []
        for run in pieces(match.group(2)):
            at = place_of(run, old, start)
            if at is None:
                runs.append(run)
                continue
            start = at + len(run)
            runs.append(new[where[at]:where[start]])
        text = f"\n{LEFT_OUT}\n".join("\n".join(run) for run in runs)
        return match.group(1) + text + "\n" + match.group(3)

    for page in PAGES:
        path = ROOT / page
        path.write_text(SAMPLE.sub(renew, path.read_text()))


def main():
    """Checks, writes or records."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.record:
        record(options.bin)
    printed = PRINTED.read_text()
    report = shown_again(options.bin)
    now = REPORT.sub(lambda _: report, printed)
    if options.write:
        rewrite_pages(printed.splitlines(), now.splitlines())
        PRINTED.write_text(now)
        printed = now
    wrong = list(wrong_samples(printed.splitlines()))
    if printed != now:
        wrong.append("the report has other words (--write takes them over):\n" +
                     "".join(difflib.unified_diff(
                         printed.splitlines(True), now.splitlines(True),
                         "recorded", "printed now", n=0)))
    print("\n".join(wrong) or "the samples are what the demo prints")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
