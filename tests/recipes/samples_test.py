#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The samples are what their script writes, and every recipe comes to studies
that can be: names are known, points lie in spaces, what was published has a
run beside it."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import recipe_files
from recipe_files import FACTS, ROOT, Wrong

RECIPES = ROOT / "recipes"
SAMPLES = RECIPES / "samples"
NAMES = ("alf", "decoder-answers", "decoder-nli", "elsa", "elsa-heads",
         "multitask", "pos-partial", "pos-short", "rivals")
SCALES = ("sample", "tiny", "small", "full")
TOP = {"recipe", "format", "title", "question", "source", "found", "adds",
       "models", "data", "scales", "stages", "published", "highest_layer_rate", "answer"}
NEEDED = {"recipe", "format", "title", "question", "models", "data", "scales",
          "stages"}
OF_STAGE = {"about", "each", "skip_without_data", "skip_slow_precision", "runs", "compare", "across", "curve",
            "study"}
OF_RUN = {"strategy", "values", "for", "at", "line"}
ROWS = {"": 60, "-dev": 20}


def sample_rows(name, part):
    path = SAMPLES / f"{name}{part}.tsv"
    header, *lines = path.read_text("utf-8").splitlines()
    return header.split("\t"), [line.split("\t") for line in lines]


class Samples(unittest.TestCase):
    def test_the_script_writes_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, "-B", SAMPLES / "make_samples.py",
                            "--out", made], check=True)
            written = sorted(path.relative_to(made)
                             for path in pathlib.Path(made).rglob("*.*"))
            self.assertEqual(
                written,
                sorted(path.relative_to(SAMPLES)
                       for path in SAMPLES.rglob("*.*")
                       if path.suffix not in (".py", ".pyc", ".md")))
            for path in written:
                self.assertEqual((pathlib.Path(made) / path).read_bytes(),
                                 (SAMPLES / path).read_bytes(), path)

    def test_models_are_as_their_configurations_say(self):
        for model, words, table in (
                ("tiny", len((SAMPLES / "tiny/vocab.txt").read_text(
                    "utf-8").split()), "embeddings.word_embeddings.weight"),
                ("tiny-decoder", len(json.loads(
                    (SAMPLES / "tiny-decoder/tokenizer.json").read_text(
                        "utf-8"))["model"]["vocab"]),
                 "model.embed_tokens.weight")):
            folder = SAMPLES / model
            config = json.loads((folder / "config.json").read_text("utf-8"))
            self.assertEqual(words, config["vocab_size"])
            stored = (folder / "model.safetensors").read_bytes()
            length = int.from_bytes(stored[:8], "little")
            header = json.loads(stored[8:8 + length])
            header.pop("__metadata__")
            self.assertEqual(len(stored), 8 + length + max(
                each["data_offsets"][1] for each in header.values()))
            self.assertEqual(header[table]["shape"],
                             [config["vocab_size"], config["hidden_size"]])
            known = [recipe["models"][model] for recipe in (
                recipe_files.read_recipe(RECIPES / name / "recipe.yaml")
                for name in NAMES) if model in recipe["models"]]
            self.assertTrue(known, model)
            for each in known:
                self.assertEqual((each["layers"], each["heads"]),
                                 (config["num_hidden_layers"],
                                  config["num_attention_heads"]), model)

    def test_tables_have_their_rows_and_labels(self):
        for name, labels in (("sentiment", "01"), ("places", "01"),
                             ("goods", "01"), ("phrases", "01"),
                             ("pairs", "01"), ("sentiment5", "01234"),
                             ("rated", None), ("claims", (
                                 "entailment", "contradiction", "neutral"))):
            both = []
            for part, count in ROWS.items():
                header, rows = sample_rows(name, part)
                self.assertEqual(len(rows), count, (name, part))
                self.assertEqual({len(row) for row in rows}, {len(header)})
                found = {row[-1] for row in rows}
                if labels:
                    self.assertEqual(found, set(labels), (name, part))
                else:
                    self.assertTrue(all(0 <= float(each) <= 5
                                        for each in found))
                both += [tuple(row) for row in rows]
            self.assertEqual(len(set(both)), len(both), name)

    def test_sentences_have_ten_columns_and_known_tags(self):
        tags = set("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN "
                   "PUNCT SCONJ VERB".split())
        for part, count in ROWS.items():
            text = (SAMPLES / f"tags{part}.conllu").read_text("utf-8")
            blocks = text.strip().split("\n\n")
            self.assertEqual(len(blocks), count)
            for block in blocks:
                words = [line.split("\t") for line in block.split("\n")
                         if not line.startswith("#")]
                self.assertEqual({len(word) for word in words}, {10})
                self.assertEqual([word[0] for word in words],
                                 [str(n + 1) for n in range(len(words))])
                self.assertTrue({word[3] for word in words} <= tags)


@unittest.skipIf(recipe_files.yaml is None, "PyYAML is not installed")
class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipes = {name: recipe_files.read_recipe(
            RECIPES / name / "recipe.yaml") for name in NAMES}

    def each(self):
        """(what it is, recipe, scale, entry) of all there are."""
        for name, recipe in self.recipes.items():
            for scale in SCALES:
                for entry in recipe_files.entries(recipe, scale):
                    yield f"{name} {scale} {entry.name}", recipe, scale, entry

    def test_keys(self):
        for name, recipe in self.recipes.items():
            self.assertEqual((recipe["recipe"], recipe["format"]), (name, 1))
            self.assertTrue(NEEDED <= set(recipe) <= TOP, name)
            self.assertEqual(tuple(recipe["scales"]), SCALES, name)
            self.assertTrue(all("about" in scale
                                for scale in recipe["scales"].values()), name)
            for stage in recipe["stages"].values():
                self.assertTrue({"about", "study"} <= set(stage) <= OF_STAGE)
                for run in stage.get("runs", {}).values():
                    self.assertTrue(set(run) <= OF_RUN, run)

    def test_every_value_is_said_at_every_scale_and_used_at_one(self):
        for name, recipe in self.recipes.items():
            values = [set(scale) for scale in recipe["scales"].values()]
            self.assertEqual(set().union(*values), set.intersection(*values),
                             name)
            asked = set(re.findall(r"[a-z]\w*", " ".join(re.findall(
                r"\$\{([^}]*)\}",
                (RECIPES / name / "recipe.yaml").read_text("utf-8")))))
            self.assertEqual(values[0] - asked - {"about", "model", "data",
                                                  "seeds"}, set(), name)

    def test_stages_come_to_studies_whose_runs_lie_in_their_spaces(self):
        for what, _, _, entry in self.each():
            self.assertRegex(what.replace(" ", "-"), r"\A[a-z0-9._-]{1,64}\Z")
            study = entry.study
            try:
                recipe_files.check_keys(study)
                for run in entry.runs.values():
                    recipe_files.check_point(study, run)
            except Wrong as wrong:
                self.fail(f"{what}: {wrong}")
            self.assertTrue({"maximize", "minimize"} & set(study), what)
            self.assertEqual("budget" in study, not entry.runs, what)
            if entry.compare:
                self.assertIn(entry.compare["to"], entry.runs, what)

    def test_models_and_data_are_described(self):
        for what, recipe, scale, entry in self.each():
            study = entry.study
            self.assertIn(study["model"]["id"], recipe["models"], what)
            sets = [study["data"]] if "data" in study else \
                [task["data"] for task in study["tasks"].values()]
            for each in sets:
                self.assertIn(each["id"], recipe["data"], what)
                if scale == "sample":
                    self.assertTrue(list(SAMPLES.glob(f"{each['id']}.*")),
                                    what)
        for recipe in self.recipes.values():
            for model in recipe["models"].values():
                self.assertTrue({"what", "where", "add"} <= set(model) <=
                                {"what", "where", "add", *FACTS})
            for data in recipe["data"].values():
                self.assertEqual(set(data), {"what", "where", "add"})

    def test_what_was_published_has_a_run_at_full(self):
        for name, recipe in self.recipes.items():
            known = {entry.name: entry
                     for entry in recipe_files.entries(recipe, "full")}
            for place, table in recipe.get("published", {}).items():
                self.assertIn(place, known, name)
                self.assertTrue(set(table) <= {"examples", "runs"}, place)
                self.assertTrue(set(table["runs"]) <= set(known[place].runs),
                                (name, place))

    def test_a_name_that_nothing_says_is_found(self):
        recipe = dict(self.recipes["pos-short"])
        recipe["scales"] = {"sample": {
            key: value for key, value in recipe["scales"]["sample"].items()
            if key != "frozen"}}
        with self.assertRaisesRegex(Wrong, "nothing says what frozen is"):
            list(recipe_files.entries(recipe, "sample"))

    def test_a_stage_that_comes_later_is_found(self):
        recipe = dict(self.recipes["elsa"])
        recipe["stages"] = dict(reversed(recipe["stages"].items()))
        with self.assertRaisesRegex(Wrong, "line .* does not come earlier"):
            list(recipe_files.entries(recipe, "sample"))

    def test_a_rate_that_is_no_level_is_found(self):
        entry = list(recipe_files.entries(self.recipes["pos-short"],
                                          "sample"))[0]
        with self.assertRaisesRegex(Wrong, "cannot have the rate 0.5"):
            recipe_files.check_point(entry.study, {"strategy": {"full": 0.5}})


if __name__ == "__main__":
    unittest.main()
