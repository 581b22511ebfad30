# SPDX-License-Identifier: Apache-2.0
"""The contract with its comments, as protoc reads it. The few fields of a
descriptor set that are wanted are decoded here, so that no package is needed."""
import pathlib
import re
import struct
import subprocess
import tempfile

PROTO = pathlib.Path(__file__).resolve().parents[1] / "proto"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def decode(data):
    """{number: [values]} of one message; bytes stay bytes, 64 fixed bits are
    a double."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
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


def descriptor_set():
    protos = sorted((PROTO / "frostline" / "v1").glob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", "-I", PROTO, "--include_source_info",
                        f"--descriptor_set_out={out.name}", *protos], check=True)
        return pathlib.Path(out.name).read_bytes()
