#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trainer_page_test.py PROGRAMS: what the page about transformers' Trainer shows, run as it
stands there, with a small model instead of MiniLM."""
import os
import re
import shlex
import subprocess
import sys
import unittest

import transformers
import world
from pages_test import blocks
from world import ROOT, scratch, study

import frostline
from totals import run_and_count

PAGE = "how-to/transformers-trainer.md"
FLAGS = "--output_dir out --use_cpu --report_to none --disable_tqdm True --eval_strategy epoch "


def tiny_model(folder):
    """Six layers like MiniLM's, and a tokenizer of the reviews' letters."""
    folder.mkdir()
    letters = [chr(c) for c in range(33, 127)]
    (folder / "vocab.txt").write_text("\n".join(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + c for c in letters)]))
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=200, hidden_size=16, num_hidden_layers=6, num_attention_heads=2,
        intermediate_size=32)).save_pretrained(folder)


class Page(unittest.TestCase):
    def setUp(self):
        self.train, self.search = blocks(PAGE)[:2]  # the third is trl_test.py's
        os.environ["OMP_NUM_THREADS"] = "1"

    def prepare(self, folder):
        tiny_model(folder / "tiny")
        rows = (ROOT / "recipes/demo/reviews/train.tsv").read_text().split("\n")[:161]
        (folder / "reviews.tsv").write_text("\n".join(rows))
        text = self.train.replace("sentence-transformers/all-MiniLM-L6-v2", "tiny")
        (folder / "train.py").write_text(text)

    def test_the_script_by_hand_and_as_a_search(self):
        with scratch() as folder:
            self.prepare(folder)
            alone = subprocess.run(
                [sys.executable, "train.py", *shlex.split(FLAGS), "--max_steps", "2"],
                cwd=folder, capture_output=True, text=True, timeout=120)
            self.assertEqual(0, alone.returncode, alone.stderr)
            search = self.search.replace("budget=20", "budget=2").replace(
                "--output_dir out ", FLAGS).replace(
                "--num_train_epochs 1 --eval_strategy epoch", "--num_train_epochs 1")
            (folder / "search.py").write_text(search)
            done = subprocess.run([sys.executable, "search.py"], cwd=folder,
                                  capture_output=True, text=True, timeout=240)
            with frostline.local(folder / "frost") as client:
                results = list(client.study("reviews").results())
        self.assertRegex(done.stdout, r"COMPLETED \[0\.\d+\]", done.stderr)
        self.assertEqual(["SUCCEEDED"] * 2, [one.state for one in results], done.stderr)

    def test_torchrun_s_ranks_train_one_trial(self):
        page = (ROOT / "docs" / PAGE).read_text()
        command = re.search(r'--exec "(torchrun [^"]*)"', page).group(1)
        command = command.replace("torchrun", f"{sys.executable} -m torch.distributed.run")
        with scratch() as folder, study(
                budget=1, maximize="accuracy", model={"id": "minilm", "layers": 6},
                space={"modules": {"layer.*": [0, 1e-4], "head": 1e-3, "pooler": 1e-3}}) \
                as (client, toy):
            self.prepare(folder)
            said = world.work(
                client, command.replace("--output_dir out --eval_strategy epoch",
                                        FLAGS + "--num_train_epochs 1 --save_strategy no"),
                folder / "runs", "--keep", "all", cwd=folder)
            log = "".join(p.read_text() for p in (folder / "runs").rglob("*.log"))
            self.assertEqual(["SUCCEEDED"], [one.state for one in toy.results()],
                             said.stderr + log)

    def test_flags_of_an_unedited_script(self):
        page = (ROOT / "docs" / PAGE).read_text()
        command = re.search(r'--exec "(frostline-command [^"]*)"', page).group(1)
        command = command.replace("python3", sys.executable).replace(
            "frostline-command", f"{sys.executable} -m frostline.command").replace(
            "--eval_strategy epoch", FLAGS.replace("--output_dir out", "") + "--max_steps 2")
        space = {"parameters": {"lr": {"float": [1e-5, 1e-3]}, "warmup": {"int": [0, 3]}}}
        with scratch() as folder, study(budget=1, maximize="accuracy", space=space) as (
                client, toy):
            self.prepare(folder)
            plain = "\n".join(
                line.replace("trial.apply(model, lr=args.learning_rate)",
                             "model.parameters(), lr=args.learning_rate")
                for line in (folder / "train.py").read_text().split("\n")
                if "= frostline." not in line and "callbacks=" not in line
                and "args.output_dir =" not in line).replace(
                "import frostline, ", "import ").replace(
                "resume_from_checkpoint=report.resume()", "")
            self.assertNotIn("frostline", plain)
            (folder / "run.py").write_text(plain)
            said = world.work(client, command, folder / "runs", "--keep", "all", cwd=folder)
            log = "".join(p.read_text() for p in (folder / "runs").rglob("*.log"))
            self.assertEqual(["SUCCEEDED"], [one.state for one in toy.results()],
                             said.stderr + log)


if __name__ == "__main__":
    sys.exit(run_and_count())
