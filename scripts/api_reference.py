#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""api_reference.py [--check]

Writes docs/reference/api.md from the comments of proto/frostline/v1: every
service, method, message, field and value. With --check it writes nothing, and
exits with 1 when the page is not what it would write. Comments come as protoc
reads them, in a descriptor set whose few fields are decoded here.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "api.md"
PACKAGE = ".frostline.v1."
NOT_SERVED = 51700  # in served.proto, of fields and of methods
SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32",
           8: "bool", 9: "string", 12: "bytes", 13: "uint32"}
MESSAGE, ENUM = 11, 14
REPEATED = 3
# file -> what its messages are called on the page, in this order; the services
# come first, in the same order. A file that is not here comes last, by its name.
PARTS = {"study_service": "Requests and replies of StudyService",
         "importance_service": "Requests and replies of ImportanceService",
         "worker_service": "Requests and replies of WorkerService",
         "admin_service": "Requests and replies of AdminService",
         "study": "Studies", "trial": "Trials", "trial_table": "Tables of trials",
         "importance": "Importance", "plan": "Plans", "worker": "Workers",
         "errors": "Details of errors", "served": "Marks"}
HEAD = """# The API, field by field

<!-- Written by scripts/api_reference.py from proto/frostline/v1: change it there. -->

What every call promises is in [contract.md](contract.md), how to call from Python, Go and C++ in
[how-to/grpc-client.md](../how-to/grpc-client.md), each error in [errors.md](errors.md).

A method that *changes something* carries a `request_id`. *Role* is the least that may call it once tokens and roles are served, as
[Role](#role) settles it; today everybody may who reaches the coordinator. *Errors* are those that the comments of a method and of its
request name; besides these any call may get those of the head of StudyService.
"""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def decode(data):
    """{number: [values]} of one message; bytes stay bytes."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"a descriptor has no wire type {tag & 7}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def one(fields, number, default=0):
    return fields.get(number, [default])[0]


def text(fields, number):
    return one(fields, number, b"").decode()


def unpacked(data):
    numbers, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        numbers.append(value)
    return tuple(numbers)


def plain(comment):
    """A comment as Markdown: its lines joined, its signs as they are."""
    paragraphs = [" ".join(p.split()) for p in comment.split("\n\n")]
    paragraphs = [p for p in paragraphs if not p.startswith("SPDX-")]
    joined = "\n\n".join(p for p in paragraphs if p)
    return re.sub(r"([*\[\]<>|])", r"\\\1", joined)


def comments_of(file):
    """{path of a declaration: what is said above it and behind it}."""
    said = {}
    for raw in decode(one(file, 9, b"")).get(1, []):
        location = decode(raw)
        parts = [text(location, number).strip() for number in (3, 4)]
        if any(parts):
            said[unpacked(one(location, 1, b""))] = plain(
                "\n".join(part for part in parts if part))
    return said


def link(name):
    """A link to a type of ours, a word for any other."""
    if not name.startswith(PACKAGE):
        return f"`{name.lstrip('.')}`"
    short = name[len(PACKAGE):]
    return f"[{short}](#{short.lower().replace('.', '')})"


class Api:
    def __init__(self, descriptor_set, catalogue):
        files = {}
        for raw in decode(descriptor_set)[1]:
            file = decode(raw)
            files[pathlib.Path(text(file, 1)).stem] = (file, comments_of(file))
        order = [*PARTS, *sorted(files.keys() - PARTS.keys())]
        self.files = {stem: files[stem] for stem in order if stem in files}
        self.errors = catalogue
        self.requests = {}  # type name -> (message, its path, comments)
        for file, said in self.files.values():
            for i, raw in enumerate(file.get(4, [])):
                message = decode(raw)
                self.requests[PACKAGE + text(message, 1)] = (
                    message, (4, i), said)

    # --- services ---

    def role(self, service, method, changes):
        if method == "WhoAmI":
            return "any"
        if method == "ListWorkers" or service == "ImportanceService":
            return "VIEWER"
        if service == "StudyService":
            return "RESEARCHER" if changes else "VIEWER"
        if service == "WorkerService" and method != "DrainWorker":
            return "WORKER"
        return "ADMIN"

    def errors_named(self, comment, request):
        message, path, said = self.requests[request]
        texts = [comment, said.get(path, "")]
        texts += [said.get(path + (2, i), "")
                  for i in range(len(message.get(2, [])))]
        words = set(re.findall(r"\b[A-Z][A-Z_]+[A-Z]\b", " ".join(texts)))
        return sorted(words & set(self.errors))

    def method(self, service, raw, comment):
        method = decode(raw)
        name, request = text(method, 1), text(method, 2)
        stream = "stream of " if one(method, 6) else ""
        fields = [text(decode(f), 1)
                  for f in self.requests[request][0].get(2, [])]
        changes = "request_id" in fields
        yield f"### {service}.{name}"
        yield f"{link(request)} → {stream}{link(text(method, 3))}"
        if comment:
            yield comment
        facts = ["Changes something." if changes else "Reads only.",
                 f"Role: {self.role(service, name, changes)}."]
        named = self.errors_named(comment, request)
        if named:
            facts.append("Errors: " + ", ".join(
                f"[{reason}](errors.md#{self.errors[reason]})"
                for reason in named) + ".")
        yield " ".join(facts)
        later = text(decode(one(method, 4, b"")), NOT_SERVED)
        if later:
            yield f"**Not served yet**: it comes with {later}."

    def services(self):
        for file, said in self.files.values():
            for i, raw in enumerate(file.get(6, [])):
                service = decode(raw)
                yield f"## {text(service, 1)}"
                yield said.get((12,), "")
                for j, method in enumerate(service.get(2, [])):
                    yield from self.method(text(service, 1), method,
                                           said.get((6, i, 2, j), ""))

    # --- messages and enums ---

    def type_of(self, field, maps):
        name = text(field, 6)
        if name in maps:
            key, value = (decode(raw) for raw in maps[name][2])
            return f"map of {self.type_of(key, {})} to " \
                   f"{self.type_of(value, {})}"
        kind = one(field, 5)
        word = link(name) if kind in (MESSAGE, ENUM) else SCALARS[kind]
        if one(field, 4) == REPEATED:
            return "repeated " + word
        return "optional " + word if one(field, 17) else word

    def field(self, raw, comment, message, maps):
        field = decode(raw)
        what = [" ".join(comment.split())]
        if 9 in field and not one(field, 17):
            group = decode(message[8][one(field, 9)])
            what.insert(0, f"One of `{text(group, 1)}`.")
        later = text(decode(one(field, 8, b"")), NOT_SERVED)
        if later:
            what.insert(0, f"**Not served yet**: comes with {later}.")
        words = " ".join(part for part in what if part)
        return f"| {one(field, 3)} | `{text(field, 1)}` | " \
               f"{self.type_of(field, maps)} | {words} |"

    def enum(self, raw, path, said, outer):
        enum = decode(raw)
        yield f"### {outer}{text(enum, 1)}"
        yield said.get(path, "")
        rows = ["| | value | |", "| --- | --- | --- |"]
        for i, value in enumerate(enum.get(2, [])):
            comment = " ".join(said.get(path + (2, i), "").split())
            rows.append(f"| {one(decode(value), 2)} | "
                        f"`{text(decode(value), 1)}` | {comment} |")
        yield "\n".join(rows)

    def message(self, raw, path, said, outer):
        message = decode(raw)
        name = outer + text(message, 1)
        nested = [decode(n) for n in message.get(3, [])]
        maps = {f"{PACKAGE}{name}.{text(n, 1)}": n for n in nested
                if one(decode(one(n, 7, b"")), 7)}
        yield f"### {name}"
        yield said.get(path, "")
        rows = ["| | field | type | |", "| --- | --- | --- | --- |"]
        rows += [self.field(field, said.get(path + (2, i), ""), message, maps)
                 for i, field in enumerate(message.get(2, []))]
        yield "\n".join(rows) if len(rows) > 2 else "No fields."
        for i, inner in enumerate(message.get(3, [])):
            if f"{PACKAGE}{name}.{text(nested[i], 1)}" not in maps:
                yield from self.message(inner, path + (3, i), said, name + ".")
        for i, inner in enumerate(message.get(4, [])):
            yield from self.enum(inner, path + (4, i), said, name + ".")

    def types(self):
        for stem, (file, said) in self.files.items():
            if not file.get(4) and not file.get(5):
                continue
            yield f"## {PARTS.get(stem, stem)}"
            if not file.get(6):
                yield said.get((12,), "")
            for i, raw in enumerate(file.get(4, [])):
                yield from self.message(raw, (4, i), said, "")
            for i, raw in enumerate(file.get(5, [])):
                yield from self.enum(raw, (5, i), said, "")

    def page(self):
        parts = [HEAD.rstrip(), *self.services(), *self.types()]
        return "\n\n".join(part for part in parts if part) + "\n"


def error_anchors():
    """{reason: its heading's anchor in errors.md}."""
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    found = re.findall(r"^### (FL-\d+) `(\w+)` \((\w+)\)$", page, re.MULTILINE)
    return {reason: f"{number}-{reason}-{code}".lower()
            for number, reason, code in found}


def descriptor_set():
    protos = sorted((ROOT / "proto" / "frostline" / "v1").glob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", "-I", ROOT / "proto", "--include_source_info",
                        f"--descriptor_set_out={out.name}", *protos], check=True)
        return pathlib.Path(out.name).read_bytes()


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    page = Api(descriptor_set(), error_anchors()).page()
    if not arguments:
        PAGE.write_text(page)
        return 0
    if not PAGE.exists() or PAGE.read_text() != page:
        print(f"{PAGE.relative_to(ROOT)} is not what the comments of the proto "
              "say: run `python3 scripts/api_reference.py`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
