#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sources_alone.py BUILD [--compile | SOURCE...]: the sources of a folder that
is compiled in batches, each by itself.

Writes BUILD/alone/compile_commands.json, with a command for each source, as
clang-tidy and editors want it. With sources, each is also compiled by itself,
without keeping the object; with --compile all are: what compiles only thanks to
another source of its batch is an error."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def is_batch(path):
    return re.fullmatch(r"unity_\d+_cxx\.cxx", os.path.basename(path))


def sources_of(entry):
    """The sources that one command of CMake compiles: one, or a batch."""
    path = entry["file"]
    if not is_batch(path):
        return [path]
    return INCLUDED.findall(pathlib.Path(path).read_text())


def entries_alone(build):
    """{path below ROOT: its own entry} for every source that BUILD compiles."""
    text = pathlib.Path(build, "compile_commands.json").read_text()
    alone = {}
    for entry in json.loads(text):
        for source in sources_of(entry):
            own = {"directory": entry["directory"], "file": source,
                   "command": entry["command"].replace(entry["file"], source)}
            alone[os.path.relpath(source, ROOT)] = own
    return alone


def compile_alone(entry):
    """(exit code, what the compiler said)."""
    words = [w for w in shlex.split(entry["command"])
             if os.path.basename(w) != "ccache"]
    output = words.index("-o")
    words[output:output + 2] = []
    run = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"],
                         capture_output=True, text=True)
    return run.returncode, run.stderr


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    build, asked = arguments[0], arguments[1:]
    alone = entries_alone(build)
    folder = pathlib.Path(build, "alone")
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(
        json.dumps(list(alone.values()), indent=1))
    if not asked:
        return 0
    paths = sorted(path for path in alone if not path.startswith("build"))
    if asked != ["--compile"]:
        paths = [path for path in paths if path in set(asked)]
    broken = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, said in pool.map(compile_alone,
                                   (alone[path] for path in paths)):
            broken += code != 0
            print(said, end="")
    print(f"alone: {len(paths)} sources, {broken} that do not compile")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
