#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changed_rooms.py [--explain | --tests] [ROOT]: what a change may break.

The change is everything that differs from the last commit on which the whole
CI was green: FROSTLINE_CI_BASE, or the one that .ci/verified names. It breaks
the rooms it touches, the rooms above them and their tests, by the arrows of
tests/style/arrows.py and by what each folder of tests includes, links and
runs. In doubt it breaks everything.

Prints "everything", or the rooms and folders, one a line; with --explain why;
with --tests the regular expression for `ctest -L` that names their tests (each
carries its folder as a label), an empty line for everything."""
import os
import pathlib
import posixpath
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "tests" / "style"))

import arrows  # noqa: E402
from tree import CODE, read_tree  # noqa: E402

# What every program is made of or built with, and the words of the wire.
EVERYTHING = ("base/", "proto/", "cmake/", "scripts/", ".ci/", "tests/style/",
              "tests/support/")
# Pages that travel inside a program.
BUILT_IN = {"docs/glossary.md": "cli", "docs/reference/errors.md": "cli"}
# What no test but those of documentation reads; these always run. Pages of
# docs/how-to/ are run.
NOTHING = re.compile(r"^(?!docs/how-to/).*\.md$|^docs/(?!how-to/)|"
                     r"^LICENSE$|^\.gitignore$|"
                     r"^\.clang-(format|tidy)$|^\.pre-commit-config\.yaml$|"
                     r"^\.ci/verified$")
ALWAYS = ("tests/docs", "tests/style")
NAMED_PLACE = re.compile(r"\b(?:tests|recipes)/[\w./]*")
MADE = re.compile(r"frostline_(?:library|proto|binary)\(\s*([\w-]+)")
NAME = re.compile(r"(?<![\w./-])[\w-]+(?![\w./-])")
COMMIT = re.compile(r"[0-9a-f]{7,64}")


def named_here(file):
    """What a CMakeLists.txt names, without its comments, the folders below it
    and what it makes itself. `frostline` alone is a program."""
    text = re.sub(r"#[^\n]*|add_subdirectory\([^)]*\)"
                  r"|frostline_\w+\(\s*[\w-]+|frostline::", " ", file.text)
    return text.replace("${CMAKE_CURRENT_SOURCE_DIR}", file.folder)


class Graph:
    """Rooms, folders of tests and recipes, each with what it stands on."""

    def __init__(self, files):
        self.test_folders = {f.folder for f in files
                             if f.name == "CMakeLists.txt"
                             and f.folder.startswith("tests/")}
        makers = {}
        for file in files:
            if file.name == "CMakeLists.txt":
                for name in MADE.findall(file.text):
                    makers[name] = self.node(file.path)
        self.below = {room: set(below)
                      for room, below in arrows.ROOMS.items()}
        for file in files:
            node = self.node(file.path)
            if node:
                self.below.setdefault(node, set()).update(
                    self.mentioned(file, makers))
                if node.endswith("/data"):
                    owner = self.node(node[:-len("data")])
                    self.below.setdefault(owner or node, set()).add(node)
        for folder in [n for n in self.below if n.startswith("tests/")]:
            self.below[folder] |= self.mirrored(folder)

    def node(self, path):
        """The room or folder that a file belongs to; None outside of all. A
        file of tests whose folder builds nothing stands for itself, and for
        the header of its name; so does a folder of data."""
        if path.startswith("recipes/"):
            return "recipes"
        if path.startswith("docs/how-to/"):
            return "tests/clients"
        if not path.startswith("tests/"):
            return arrows.room_of(path)
        data = re.match(r"tests/.*?\bdata(?=/)", path)
        if data:
            return data.group(0)
        folder = posixpath.dirname(path)
        while folder and folder not in self.test_folders:
            folder = posixpath.dirname(folder)
        return folder or (posixpath.splitext(path)[0] if path.count("/") > 1
                          else None)

    def mirrored(self, folder):
        """The rooms whose tests lie there, as tests mirror the tree: one, or
        those below it that have no folder of tests to themselves."""
        place = folder[len("tests/"):]
        room = arrows.room_of(place)
        return {room} if room else {
            r for r in arrows.ROOMS if r.startswith(place + "/")
            and "tests/" + r not in self.test_folders}

    def mentioned(self, file, makers):
        """What a file includes, links, runs or reads."""
        is_test = file.path.startswith("tests/")
        found = set()
        if file.suffix in CODE:
            for _, include, _ in file.includes():
                found.add(arrows.included_room(include)
                          or self.node(include))
        text = file.text
        if file.is_cmake():
            text = named_here(file)
            if is_test:
                found |= {makers.get(name) for name in NAME.findall(text)}
            for name in re.findall(r"\.\./[\w./]+", text):
                found.add(self.node(posixpath.normpath(
                    posixpath.join(file.folder, name))))
        if file.is_cmake() or is_test and file.suffix in (*CODE, ".py"):
            text = re.sub(r"^\s*(//|#)[^\n]*", "", text, flags=re.MULTILINE)
            for name in NAMED_PLACE.findall(text):
                is_file = "." in posixpath.basename(name)
                found.add(self.node(name if is_file else name + "/"))
        return found - {None}

    def above(self, nodes):
        """{node: the chain of nodes that led to it} for `nodes` and all that
        stand on them."""
        chains = {node: [node] for node in nodes}
        waiting = list(nodes)
        while waiting:
            node = waiting.pop(0)
            for other, below in sorted(self.below.items()):
                if node in below and other not in chains:
                    chains[other] = chains[node] + [other]
                    waiting.append(other)
        return chains


def git(root, *arguments):
    """What git printed, or None where it failed."""
    try:
        run = subprocess.run(["git", "-C", str(root), *arguments],
                             capture_output=True, text=True)
    except OSError:
        return None
    return run.stdout if run.returncode == 0 else None


def base_commit(root):
    """(commit, None), or (None, why none can be trusted)."""
    named = os.environ.get("FROSTLINE_CI_BASE")
    note = pathlib.Path(root, ".ci/verified")
    if not named:
        words = note.read_text().split() if note.exists() else []
        if not words:
            return None, "no commit is known on which all of CI was green"
        named = words[0]
        if not COMMIT.fullmatch(named):
            return None, f".ci/verified names no commit: {named}"
    commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options",
                 named + "^{commit}")
    if commit is None:
        return None, f"{named} is not in this clone"
    if git(root, "merge-base", "--is-ancestor", commit.strip(), "HEAD") is None:
        return None, f"{named} is no ancestor of this commit"
    return commit.strip(), None


def changed_files(root, base):
    """Paths that differ from `base`, committed or not; both names of a file
    that moved. None where git does not say."""
    differ = git(root, "diff", "--name-only", "--no-renames", "-z", base)
    new = git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if differ is None or new is None:
        return None
    return sorted({path for path in (differ + new).split("\0") if path})


def touched(paths, graph):
    """({node: the first file that touches it}, None), or (None, the file that
    touches everything)."""
    nodes = {}
    for path in paths:
        if path in BUILT_IN:
            nodes.setdefault(BUILT_IN[path], path)
            continue
        if NOTHING.search(path):
            continue
        node = graph.node(path)
        if node is None or path.startswith(EVERYTHING):
            return None, path
        nodes.setdefault(node, path)
    return nodes, None


def broken(root):
    """(chains or None for everything, lines that say why)."""
    if os.environ.get("FROSTLINE_CI_ALL") == "1":
        return None, ["everything: FROSTLINE_CI_ALL is set"]
    base, why = base_commit(root)
    if base is None:
        return None, [f"everything: {why}"]
    paths = changed_files(root, base)
    if paths is None:
        return None, ["everything: git does not say what changed"]
    graph = Graph(read_tree(root))
    nodes, path = touched(paths, graph)
    lines = [f"{len(paths)} files differ from {base[:12]}"]
    if nodes is None:
        return None, [*lines, f"everything: {path}"]
    chains = graph.above(nodes)
    for node, chain in sorted(chains.items()):
        lines.append(f"{node}: {' < '.join(chain)}, {nodes[chain[0]]}")
    return chains, lines


def pattern(chains):
    """For `ctest -L`: pages and the rules of the house are held to whatever
    changed."""
    if chains is None:
        return ""
    folders = {n for n in chains if n.startswith("tests/")} | set(ALWAYS)
    return "^at:(" + "|".join(map(re.escape, sorted(folders))) + ")$"


def main(arguments):
    options = [a for a in arguments if a.startswith("--")]
    rest = [a for a in arguments if not a.startswith("--")]
    if len(rest) > 1 or len(options) > 1 or \
            not set(options) <= {"--explain", "--tests"}:
        print(__doc__, file=sys.stderr)
        return 2
    chains, lines = broken(rest[0] if rest else HERE.parents[1])
    if "--explain" in options:
        print("\n".join(lines))
    elif "--tests" in options:
        print(pattern(chains))
    else:
        print("everything" if chains is None else "\n".join(sorted(chains)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
