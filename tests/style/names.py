# SPDX-License-Identifier: Apache-2.0
"""Which types are defined where, by qualified name. A compiler sees one file
at a time: two types of one name meet only in a program that links both, where
each may be taken for the other."""
import re

from tree import CODE

PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
CHARACTER = re.compile(r"'(?:\\.|[^'\\\n])'")
NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
                  r"(?:(?:[A-Z][A-Z0-9_]+\([^)]*\)|\[\[[^\]]*\]\])\s*)*"
                  r"([\w:]+(?:<[^<>]*>)?)\s*(?:final\s*)?(?::(?!:)[^;]*)?$")

# folder -> the namespace of what lies below it, and of its tests. The words of
# base and study are everybody's; so is what all tests share. The tests of no
# room, such as whole flows, are in OTHER_TESTS.
NAMESPACES = {
    "base": "frostline",
    "study": "frostline",
    "support": "frostline",
    "proto": "frostline::proto",
    "surrogate": "frostline::surrogate",
    "sampler": "frostline::sampler",
    "importance": "frostline::importance",
    "statistics": "frostline::statistics",
    "storage": "frostline::storage",
    "tls": "frostline::tls",
    "spans": "frostline::spans",
    "server": "frostline::server",
    "worker/registry": "frostline::registry",
    "worker/agent": "frostline::agent",
    "worker/demo_trainer": "frostline::demo_trainer",
    "worker/trainer": "frostline::trainer",
    "cli": "frostline::cli",
    "bench": "frostline::bench",
}
OTHER_TESTS = "frostline::test"


def scope(head):
    """(kind, name) of what opens with the brace that follows `head`."""
    namespace = NAMESPACE.search(head)
    if namespace:
        return ("namespace", namespace.group(1))
    found = TYPE.search(head)
    if found:
        return ("type", found.group(1))
    return ("body", "")


def types(file):
    """(line, qualified name) of every type that `file` defines outside of
    functions and of namespaces without a name."""
    code = CHARACTER.sub("0", PREPROCESSOR.sub(
        lambda m: "\n" * m.group(0).count("\n"), file.code()))
    open_scopes, start = [], 0
    for match in re.finditer(r"[{};]", code):
        if match.group(0) == "{":
            kind, name = scope(code[start:match.start()])
            hidden = any(k == "body" or not n for k, n in open_scopes)
            open_scopes.append((kind, name))
            if kind == "type" and not hidden:
                line = code.count("\n", 0, match.start()) + 1
                yield line, "::".join(n for _, n in open_scopes)
        elif match.group(0) == "}" and open_scopes:
            open_scopes.pop()
        start = match.end()


def places(files):
    """{qualified name: where it is defined}, of names defined twice."""
    found = {}
    for file in files:
        if file.suffix in CODE:
            for line, name in types(file):
                found.setdefault(name, []).append(f"{file.path}:{line}")
    return {name: where for name, where in found.items() if len(where) > 1}


def check_names(files):
    """No two types have one qualified name."""
    twice = places(files)
    for name, where in sorted(twice.items()):
        if name.rpartition("::")[0] not in twice:
            yield f"{name}: defined in {' and in '.join(where)}"


def namespace_of(path):
    """The namespace of the room that `path` lies in or tests; None outside."""
    below = path.removeprefix("tests/")
    for folder, namespace in NAMESPACES.items():
        if below.startswith(folder + "/"):
            return namespace
    return OTHER_TESTS if below != path else None


def check_namespaces(files):
    """A file opens the namespace of its room, or one within it."""
    for file in files:
        room = namespace_of(file.path)
        if file.suffix not in CODE or room is None:
            continue
        for match in re.finditer(r"^namespace (frostline[\w:]*) \{", file.code(),
                                 re.MULTILINE):
            name = match.group(1)
            within = room != "frostline" and name.startswith(room + "::")
            if name == room or within:
                continue
            line = file.code().count("\n", 0, match.start()) + 1
            yield f"{file.path}:{line}: opens {name}, not {room}"
