#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the registry that the tables are recorded with.

usage: make_registry.py --data DIR --model DIR --out DIR

DIR of --data has two public data sets, as their authors publish them:
  uci_sentiment/   Sentiment Labelled Sentences (UCI 331; Kotzias et al. 2015):
                   amazon_cells_labelled.txt, yelp_labelled.txt
  ud_ewt/          Universal Dependencies English EWT 2.16 (CC BY-SA 4.0):
                   en_ewt-ud-train.conllu, en_ewt-ud-dev.conllu
DIR of --model has config.json, vocab.txt and model.safetensors of MiniLM
(all-MiniLM-L6-v2: six layers of 384).

Samples are short texts in the order of a hash of their words, so that anybody
who has the same files takes the same rows. Fingerprints are printed.
"""
import argparse
import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from registry_files import (  # noqa: E402
    by_hash, find_data, find_model, write_set)

REVIEWS = {"train": 128, "validation": 240}
TAGGING = {"train": 128, "validation": 160}
REVIEW_WORDS = range(3, 9)
TAGGED_WORDS = range(4, 9)


def reviews(folder):
    """Equally many of both classes in both splits."""
    rows = []
    for name in ("amazon_cells_labelled.txt", "yelp_labelled.txt"):
        for line in (folder / name).read_text("utf-8").split("\n"):
            text, tab, label = line.rpartition("\t")
            text = " ".join(text.split())
            if tab and len(text.split()) in REVIEW_WORDS:
                rows.append((text, label))
    rows = by_hash(rows, lambda row: row[0])
    taken, splits = {"0": 0, "1": 0}, {}
    for split, count in REVIEWS.items():
        splits[split] = []
        for label in taken:
            known = [row for row in rows if row[1] == label]
            begin, taken[label] = taken[label], taken[label] + count // 2
            splits[split] += known[begin:taken[label]]
        splits[split] = by_hash(splits[split], lambda row: row[0])
    return {split: "".join(f"{text}\t{label}\n" for text, label in rows)
            for split, rows in splits.items()}


def sentences(path):
    for block in path.read_text("utf-8").strip().split("\n\n"):
        lines = [line for line in block.split("\n") if line[:1].isdigit()]
        words = [line for line in lines if line.split("\t")[0].isdigit()]
        if len(words) == len(lines) and len(words) in TAGGED_WORDS:
            yield words


def tagging(folder):
    files = {"train": "en_ewt-ud-train.conllu",
             "validation": "en_ewt-ud-dev.conllu"}
    splits = {}
    for split, name in files.items():
        rows = by_hash(sentences(folder / name), lambda words: " ".join(
            line.split("\t")[1] for line in words))[:TAGGING[split]]
        splits[split] = "".join("\n".join(row) + "\n\n" for row in rows)
    return splits


def kept_tokens(vocabulary, texts):
    """All tokens that a text of the samples can be cut into, and then some:
    whatever occurs in one as a part. A word is cut into its longest parts, so
    without the others it is cut the same."""
    corpus = "\n".join(texts).lower()
    return [number for number, token in enumerate(vocabulary)
            if token.startswith("[") or token.removeprefix("##") in corpus]


def write_weights(source, path, kept):
    """The weights as they are, of the word embeddings the rows `kept`."""
    blob = source.read_bytes()
    begin = 8 + int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8:begin])
    header.pop("__metadata__", None)
    data, written = bytearray(), {}
    for name, tensor in header.items():
        first, last = (begin + place for place in tensor["data_offsets"])
        part = blob[first:last]
        if name.endswith("word_embeddings.weight"):
            row = len(part) // tensor["shape"][0]
            part = b"".join(part[row * n:row * (n + 1)] for n in kept)
            tensor["shape"][0] = len(kept)
        written[name] = dict(tensor, data_offsets=[
            len(data), len(data) + len(part)])
        data += part
    text = json.dumps(written).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write_model(source, out, texts):
    """MiniLM without the words that no sample has: they would not move, and
    the optimizer takes as long for each of them as for any other."""
    folder = out / "minilm"
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = (source / "vocab.txt").read_text("utf-8").split("\n")
    kept = kept_tokens([token for token in vocabulary if token], texts)
    (folder / "vocab.txt").write_text(
        "".join(vocabulary[n] + "\n" for n in kept), "utf-8")
    config = json.loads((source / "config.json").read_text("utf-8"))
    config["vocab_size"] = len(kept)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write_weights(source / "model.safetensors",
                  folder / "model.safetensors", kept)
    digest = hashlib.sha256(
        (folder / "model.safetensors").read_bytes()).hexdigest()
    print(f"minilm, {len(kept)} of {len(vocabulary) - 1} tokens: {digest}")
    (out / "models.yaml").write_text(
        f"minilm:\n  path: minilm\n  sha256: {digest}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("data", "model", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.data = find_data(options.data, {"uci_sentiment", "ud_ewt"})
    options.model = find_model(options.model)
    options.out.mkdir(parents=True, exist_ok=True)
    lines = ["reviews:", "  task: classification", "  format: tsv",
             "  header: false", "  names: [text, label]"]
    sets = {"reviews": reviews(options.data / "uci_sentiment"),
            "tagging": tagging(options.data / "ud_ewt")}
    lines += write_set(options.out, "reviews", "tsv", sets["reviews"])
    lines += ["tagging:", "  task: tagging", "  format: conllu"]
    lines += write_set(options.out, "tagging", "conllu", sets["tagging"])
    (options.out / "datasets.yaml").write_text("\n".join(lines) + "\n")
    write_model(options.model, options.out,
                [text for each in sets.values() for text in each.values()])


if __name__ == "__main__":
    main()
