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

# One a line: types that shared a name when this rule came. It only ever gets
# shorter: a name that is no longer shared must be taken out.
ALLOWED = "tests/style/shared_names.txt"


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
    allowed = {line for f in files if f.path == ALLOWED for line in f.lines
               if not line.startswith("#")}
    for name, where in sorted(twice.items()):
        outer = name.rpartition("::")[0]
        if name not in allowed and outer not in twice:
            yield f"{name}: defined in {' and in '.join(where)}"
    for name in sorted(allowed - set(twice)):
        yield f"{name}: is no longer shared, take it out of {ALLOWED}"
