#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py ROOM [--most N] [--seed S] [--file NAME] [--tests REGEX] [--again]

Plants one small mistake at a time into a room's sources, builds its tests and runs them:
whoever notices has killed the mutant, and those that live say what no test looks at. A
mistake is another operator, a condition turned round, a constant one off, or a statement
that is not there. One that does not compile is none.

It works in a checkout of its own, build-mutate/tree, at the commit of HEAD. What came of
each mutant is kept in build-mutate/ROOM.jsonl, so that a run that was stopped goes on;
--again forgets it. --most N takes N of all mutants by lot (--seed). The tests are those
that lie where the room's tests lie, or those of --tests."""
import argparse
import collections
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "build-mutate"
TREE = HOME / "tree"
LONGEST = 3.0  # a test that takes so many times as long as without a mistake hangs

Mutant = collections.namedtuple("Mutant", "file line kind before after")

# (kind, what is replaced, by what): once for each place in a line of code.
SWAPS = (
    ("equality", r" == ", " != "), ("equality", r" != ", " == "),
    ("bound", r" < ", " <= "), ("bound", r" > ", " >= "), ("bound", r" <= ", " < "),
    ("bound", r" >= ", " > "), ("logic", r" && ", " || "), ("logic", r" \|\| ", " && "),
    ("sign", r" \+ ", " - "), ("sign", r" - ", " + "), ("sign", r" \+= ", " -= "),
    ("sign", r" -= ", " += "), ("turned round", r"if \((?!.*;)(.+)\) (?=\{|return)",
                                r"if (!(\1)) "),
    ("word", r"\btrue\b", "false"), ("word", r"\bfalse\b", "true"),
    ("constant", r"(?<=[ (])0(?=[;,) ])", "1"), ("constant", r"(?<=[ (])1(?=[;,) ])", "2"),
    ("extreme", r"std::min\(", "std::max("), ("extreme", r"std::max\(", "std::min("))
# A whole statement on one line that gives nothing a name and ends no function.
STATEMENT = re.compile(r"^ +(?!return|break|continue|using|case|default|static|const|auto|"
                       r"else|throw|ASSIGN_OR_RETURN|template|class|struct|enum|friend)"
                       r"[\w:*\[\]>.()-]+(?:\(.*\)| [-+|&]?= .*|\+\+|--);$|"
                       r"^ +(?:\+\+|--)[\w.>-]+;$")
DECLARATION = re.compile(r"^ +(?:[\w:]+(?:<.*>)?[&*]? )+[\w]+(?:\(|;| =|\{)")


def code_of(text):
    """The lines, those without code empty: comments, directives, and what is in quotes
    masked by characters that no rule looks for."""
    for line in text.split("\n"):
        line = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' + "~" * (len(m[0]) - 2) + '"', line)
        yield "" if line.lstrip().startswith(("#", "//")) else line.split("//")[0].rstrip()


def mutants_of(path, text):
    lines = text.split("\n")
    for number, (line, code) in enumerate(zip(lines, code_of(text)), 1):
        if not code or re.search("LOG\\(|static_assert|FAILPOINT", code):
            continue
        for kind, pattern, by in SWAPS:
            for found in re.finditer(pattern, code):
                by_this = found.expand(by) if kind == "turned round" else by
                yield Mutant(path, number, kind, line,
                             line[:found.start()] + by_this + line[found.end():])
        whole = lines[number - 2].rstrip().endswith((";", "{", "}", ":")) if number > 1 else False
        if whole and STATEMENT.match(code) and not DECLARATION.match(code):
            yield Mutant(path, number, "left out", line, "")


def sources(room, named):
    folder = ROOT / room
    files = sorted(path for path in folder.glob("*.cc") if path.name != "main.cc")
    if named:
        files = [path for path in files if path.name in named]
    if not files:
        raise SystemExit(f"mutate: {room} has no source" + (f" {named}" if named else ""))
    return [path.relative_to(ROOT).as_posix() for path in files]


def run(*command, limit=None):
    """The exit status, and what was said; 124 where it took too long."""
    try:
        done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, ""
    return done.returncode, done.stdout + done.stderr


def checkout():
    HOME.mkdir(exist_ok=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout.strip()
    if not TREE.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, TREE], check=True)
    subprocess.run(["git", "fetch", "--quiet", "origin", head], cwd=TREE, check=False)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", head], cwd=TREE,
                   check=True)


def tests_of(room, wanted):
    """The names of ctest's tests: those named, or those that lie nearest to the room's."""
    place = room
    while True:
        status, said = run("ctest", "--test-dir", "build", "-N", *(
            ("-R", wanted) if wanted else ("-L", f"^at:tests/{place}$")))
        found = re.findall(r"Test +#\d+: (\S+)", said)
        if status == 0 and found:
            return found
        if wanted or "/" not in place:
            raise SystemExit(f"mutate: no tests for {room}: name some with --tests")
        place = place.rpartition("/")[0]


class Bench:
    """Builds and runs the tests."""

    def __init__(self, tests):
        self.tests = tests
        status, said = self.build()
        if status != 0:
            raise SystemExit(f"mutate: the tests do not build:\n{said[-2000:]}")
        began = time.monotonic()
        if self.test(600)[0] != 0:
            raise SystemExit("mutate: the tests fail without any mistake")
        self.usual = time.monotonic() - began

    def build(self):
        return run("scripts/build.sh", "edit", *(f"{name}_test" for name in self.tests))

    def test(self, limit):
        return run("ctest", "--test-dir", "build", "--stop-on-failure", "-R",
                   f"^({'|'.join(map(re.escape, self.tests))})$", limit=limit)

    def judge(self, mutant):
        path = TREE / mutant.file
        text = path.read_text()
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.after
        path.write_text("\n".join(lines))
        try:
            if self.build()[0] != 0:
                return "none"
            status, _ = self.test(LONGEST * self.usual + 10)
            return {0: "lived", 124: "hung"}.get(status, "killed")
        finally:
            path.write_text(text)


def key_of(mutant):
    return hashlib.sha256(json.dumps(mutant).encode()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(prog="mutate")
    parser.add_argument("room")
    parser.add_argument("--most", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", nargs="+", default=[])
    parser.add_argument("--tests", default="")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    room = options.room.strip("/")
    mutants = [one for path in sources(room, options.file)
               for one in mutants_of(path, (ROOT / path).read_text())]
    if options.most and options.most < len(mutants):
        mutants = sorted(random.Random(options.seed).sample(mutants, options.most))
    kept = HOME / f"{room.replace('/', '_')}.jsonl"
    if options.again and kept.exists():
        kept.unlink()
    checkout()
    if run("scripts/build.sh", "edit", "--configure")[0] != 0:
        raise SystemExit("mutate: its checkout cannot be configured")
    known = {}
    if kept.exists():
        known = {one["key"]: one["end"] for one in map(json.loads, kept.read_text().splitlines())}
    bench = Bench(tests_of(room, options.tests))
    print(f"{len(mutants)} mutants, {len(bench.tests)} tests that take {bench.usual:.1f} s",
          file=sys.stderr)
    ends = collections.Counter()
    for mutant in mutants:
        end = known.get(key_of(mutant))
        if end is None:
            end = bench.judge(mutant)
            with kept.open("a") as out:
                out.write(json.dumps({"key": key_of(mutant), "end": end,
                                      **mutant._asdict()}) + "\n")
        ends[end] += 1
        if end == "lived":
            print(f"lived: {mutant.file}:{mutant.line}: {mutant.kind}\n"
                  f"  - {mutant.before.strip()}\n  + {mutant.after.strip()}", flush=True)
    noticed = ends["killed"] + ends["hung"]
    judged = noticed + ends["lived"]
    print(f"{noticed} of {judged} noticed ({noticed / judged if judged else 1:.2f}); "
          f"{ends['none']} did not compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
