# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that make registries: the folders that are meant, rows
in an order that depends on their texts alone, and files with their sums."""
import hashlib


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
