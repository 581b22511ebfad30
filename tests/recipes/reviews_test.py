#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo's reviews are what their generator makes, and what their page says."""
import collections
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parents[2] / "recipes" / "demo" / "reviews"
SPLITS = {"train": 400, "validation": 200}
CLASSES = ("negative", "positive")


def rows_of(split):
    lines = (FOLDER / f"{split}.tsv").read_text().splitlines()
    assert lines[0] == "text\tlabel"
    return [tuple(line.split("\t")) for line in lines[1:]]


def words_of(text):
    return re.findall(r"\w+", text.lower())


class NaiveBayes:
    """Multinomial, over words, with add-one smoothing and equal priors."""

    def __init__(self, rows):
        self.counts = {each: collections.Counter() for each in CLASSES}
        for text, label in rows:
            self.counts[label].update(words_of(text))
        self.known = set().union(*self.counts.values())

    def score(self, text, label):
        counts = self.counts[label]
        total = sum(counts.values()) + len(self.known)
        return sum(math.log((counts[word] + 1) / total)
                   for word in words_of(text) if word in self.known)

    def accuracy(self, rows):
        right = sum(label == max(CLASSES, key=lambda c: self.score(text, c))
                    for text, label in rows)
        return right / len(rows)


class Reviews(unittest.TestCase):
    def test_the_generator_makes_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, "-B", FOLDER / "make_reviews.py",
                            "--out", made], check=True)
            for split in SPLITS:
                self.assertEqual((FOLDER / f"{split}.tsv").read_bytes(),
                                 (pathlib.Path(made) / f"{split}.tsv").read_bytes())

    def test_counts_and_balance(self):
        for split, count in SPLITS.items():
            labels = collections.Counter(label for _, label in rows_of(split))
            self.assertEqual(labels, {each: count // 2 for each in CLASSES})

    def test_no_sentence_is_there_twice(self):
        texts = [text for split in SPLITS for text, _ in rows_of(split)]
        self.assertEqual(len(set(texts)), sum(SPLITS.values()))

    def test_both_classes_have_words_of_either_kind(self):
        for split in SPLITS:
            for label in CLASSES:
                words = {word for text, each in rows_of(split)
                         if each == label for word in words_of(text)}
                for word in ("good", "bad", "excellent", "awful"):
                    self.assertTrue(word in words, (word, split, label))

    def test_counting_words_is_not_enough(self):
        bayes = NaiveBayes(rows_of("train"))
        accuracy = bayes.accuracy(rows_of("validation"))
        self.assertGreater(accuracy, 0.6)
        self.assertLess(accuracy, 0.8)


if __name__ == "__main__":
    unittest.main()
