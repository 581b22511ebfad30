#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the registry that the recipes need at the scales tiny and small.

usage: make_registry.py --data DIR --model DIR --out DIR

DIR of --data has public data sets, each in a folder as its authors publish it.
A folder that is not there is passed over, and said:
  imdb/             train.tsv, test.tsv: label, file and text of a review a line
  uci_sentiment/    Sentiment Labelled Sentences (UCI 331): imdb_labelled.txt,
                    yelp_labelled.txt, amazon_cells_labelled.txt
  ud_ewt/, ud_naija/  Universal Dependencies: en_ewt-ud-*, pcm_nsc-ud-*.conllu
  cs224n/           SST-5, CFIMDB, STS and Quora of the minBERT course project
  glue/             SST-2, MRPC, RTE, WNLI, STS-B: train, dev and test.tsv with
                    labels
  cola/             in_domain_train, in_domain_dev, out_of_domain_dev.tsv
DIR of --model has config.json, model.safetensors and the tokenizer's files of
MiniLM (all-MiniLM-L6-v2: six layers of 384).
Either may be the folder around the one that is meant, and DIR of --data one of
the folders in it. Both are looked at before anything is written.

Beside a set with many rows to judge by stands ID-small, which has the same rows
to train on and 200 (of IMDb 400) of the others. Of Quora the published files
have labels in the dev file alone: its pairs are split into training and
validation, which is a stand-in. Rows are taken in the order of a hash of their
texts, so that anybody who has the same files takes the same.
"""
import argparse
import csv
import hashlib
import os
import pathlib
import shutil

from registry_files import by_hash, find_data, find_model, write_set

SMALL = 200
HELD_OUT = 200  # of the 1,000 sentences of each set of UCI 331
REVIEWS = {"train": 2400, "validation": 400, "test": 400}
QUORA_TRAIN = 16_000

PLAIN = ["  task: classification"]
PAIR = ["  task: pair",
        "  columns: {text: text, second: second, label: label}"]
NUMBERS = ["  task: regression", PAIR[1]]


def lines_of(path):
    return [line for line in path.read_text("utf-8-sig").split("\n") if line]


def fields_of(path, *places, skip=0):
    """The fields of each line at these places; a quote is text."""
    for line in lines_of(path)[skip:]:
        fields = line.rstrip("\r").split("\t")
        yield tuple(fields[place] for place in places)


def columns_of(path, *names):
    """Columns of a table that pandas wrote with tabs; rows without a label,
    which comes last, are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row[names[-1]]:
                yield tuple(row[name] or "" for name in names)


def plain(text):
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


def table(rows):
    rows = list(rows)
    header = ("text", "second", "label") if len(rows[0]) == 3 \
        else ("text", "label")
    return "".join("\t".join(map(plain, row)) + "\n" for row in [header, *rows])


def in_order(rows):
    return by_hash(list(rows), "\t".join)


def imdb(folder):
    return {split: list(fields_of(folder / "imdb" / f"{split}.tsv", 2, 0))
            for split in ("train", "test")}


def some_reviews(rows):
    """Of IMDb, with validation rows of its own; each class in equal parts."""
    taken = {}
    for split, source in (("train", "train"), ("validation", "train"),
                          ("test", "test")):
        begin = REVIEWS["train"] // 2 if split == "validation" else 0
        taken[split] = in_order(
            row for label in "01"
            for row in in_order(r for r in rows[source] if r[1] == label)
            [begin:begin + REVIEWS[split] // 2])
    return taken


def sentences(name):
    def read(folder):
        rows = in_order(
            (text.strip(), label) for text, _, label in
            (line.rpartition("\t") for line in lines_of(
                folder / "uci_sentiment" / f"{name}_labelled.txt")))
        return {"train": rows[2 * HELD_OUT:], "validation": rows[:HELD_OUT],
                "test": rows[HELD_OUT:2 * HELD_OUT]}
    return read


def of_course(name, *columns):
    def read(folder):
        return {split: list(columns_of(
            folder / "cs224n" / f"{name}-{part}.csv", *columns))
            for split, part in (("train", "train"), ("validation", "dev"))}
    return read


def quora(folder):
    rows = in_order(
        (first, second, str(int(float(label)))) for first, second, label in
        columns_of(folder / "cs224n" / "quora-dev.csv", "sentence1",
                   "sentence2", "is_duplicate"))
    return {"train": rows[:QUORA_TRAIN], "validation": rows[QUORA_TRAIN:]}


def glue(name, *places, headers=(1, 1, 1), test_places=None):
    """`headers`: how many lines stand above the rows of train, dev, test."""
    def read(folder):
        files = zip(("train", "validation", "test"), ("train", "dev", "test"),
                    headers, (places, places, test_places or places))
        return {split: list(fields_of(folder / "glue" / name / f"{part}.tsv",
                                      *of, skip=skip))
                for split, part, skip, of in files}
    return read


def cola(folder):
    return {split: list(fields_of(folder / "cola" / f"{name}.tsv", 3, 1))
            for split, name in (("train", "in_domain_train"),
                                ("validation", "in_domain_dev"),
                                ("test", "out_of_domain_dev"))}


def treebank(name, prefix):
    def read(folder):
        return {split: (folder / name / f"{prefix}-ud-{part}.conllu")
                .read_text("utf-8").strip().split("\n\n")
                for split, part in (("train", "train"), ("validation", "dev"),
                                    ("test", "test"))}
    return read


# id: the folder it is read from, how, what kind of rows, and whether there are
# so many to judge by that a small set stands beside.
SETS = {
    "imdb": ("imdb", imdb, PLAIN, False),
    "imdb-sentences": ("uci_sentiment", sentences("imdb"), PLAIN, False),
    "yelp": ("uci_sentiment", sentences("yelp"), PLAIN, False),
    "amazon": ("uci_sentiment", sentences("amazon_cells"), PLAIN, False),
    "sst2": ("glue/SST-2", glue("SST-2", 1, 0), PLAIN, True),
    "ewt": ("ud_ewt", treebank("ud_ewt", "en_ewt"), None, True),
    "naija": ("ud_naija", treebank("ud_naija", "pcm_nsc"), None, True),
    "sst5": ("cs224n", of_course("ids-sst", "sentence", "sentiment"), PLAIN,
             True),
    "cfimdb": ("cs224n", of_course("ids-cfimdb", "sentence", "sentiment"),
               PLAIN, False),
    "sts": ("cs224n", of_course("sts", "sentence1", "sentence2", "similarity"),
            NUMBERS, True),
    "quora": ("cs224n", quora, PAIR, True),
    "cola": ("cola", cola, PLAIN, True),
    "mrpc": ("glue/MRPC", glue("MRPC", 3, 4, 0, headers=(0, 0, 1)), PAIR, True),
    "rte": ("glue/RTE", glue("RTE", 1, 2, 3), PAIR, False),
    "wnli": ("glue/WNLI", glue("WNLI", 1, 2, 3), PAIR, False),
    "stsb": ("glue/STS-B", glue("STS-B", 7, 8, 9, headers=(0, 0, 1)), NUMBERS,
             True),
}


def words_of(block):
    return " ".join(line.split("\t")[1] for line in block.split("\n")
                    if line[:1].isdigit())


def judged_by_few(rows, kind):
    """All splits but the training one, cut."""
    order = in_order if kind else lambda blocks: by_hash(blocks, words_of)
    return {split: order(of)[:SMALL] for split, of in rows.items()
            if split != "train"}


def write_rows(out, name, rows, kind):
    """Returns the lines of its splits."""
    if kind:
        return write_set(out, name, "tsv",
                         {split: table(of) for split, of in rows.items()})
    return write_set(out, name, "conllu",
                     {split: "\n\n".join(of) + "\n\n"
                      for split, of in rows.items()})


def entry(name, kind, splits):
    form = ["  format: tsv", *kind] if kind else \
        ["  format: conllu", "  task: tagging"]
    return "".join(line + "\n" for line in [f"{name}:", *form, *splits])


def data_sets(folder, out):
    """The text of datasets.yaml."""
    text = ""
    for name, (place, read, kind, cut) in SETS.items():
        if not (folder / place).is_dir():
            print(f"{name}: left out, {place} is not there")
            continue
        rows = read(folder)
        splits = write_rows(out, name, rows, kind)
        text += entry(name, kind, splits)
        if cut:
            few = write_rows(out, f"{name}-small", judged_by_few(rows, kind),
                             kind)
            text += entry(f"{name}-small", kind,
                          [few[0], splits[1], *few[1:]])
        if name == "imdb":
            some = some_reviews(rows)
            text += entry("imdb-small", kind,
                          write_rows(out, "imdb-small", some, kind))
    return text


def link_or_copy(source, target):
    """Without a copy where both are on one disk."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def write_model(source, out):
    folder = out / "minilm"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "model.safetensors", "vocab.txt",
                 "tokenizer.json", "tokenizer_config.json"):
        if (source / name).exists():
            link_or_copy((source / name).resolve(), folder / name)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes())
    (out / "models.yaml").write_text(
        f"minilm:\n  path: minilm\n  sha256: {digest.hexdigest()}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, text in (
            ("data", "has the public data sets, or is the folder around them"),
            ("model", "MiniLM's, or the folder around it"),
            ("out", "becomes the registry")):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True,
                            metavar="DIR", help=text)
    options = parser.parse_args()
    data = find_data(options.data, {place for place, *_ in SETS.values()})
    model = find_model(options.model)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "datasets.yaml").write_text(
        data_sets(data, options.out), "utf-8")
    write_model(model, options.out)


if __name__ == "__main__":
    main()
