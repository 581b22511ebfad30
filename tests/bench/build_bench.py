#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_bench.py BUILD [--quick] [--clone]: what waiting for the compiler takes.

One edit: each of SOURCES is compiled by itself, as the preset `edit` does it, in a
folder of its own beside BUILD and without the compiler's cache; then a program is
linked in BUILD. With --clone also `./dev demo` in a fresh clone of the commit, with
nothing compiled before: until its first trial, and until its last line."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1])
QUICK = "--quick" in sys.argv
# Some of each kind, and those that take longest.
SOURCES = ["cli/commands/plan.cc", "cli/commands/study.cc", "cli/demo/demo.cc",
           "cli/view/study_view.cc", "importance/plan/study_plan.cc",
           "server/dispatch/dispatcher.cc", "surrogate/scales.cc",
           "surrogate/surrogate.cc"]
UNCACHED = {**os.environ, "CCACHE_DISABLE": "1"}


def say(name, seconds):
    print(json.dumps({f"build.{name}": round(seconds, 2)}), flush=True)


def run(*command):
    ran = subprocess.run(command, cwd=ROOT, env=UNCACHED, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ran.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))} failed:\n{ran.stdout[-3000:]}")


def seconds_of(*command):
    begun = time.monotonic()
    run(*command)
    return time.monotonic() - begun


def object_of(folder, source):
    """What compiling `source` writes."""
    commands = json.loads((folder / "compile_commands.json").read_text())
    for entry in commands:
        if entry["file"] == str(ROOT / source):
            words = shlex.split(entry["command"])
            return folder / words[words.index("-o") + 1]
    sys.exit(f"nothing compiles {source}")


def edits():
    folder = BUILD.with_name(BUILD.name + "-edit")
    run("cmake", "--preset", "edit", "-B", folder)
    for source in SOURCES[2:3] if QUICK else SOURCES:
        made = object_of(folder, source)
        run("ninja", "-C", folder, made.relative_to(folder))  # and what it needs
        made.unlink()
        say(f"edit_s.{source}",
            seconds_of("ninja", "-C", folder, made.relative_to(folder)))


def link():
    run("ninja", "-C", BUILD, "frostline")
    (BUILD / "bin/frostline").unlink()
    say("link_s.frostline", seconds_of("ninja", "-C", BUILD, "frostline"))


def demo_of_a_clone():
    clone = pathlib.Path(tempfile.mkdtemp()) / "frostline"
    try:
        run("git", "clone", "--quiet", ROOT, clone)
        begun = time.monotonic()
        with subprocess.Popen(["./dev", "demo"], cwd=clone, env=UNCACHED, text=True,
                              stdout=subprocess.PIPE) as demo:
            for line in demo.stdout:
                if line.startswith("first trial after"):
                    say("demo_first_trial_s", time.monotonic() - begun)
        if demo.returncode != 0:
            sys.exit(f"the demo ended with {demo.returncode}")
        say("demo_last_line_s", time.monotonic() - begun)
    finally:
        shutil.rmtree(clone.parent)


edits()
link()
if "--clone" in sys.argv:
    demo_of_a_clone()
