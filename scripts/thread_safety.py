#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""thread_safety.py BUILD: clang's -Wthread-safety, as errors, on every source
of ours (not of tests) that has to do with base/mutex.h or an annotation, or
includes a header that has; of the marks of server/loop/call_context.h, also one
that includes such a header through others. BUILD is a configured folder, for
its compile_commands.json. First it holds mistakes against the compiler, which
must find them."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "style"))

from sources_alone import sources_of  # noqa: E402
from tree import read_tree  # noqa: E402

CLANG = "clang++-19"
WARNINGS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety",
            "-Werror=thread-safety"]
GUARDED = re.compile(r"\bMutex(?:Lock)?\b|\bABSL_(?:PT_)?GUARDED_BY\b|"
                     r"\bABSL_(?:EXCLUSIVE_)?LOCKS?_\w+|\bABSL_LOCKABLE\b")
ON_LOOP = re.compile(r"\bFROSTLINE_ON_LOOP\b|\bkLoopThread\b|\bAssertOnLoop\b")
LOOP = "server/loop/call_context.h"
MISTAKES = {"mutex_": """#include "base/mutex.h"
class Count {
 public:
  void Add() { ++value_; }
 private:
  frostline::Mutex mutex_;
  int value_ ABSL_GUARDED_BY(mutex_) = 0;
};
""", "kLoopThread": f"""#include "{LOOP}"
struct Ledger {{
  void Change() FROSTLINE_ON_LOOP;
}};
auto TaskOfAReader(Ledger& ledger) {{
  return [&ledger] {{ ledger.Change(); }};
}}
"""}


def our_files(files):
    return [f for f in files if f.suffix in (".cc", ".h")
            and not f.path.startswith(("tests/", "worker/trainer/"))]


def guarded_sources(ours):
    """Paths of the sources that name a guard, or include a header that does."""
    headers = {f.path for f in ours
               if f.suffix == ".h" and f.path != "base/mutex.h"
               and GUARDED.search(f.code())}
    for file in ours:
        if file.suffix == ".cc" and (
                GUARDED.search(file.code()) or
                any(path in headers for _, path, _ in file.includes())):
            yield file.path


def loop_sources(ours):
    """Paths of the sources that see a mark of the loop's thread: what is marked
    is called by whoever gets hold of it, by whatever include."""
    included = {f.path: {path for _, path, _ in f.includes()} for f in ours}
    seeing = {f.path for f in ours if ON_LOOP.search(f.code())}
    before = 0
    while len(seeing) > before:
        before = len(seeing)
        seeing |= {path for path, headers in included.items()
                   if headers & seeing}
    return {path for path in seeing if path.endswith(".cc")}


def clang_command(entry):
    """The compile command without its launcher, its output and its warnings."""
    words = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(words)
                    if re.search(r"(\+\+|cc)(-\d+)?$", os.path.basename(word))
                    and "ccache" not in word)
    kept, skip = [], False
    for word in words[compiler + 1:]:
        if skip:
            skip = False
        elif word in ("-o", "-MT", "-MF"):
            skip = True
        elif word not in ("-c", "-MD") and not word.startswith("-W"):
            kept.append(word)
    return [CLANG, *kept, *WARNINGS]


def look(entry):
    run = subprocess.run(clang_command(entry), cwd=entry["directory"],
                         capture_output=True, text=True)
    return run.returncode, run.stderr


def finds(mistake, lacking):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "mistake.cc")
        source.write_text(mistake)
        code, said = look({"command": f"c++ -std=c++20 -I{ROOT} -c {source}",
                           "directory": folder})
    return code != 0 and f"requires holding mutex '{lacking}'" in said


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for lacking, mistake in MISTAKES.items():
        if not finds(mistake, lacking):
            print(f"threads: {CLANG} does not find a mistake made on purpose, "
                  f"a use without {lacking}", file=sys.stderr)
            return 1
    text = pathlib.Path(arguments[0], "compile_commands.json").read_text()
    entries = {os.path.relpath(source, ROOT): entry
               for entry in json.loads(text) for source in sources_of(entry)}
    ours = our_files(read_tree(ROOT))
    on_loop = loop_sources(ours)
    unseen = sorted(on_loop - set(entries))
    if unseen or not on_loop:
        print("threads: not compiled though marked for the loop's thread: "
              f"{' '.join(unseen) or 'nothing is marked'}", file=sys.stderr)
        return 1
    sources = sorted((set(guarded_sources(ours)) | on_loop) & set(entries))
    units = {entries[path]["file"]: entries[path] for path in sources}
    broken = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, said in pool.map(look, units.values()):
            if code != 0:
                broken += 1
                print(said, end="")
    print(f"threads: {len(sources)} sources in {len(units)} units, "
          f"{broken} with findings")
    return 1 if broken or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
