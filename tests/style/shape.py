# SPDX-License-Identifier: Apache-2.0
"""The shape of the tree: a file is a subject, and a README says where to find
it. What may be a subject cut in pieces is reported: pairs of header and source
that are small, classes spread over several sources, folders too full to take
in, long functions. Only a README that is plainly wrong fails."""
import posixpath
import re
import statistics

from tree import CODE

MAX_FUNCTION = 60
MAX_SMALL_PAIR = 60  # lines of a header and its source together, ceremony apart
MAX_FILES_IN_FOLDER = 40
NOT_A_FUNCTION = re.compile(r"^(namespace|class|struct|enum|union|extern|using|#|//|\}|template)")
CEREMONY = re.compile(r"^(\s*|// (SPDX-License|File:).*|//|#(include|ifndef|define|endif)\b.*|"
                      r"namespace.*\{|\}\s*// namespace.*)$")
MEMBER = re.compile(r"^(?:[\w:<>,*&\[\]]+[ \n]+)*?[*&]?(\w+)::~?\w+\(", re.MULTILINE)

NAMED = re.compile(r"`([\w./-]+\.(?:h|cc|inc|py|sh|bats|proto))`")


def functions(file):
    """(first line, length) of the functions that start in column 0, which in
    our layout are all but those inside a class."""
    start = None
    for number, line in enumerate(file.lines, start=1):
        if start is None:
            if line and line[0] not in " \t}" and "(" in line and \
                    not NOT_A_FUNCTION.match(line):
                start = number
        if start is not None:
            if line == "}":
                yield start, number - start + 1
                start = None
            elif line.endswith((";", "}")) and not line.startswith(" "):
                start = None  # a declaration or a one-line function


def quantile(sorted_numbers, share):
    return sorted_numbers[min(len(sorted_numbers) - 1,
                              int(share * len(sorted_numbers)))]


def spread(what, numbers):
    if not numbers:
        return f"{what}: none"
    numbers = sorted(numbers)
    return (f"{what}: {len(numbers)}, median {statistics.median(numbers):g}, "
            f"p90 {quantile(numbers, 0.9)}, longest {numbers[-1]}")


def small_pairs(files):
    """(header, lines) of each header with a source of its name that together
    say less than MAX_SMALL_PAIR lines."""
    by_path = {file.path: file for file in files}
    for file in files:
        source = by_path.get(file.path[:-2] + ".cc")
        if file.suffix != ".h" or source is None:
            continue
        said = sum(not CEREMONY.match(line)
                   for line in file.lines + source.lines)
        if said < MAX_SMALL_PAIR:
            yield file, said


def scattered_classes(files):
    """(class, its sources) where several sources of a folder define members of
    one class."""
    sources = {}
    for file in files:
        if file.suffix == ".cc":
            for name in set(MEMBER.findall(file.code())):
                if name[:1].isupper():
                    sources.setdefault((file.folder, name), []).append(file.name)
    for (folder, name), found in sorted(sources.items()):
        if len(found) > 1:
            yield f"{folder}: {name}", found


def full_folders(files):
    """(folder, number of its files of code) above MAX_FILES_IN_FOLDER."""
    counts = {}
    for file in files:
        counts[file.folder] = counts.get(file.folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if count > MAX_FILES_IN_FOLDER:
            yield folder, count


def report(files):
    """Lines for people: the spread, then what may be a subject in pieces."""
    ours = [f for f in files if f.suffix in CODE]
    code = [f for f in ours if not f.path.startswith("tests/")]
    lengths = {f: list(functions(f)) for f in code}
    yield spread("headers", [len(f.lines) for f in code if f.suffix == ".h"])
    yield spread("sources", [len(f.lines) for f in code if f.suffix == ".cc"])
    yield spread("functions", [n for found in lengths.values()
                               for _, n in found])
    tests = sum(len(f.lines) for f in ours) - sum(len(f.lines) for f in code)
    yield f"lines of tests: {tests}, of code: {sum(len(f.lines) for f in code)}"
    for file, found in lengths.items():
        for start, length in found:
            if length > MAX_FUNCTION:
                yield f"  long: {file.path}:{start}, a function of {length}"
    for file, said in small_pairs(code):
        yield f"  small pair: {file.path}, {said} lines with its source"
    for name, found in scattered_classes(code):
        yield f"  scattered: {name} in {', '.join(found)}"
    for folder, count in full_folders(code):
        yield f"  full: {folder}, {count} files"


def is_there(name, folder, known):
    """Whether a README in `folder` may call one of the `known` files so: by its
    path from there or from a folder above, or by its end where it lies below."""
    above = folder
    while above:
        if posixpath.normpath(posixpath.join(above, name)) in known:
            return True
        above = above.rpartition("/")[0]
    return name in known or any(
        path.startswith(folder + "/") and path.endswith("/" + name)
        for path in known)


def check_readme_names(files):
    """A README names only files that are there, and each of them once."""
    known = {file.path for file in files}
    for file in files:
        if file.name != "README.md":
            continue
        named = set()
        for match in NAMED.finditer(file.text):
            name = match.group(1)
            line = file.text.count("\n", 0, match.start()) + 1
            if not is_there(name, file.folder, known):
                yield f"{file.path}:{line}: there is no {name}"
            if name in named:
                yield f"{file.path}:{line}: names {name} again"
            named.add(name)
