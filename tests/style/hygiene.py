# SPDX-License-Identifier: Apache-2.0
"""Rules about single files: dead ones, leftovers, licence lines, and things
that must not be in the tree at all. Words that are looked for are written in
pieces, so that this file does not find itself."""
import builtins
import posixpath
import re
import symtable

from arrows import ROOMS
from tree import CODE

FOLDERS = sorted({room.split("/")[0] for room in ROOMS} | {
    "tests", "docs", "scripts", "python", "dashboard", "recipes", "deploy"})

LEFTOVERS = {
    "a note to do it later": re.compile(
        r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"),
    "something done only for a while": re.compile(
        r"\bfor " r"now\b", re.IGNORECASE),
    "an include commented out": re.compile(r"^\s*//\s*#\s*inc" r"lude"),
    "code switched off": re.compile(r"^\s*#\s*if\s+0\b"),
}
# ThreadSanitizer does not see these locks: the distribution's Abseil was built
# without it, and every field that they guard looks like a race.
BLIND_LOCK = re.compile(r"\babsl::(Mutex|MutexLock|CondVar)\b")
# Libraries speak through base/log.h and statuses, never to a terminal.
PRINTING = re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w:])(std::)?f?printf\s*\(")
QUIET_ROOMS = ("base/", "study/", "sampler/", "statistics/", "importance/",
               "storage/", "server/", "worker/agent/")
MAY_PRINT = re.compile(r"(^|/)main\.cc$|^base/log\.(cc|h)$")

HOSTS = [".".join(parts) for parts in (
    ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"),
    ("npmjs", "com"), ("yarnpkg", "com"), ("crates", "io"),
    ("proxy", "golang", "org"), ("sum", "golang", "org"),  # paths of modules may
    ("deb", "debian", "org"), ("security", "debian", "org"),
    ("archive", "ubuntu", "com"), ("security", "ubuntu", "com"),
    ("maven", "org"), ("maven", "apache", "org"), ("pytorch", "org"),
    ("anaconda", "org"), ("rubygems", "org"))]
HOST = re.compile(r"(?<![\w-])([\w-]+\.)*(" +
                  "|".join(re.escape(host) for host in HOSTS) + r")\b")
HOME = re.compile(r"(?<![\w.])/(ho" r"me/[\w$]|Us" r"ers/\w|ro" r"ot\b)")

WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".npz", ".npy", ".onnx",
           ".sqlite", ".db", ".whl", ".parquet")
MAX_BYTES = 512 * 1024
MAX_CSV_BYTES = 100 * 1024


def named_in_cmake(files):
    """A pattern for every path that a CMakeLists.txt names."""
    patterns = []
    for file in files:
        if not file.is_cmake():
            continue
        text = re.sub(r"\$\{CMAKE_CURRENT_SOURCE_DIR\}/", "", file.text)
        for name in re.findall(r"[\w./${}-]+\.(?:cc|h|proto|py)\b", text):
            path = posixpath.normpath(posixpath.join(file.folder, name))
            path = re.sub(r"\\\$\\\{\w+\\\}", "[^/]*", re.escape(path))
            patterns.append(path)
    return re.compile("|".join(patterns) or r"\Z(?!\Z)")


def check_dead_files(files):
    """Every source is built, every header included, every script called."""
    named = named_in_cmake(files)
    included = {path for f in files if f.suffix in CODE
                for _, path, _ in f.includes()}
    callers = "\n".join(f.text for f in files if f.is_text)
    for file in files:
        # A script may compile a folder of messages for a client.
        is_called = file.suffix == ".proto" and file.folder + "/" in callers
        if file.suffix in (".cc", ".proto") and not is_called and \
                not named.fullmatch(file.path):
            yield f"{file.path}: no CMakeLists.txt names it"
        if file.suffix == ".h" and file.path not in included:
            yield f"{file.path}: nobody includes it"
        if file.path.startswith("scripts/") and file.is_script():
            # Once is the script naming itself in its head.
            if callers.count(file.name) - file.text.count(file.name) < 1:
                yield f"{file.path}: nobody calls it"


def check_leftovers(files):
    """Nothing unfinished, switched off or meant for debugging."""
    for file in files:
        if file.suffix not in (*CODE, ".proto", ".md", ".txt", ".cmake") and \
                not file.is_script():
            continue
        for number, line in enumerate(file.lines, start=1):
            for what, pattern in LEFTOVERS.items():
                if pattern.search(line):
                    yield f"{file.path}:{number}: {what}"
        if file.suffix in CODE and BLIND_LOCK.search(file.code()):
            yield f"{file.path}: locks with absl::Mutex: take base/mutex.h"
        if file.suffix in CODE and file.path.startswith(QUIET_ROOMS) and \
                not MAY_PRINT.search(file.path):
            for number, line in enumerate(file.code().splitlines(), start=1):
                if PRINTING.search(line):
                    yield f"{file.path}:{number}: prints to the terminal"


def check_refusals(files):
    """A test in bats says `fails` of what must not succeed: `!` fails no test."""
    for file in files:
        if file.path.endswith(".bats"):
            for number, line in enumerate(file.text.splitlines(), 1):
                if line.lstrip().startswith("! "):
                    yield f"{file.path}:{number}: begins with !"


def check_licence_lines(files):
    """Every source and script names its licence in its first lines."""
    for file in files:
        ours = file.suffix in (*CODE, ".proto") or file.is_script() or \
            file.is_cmake()
        head = "\n".join(file.lines[:3])
        if ours and "SPDX-License-Identifier: Apache-2.0" not in head:
            yield f"{file.path}: no SPDX line in its first three lines"


def check_readmes(files):
    """Every folder of the picture says what lives in it."""
    known = {f.path for f in files}
    for folder in FOLDERS:
        exists = any(f.path.startswith(folder + "/") for f in files)
        if exists and f"{folder}/README.md" not in known:
            yield f"{folder}: has no README.md"


def check_places(files):
    """No package registry by host name, nobody's home folder."""
    for file in files:
        for number, line in enumerate(file.lines, start=1):
            if HOST.search(line):
                yield f"{file.path}:{number}: names a package registry's host"
            if HOME.search(line):
                yield f"{file.path}:{number}: names a home folder"


def check_data(files):
    """Code and small text only: no weights, no data sets."""
    for file in files:
        limit = MAX_CSV_BYTES if file.suffix == ".csv" else MAX_BYTES
        # Tiny random models: those that the trainer's numbers are compared
        # with, and the one of recipes' samples.
        recorded = file.path.startswith(("tests/parity/data/",
                                         "recipes/samples/"))
        if file.suffix in WEIGHTS and not recorded:
            yield f"{file.path}: weights or data do not belong in the tree"
        elif file.size > limit:
            yield f"{file.path}: {file.size // 1024} KiB, the limit is {limit // 1024}"


def scopes(table):
    """A scope of Python and all within it."""
    yield table
    for child in table.get_children():
        yield from scopes(child)


def check_python_names(files):
    """Python says no name that it has not imported, made or been given."""
    for file in files:
        if file.suffix != ".py" or re.search(r"^from \S+ import \*", file.text, re.MULTILINE):
            continue
        module = symtable.symtable(file.text, file.path, "exec")
        said, made = set(), set(dir(builtins)) | {"__file__", "__name__"}
        for scope in scopes(module):
            for symbol in scope.get_symbols():
                is_global = scope is module or symbol.is_global()
                if is_global and symbol.is_referenced():
                    said.add(symbol.get_name())
                if is_global and (symbol.is_assigned() or symbol.is_imported()):
                    made.add(symbol.get_name())
        for name in sorted(said - made):
            yield f"{file.path}: {name} is nowhere made or imported"
