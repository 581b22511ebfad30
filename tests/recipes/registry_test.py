#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes/make_registry.py, on made-up rows in the forms of the public sets."""
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "recipes" / "make_registry.py"
SPLIT = re.compile(r"    (\w+): \{path: (\S+), sha256: (\w+)\}")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_data(folder):
    for name in ("imdb", "yelp", "amazon_cells"):
        write(folder / "uci_sentiment" / f"{name}_labelled.txt", "".join(
            f"{name} has line {n}.  \t{n % 2}\n" for n in range(1000)))
    for part in ("train", "dev", "test"):
        write(folder / "glue" / "RTE" / f"{part}.tsv",
              "index\tsentence1\tsentence2\tlabel\n" + "".join(
                  f"{n}\tA \"quote\" {n}.\tB {n}.\tentailment\n"
                  for n in range(30)))
        head = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n" \
            if part == "test" else ""
        write(folder / "glue" / "MRPC" / f"{part}.tsv", head + "".join(
            f"{n % 2}\t1\t2\tA {n}.\tB {n}.\n" for n in range(300)))
    write(folder / "cs224n" / "quora-dev.csv",
          "\tid\tsentence1\tsentence2\tis_duplicate\n" + "".join(
              f"{n}\tx\t\"Say \"\"{n}\"\"?\"\tWhy {n}?\t{n % 2}.0\n"
              for n in range(16_300)) + "9\tx\tNo label?\tNone?\t\n")
    for name in ("ids-sst", "ids-cfimdb"):
        for part in ("train", "dev"):
            write(folder / "cs224n" / f"{name}-{part}.csv",
                  "\tid\tsentence\tsentiment\n0\tx\tGood .\t3\n")
    for part in ("train", "dev"):
        write(folder / "cs224n" / f"sts-{part}.csv",
              "\tid\tsentence1\tsentence2\tsimilarity\n0\tx\tA.\tB.\t2.5\n")


class Registry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        write_data(root / "data")
        write(root / "model" / "inner" / "model.safetensors", "weights")
        write(root / "model" / "inner" / "config.json", "{}")
        cls.root = root
        cls.out = root / "out"
        cls.made = cls.make("data", "model/inner", "out")
        cls.entries = (cls.out / "datasets.yaml").read_text("utf-8")

    @classmethod
    def make(cls, data, model, out):
        return subprocess.run(
            [sys.executable, "-B", SCRIPT, "--data", cls.root / data, "--model",
             cls.root / model, "--out", cls.root / out],
            capture_output=True, text=True)

    def splits(self, name):
        """(path, sum) by the split's name."""
        of = self.entries.split(f"\n{name}:\n")[-1].split("\n  splits:\n")[1]
        lines = of.split("\n")
        known = (SPLIT.match(line) for line in lines)
        found = {}
        for match in known:
            if not match:
                break
            found[match.group(1)] = match.groups()[1:]
        return found

    def rows(self, name, split):
        path, _ = self.splits(name)[split]
        return (self.out / path).read_text("utf-8").splitlines()[1:]

    def test_what_is_not_there_is_left_out_and_said(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertIn("ewt: left out, ud_ewt is not there", self.made.stdout)
        self.assertNotIn("\newt:", self.entries)

    def test_the_folder_around_or_within_is_taken_for_the_one_that_is_meant(
            self):
        (self.root / "around").mkdir()
        (self.root / "around" / "data").symlink_to(self.root / "data")
        for data in ("around", "data/glue"):
            made = self.make(data, "model", "again")
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual((self.root / "again/datasets.yaml").read_text(),
                             self.entries)
            self.assertTrue(
                (self.root / "again/minilm/model.safetensors").is_file())

    def test_a_folder_with_nothing_is_refused_before_anything_is_written(self):
        for data, model, said in (("model", "model", "none of the folders"),
                                  ("data", "data", "has no folder with")):
            made = self.make(data, model, "not-made")
            self.assertEqual(made.returncode, 1)
            self.assertIn(said, made.stderr)
            self.assertIn("fix: ", made.stderr)
            self.assertNotIn("Traceback", made.stderr)
            self.assertFalse((self.root / "not-made").exists())

    def test_sums_are_those_of_the_files(self):
        for path, digest in re.findall(r"path: (\S+), sha256: (\w+)",
                                       self.entries):
            data = (self.out / path).read_bytes()
            self.assertEqual(hashlib.sha256(data).hexdigest(), digest)

    def test_sentences_are_split_into_three_without_a_row_in_two(self):
        parts = [self.rows("yelp", split)
                 for split in ("train", "validation", "test")]
        self.assertEqual([len(part) for part in parts], [600, 200, 200])
        self.assertEqual(len(set(sum(parts, []))), 1000)
        self.assertTrue(all(row.split("\t")[0].endswith(".")
                            for row in parts[0]))

    def test_a_small_set_has_the_same_rows_to_train_on_and_few_to_judge_by(
            self):
        whole, small = self.splits("mrpc"), self.splits("mrpc-small")
        self.assertEqual(whole["train"], small["train"])
        self.assertEqual(len(self.rows("mrpc", "validation")), 300)
        self.assertEqual(len(self.rows("mrpc-small", "validation")), 200)
        self.assertEqual(self.rows("mrpc", "test")[0], "A 0.\tB 0.\t0")

    def test_a_quote_is_text_in_one_form_and_ends_a_field_in_the_other(self):
        self.assertEqual(self.rows("rte", "train")[0],
                         "A \"quote\" 0.\tB 0.\tentailment")
        self.assertTrue(all(re.fullmatch(r"Say \"\d+\"\?\tWhy \d+\?\t[01]", row)
                            for row in self.rows("quora", "validation")))

    def test_quora_is_split_and_a_pair_without_a_label_left_out(self):
        self.assertEqual([len(self.rows("quora", split))
                          for split in ("train", "validation")],
                         [16_000, 300])


if __name__ == "__main__":
    unittest.main()
