# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that make registries: rows in an order that depends on
their texts alone, and files with their sums."""
import hashlib


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
