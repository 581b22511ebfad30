# SPDX-License-Identifier: Apache-2.0
"""recipes/tables: samples, weights without the words that no sample has, and
tables from what studies recorded. Made-up data in the public sets' forms."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parents[2] / "recipes" / "tables"
sys.path.insert(0, str(FOLDER))

import pack  # noqa: E402
import pack_depths  # noqa: E402

VOCABULARY = ["[PAD]", "[UNK]", "good", "bad", "food", "##s", "zebra", "dog"]


def write_data(folder):
    """1,200 short reviews and 600 tagged sentences, all different."""
    (folder / "uci_sentiment").mkdir()
    for name in ("amazon_cells", "yelp"):
        lines = [f"good bad food {name} {n} \t{n % 2}\n" for n in range(600)]
        (folder / "uci_sentiment" / f"{name}_labelled.txt").write_text(
            "".join(lines), "utf-8")
    (folder / "ud_ewt").mkdir()
    for split in ("train", "dev"):
        sentences = ["".join(f"{word}\tfoods{n}\tfood\tNOUN{5 * chr(9)}_\n"
                             for word in range(1, 6)) for n in range(300)]
        (folder / "ud_ewt" / f"en_ewt-ud-{split}.conllu").write_text(
            "# text\n" + "\n".join(sentences) + "\n", "utf-8")


def write_model(folder):
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    (folder / "config.json").write_text('{"vocab_size": 8}', "utf-8")
    words = struct.pack("<16f", *range(16))
    header = json.dumps({
        "embeddings.word_embeddings.weight":
            {"dtype": "F32", "shape": [8, 2], "data_offsets": [0, 64]},
        "other": {"dtype": "F32", "shape": [1], "data_offsets": [64, 68]},
    }).encode()
    (folder / "model.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header + words +
        struct.pack("<f", 7.0))


def read_weights(path):
    blob = path.read_bytes()
    begin = 8 + struct.unpack("<Q", blob[:8])[0]
    tensors = {}
    for name, each in json.loads(blob[8:begin]).items():
        first, last = (begin + place for place in each["data_offsets"])
        tensors[name] = struct.unpack(f"<{(last - first) // 4}f",
                                      blob[first:last])
    return tensors


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-B", FOLDER / script, *map(str, arguments)],
        capture_output=True, text=True)


class Registry(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name)
        for name in ("data", "model"):
            (root / name).mkdir()
        write_data(root / "data")
        write_model(root / "model")
        self.out = root / "out"
        made = run("make_registry.py", "--data", root / "data",
                   "--model", root / "model", "--out", self.out)
        self.assertEqual(made.returncode, 0, made.stderr)

    def rows(self, name):
        return (self.out / name).read_text("utf-8").splitlines()

    def test_reviews_have_equally_many_of_both_classes_and_no_row_twice(self):
        train, held_out = (self.rows(f"reviews/{split}.tsv")
                           for split in ("train", "validation"))
        self.assertEqual((len(train), len(held_out)), (128, 240))
        self.assertEqual(len(set(train + held_out)), 368)
        for rows in (train, held_out):
            self.assertEqual(sum(row.endswith("\t1") for row in rows),
                             len(rows) // 2)

    def test_sentences_are_whole(self):
        rows = self.rows("tagging/train.conllu")
        self.assertEqual(sum(not row for row in rows), 128)
        self.assertEqual(sum(row.startswith("5\t") for row in rows), 128)

    def test_only_words_that_no_sample_has_are_left_out(self):
        self.assertEqual(self.rows("minilm/vocab.txt"), VOCABULARY[:6])
        weights = read_weights(self.out / "minilm" / "model.safetensors")
        self.assertEqual(weights["embeddings.word_embeddings.weight"],
                         tuple(range(12)))
        self.assertEqual(weights["other"], (7.0,))
        config = json.loads("".join(self.rows("minilm/config.json")))
        self.assertEqual(config["vocab_size"], 6)


def study(seed):
    rates = {"levels": {"rates": [0, 0.0003]}}
    return {"spec": {
        "model": {"layers": 2}, "data": {"id": "reviews"},
        "objectives": [{"metric": "accuracy",
                        "direction": "DIRECTION_MAXIMIZE"}],
        "space": {"ties": [{"name": "low", "modules": ["layer.0-1"], **rates}],
                  "modules": [{"select": "head", "fixed": 0.001}]},
        "training": {"seed": seed}}}


def trial(rate, accuracy, state="SUCCEEDED"):
    metrics = {"accuracy": accuracy, "trained_parameters": 1234567.0}
    return {"name": "t", "state": f"TRIAL_STATE_{state}",
            **({"usage": {"total_seconds": 2.5}} if state == "SUCCEEDED" else {}),
            "parameters": [{"name": "low", "value": rate}],
            "metrics": metrics if state == "SUCCEEDED" else {}}


class Pack(unittest.TestCase):
    def pack(self, *parts):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "reviews").mkdir()
            (root / "reviews" / "validation.tsv").write_text("a\t1\n" * 8)
            pairs = []
            for seed, trials in enumerate(parts, 1):
                first, second = root / f"{seed}.json", root / f"{seed}.t.json"
                first.write_text(json.dumps(study(seed)))
                second.write_text(json.dumps({"trials": trials}))
                pairs.append(f"{first}={second}")
            done = run("pack.py", "--registry", root,
                       "--out", root / "one.table", *pairs)
            table = root / "one.table"
            return done, table.read_text() if table.exists() else ""

    def test_seeds_stand_side_by_side(self):
        _, text = self.pack([trial(0.0003, 0.5), trial(0, 0.25)],
                            [trial(0, 0.375)])
        lines = [line for line in text.splitlines() if line[0] != "#"]
        self.assertEqual([line.split(",")[:4] for line in lines[1:]],
                         [["0", "1", "succeeded", "0.25"],
                          ["0", "2", "succeeded", "0.375"],
                          ["0.0003", "1", "succeeded", "0.5"]])
        self.assertIn("# module layer.1 low\n# module head 0.001\n", text)
        self.assertIn("# outcomes 8\n", text)
        self.assertIn(",1234567,,2.5\n", text)

    def test_what_has_not_ended_is_left_out_and_what_diverged_has_no_metric(
            self):
        _, text = self.pack([trial(0, 0.5, "RUNNING"),
                             trial(0.0003, 0.5, "INFEASIBLE")])
        self.assertTrue(text.endswith("0.0003,1,infeasible,,,,,,,,,,,\n"))
        self.assertNotIn("\n0,", text)

    def test_a_rank_stands_before_its_rate(self):
        rated = study(1)
        rated["spec"]["space"]["ties"] = [
            {"name": "few", "modules": ["layer.0"], "rank": {"ranks": [0, 4]}},
            {"name": "rate", "modules": ["layer.*"], "levels": {"rates": [0.001, 0.01]}}]
        self.assertEqual(list(pack.Design(rated["spec"]).header("one", 8))[4:], [
            "# parameter rate 0.001 0.01", "# ranks few 0 4", "# module layer.0 few rate",
            "# module layer.1 rate", "# module head 0.001",
            "rate,few,seed,state," + ",".join(pack.METRICS)])

    def test_an_accuracy_of_other_rows_is_refused(self):
        done, _ = self.pack([trial(0, 0.3)])
        self.assertEqual(done.returncode, 1)
        self.assertIn("not judged by 8 outcomes", done.stderr)


class PackDepths(unittest.TestCase):
    @staticmethod
    def run_at(depth, accuracy, state="SUCCEEDED", **values):
        return {"state": f"TRIAL_STATE_{state}", "usage": {"total_seconds": 2.5},
                "metrics": {"accuracy": accuracy},
                "parameters": [{"name": name, "value": value} for name, value in
                               {"prefix_depth": depth, **values}.items()]}

    def test_a_line_has_a_point_at_all_its_depths_with_one_seed(self):
        first = [self.run_at(5, 0.25, rate=0.1), self.run_at(0, 0.5, rate=0.1),
                 self.run_at(0, 0.75, rate=0.2)]
        second = [self.run_at(0, 0.625, rate=0.1), self.run_at(5, 0.125, rate=0.1)]
        self.assertEqual(list(pack_depths.table_of([first, second])), [
            "rate,accuracy@0,seconds@0,accuracy@5,seconds@5",
            "0.1,0.5,2.5,0.25,2.5", "0.1,0.625,2.5,0.125,2.5"])

    def test_what_changes_nothing_at_a_depth_counts_for_all_its_values(self):
        trials = [self.run_at(0, 0.5, decay=1), self.run_at(0, 0.75, decay=0.5),
                  self.run_at(5, 0.25)]
        self.assertEqual(list(pack_depths.table_of([trials]))[1:],
                         ["0.5,0.75,2.5,0.25,2.5", "1,0.5,2.5,0.25,2.5"])

    def test_what_failed_is_left_out(self):
        trials = [self.run_at(0, 0.5, rate=0.1), self.run_at(5, 0.5, rate=0.1),
                  self.run_at(0, 0.5, "FAILED", rate=0.2)]
        self.assertEqual(len(list(pack_depths.table_of([trials]))), 2)


if __name__ == "__main__":
    unittest.main()
