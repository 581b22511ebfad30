# SPDX-License-Identifier: Apache-2.0
"""How long files and functions are, and which short headers serve one file
alone. Reported, never failed."""
import re
import statistics

LIMITS = {".h": 100, ".cc": 150}
MAX_FUNCTION = 60
MAX_ONE_USER_HEADER = 60
NOT_A_FUNCTION = re.compile(r"^(namespace|class|struct|enum|union|extern|using|#|//|\}|template)")


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


def one_user_headers(files):
    """(header, its user) where one file alone includes a header shorter than
    MAX_ONE_USER_HEADER, the source of the same name not counted. A header that
    a test includes has a purpose of its own."""
    users = {}
    for file in files:
        for _, include, quoted in file.includes():
            if quoted:
                users.setdefault(include, set()).add(file.path)
    for file in files:
        if file.suffix != ".h" or file.path.startswith("tests/") or \
                len(file.lines) >= MAX_ONE_USER_HEADER:
            continue
        others = users.get(file.path, set()) - {file.path[:-2] + ".cc"}
        if len(others) == 1 and not min(others).startswith("tests/"):
            yield file, min(others)


def report(files):
    """Lines for people: the spread, then what is longer than we like."""
    ours = [f for f in files if f.suffix in LIMITS]
    code = [f for f in ours if not f.path.startswith("tests/")]
    lengths = {f: list(functions(f)) for f in code}
    yield spread("headers", [len(f.lines) for f in code if f.suffix == ".h"])
    yield spread("sources", [len(f.lines) for f in code if f.suffix == ".cc"])
    yield spread("functions", [n for found in lengths.values()
                               for _, n in found])
    tests = sum(len(f.lines) for f in ours) - sum(len(f.lines) for f in code)
    yield f"lines of tests: {tests}, of code: {sum(len(f.lines) for f in code)}"
    for file in code:
        if len(file.lines) > LIMITS[file.suffix]:
            yield f"  long: {file.path}, {len(file.lines)} lines"
        for start, length in lengths[file]:
            if length > MAX_FUNCTION:
                yield f"  long: {file.path}:{start}, a function of {length}"
    alone = list(one_user_headers(files))
    yield (f"headers shorter than {MAX_ONE_USER_HEADER} lines that one file "
           f"alone includes: {len(alone)}")
    for header, user in alone:
        yield f"  one user: {header.path}, for {user}"
