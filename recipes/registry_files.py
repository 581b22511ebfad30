# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that make registries: the folders that are meant, rows
in an order that depends on their texts alone, files with their sums, and what
stands before weights."""
import hashlib
import json
import math
import struct


def below(folder, levels):
    """The folder and those in it, nearest first."""
    found = [folder]
    for one in found:
        if len(one.relative_to(folder).parts) < levels and one.is_dir():
            found += sorted(each for each in one.iterdir() if each.is_dir())
    return found


def find_data(given, places):
    """The folder with these public sets, some at least: the given one, one in
    it, or the one around it."""
    def sets_in(folder):
        return sum((folder / place).is_dir() for place in places)

    if given.is_dir():
        inner = max(below(given, 1), key=sets_in)
        for folder in (given, inner, given.resolve().parent):
            if sets_in(folder):
                return folder
    raise SystemExit(
        f"make_registry: {given} has none of the folders "
        f"{', '.join(sorted(places))}\n"
        "fix: name the folder that they are in with --data")


def find_model(given):
    """The folder with the weights: the given one, or the only one in it."""
    parts = ("config.json", "model.safetensors")
    found = [folder for folder in below(given, 3)
             if all((folder / part).is_file() for part in parts)]
    if given in found:
        return given
    if len(found) == 1:
        return found[0]
    what = "has no folder with" if not found else "has several folders with"
    raise SystemExit(
        f"make_registry: {given} {what} {' and '.join(parts)}"
        + "".join(f"\n  {folder}" for folder in found)
        + "\nfix: name the one of MiniLM with --model")


def safetensors_head(shapes):
    """What stands before the numbers, float32, of a safetensors file: the length
    of its header, and the names and shapes in the order of the numbers."""
    header, begin = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes:
        end = begin + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape),
                        "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def by_hash(rows, text_of=str):
    """Without repeats, in an order that depends on the texts alone."""
    unique = {text_of(row): row for row in rows}
    return [unique[text] for text in
            sorted(unique, key=lambda t: hashlib.sha256(t.encode()).digest())]


def write_set(out, name, ending, splits):
    """Writes the files; returns what datasets.yaml says of them."""
    lines = ["  splits:"]
    for split, text in splits.items():
        path = out / name / f"{split}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        digest = hashlib.sha256(text.encode()).hexdigest()
        print(f"{name} {split}: {digest}")
        lines.append(f"    {split}: {{path: {name}/{path.name}, "
                     f"sha256: {digest}}}")
    return lines
