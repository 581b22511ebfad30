#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trl_test.py PROGRAMS: the page's script for TRL's SFTTrainer, run as it stands there with
a tiny Llama: by hand, as a trial of one process and of torchrun's two ranks."""
import json
import os
import shlex
import subprocess
import sys
import unittest

import tokenizers
import transformers
import world
from pages_test import blocks
from world import attempts, scratch, study

from totals import run_and_count

PAGE = "how-to/transformers-trainer.md"
FLAGS = ("--output_dir out --use_cpu --bf16 False --report_to none --disable_tqdm True "
         "--eval_strategy epoch --save_strategy no --num_train_epochs 2 --learning_rate 1e-2")
SPACE = {"modules": {"layer.0": [0, 1e-2], "layer.1": 1e-2}, "parameters": {"rank": [2, 4]}}


def prepare(folder):
    """A Llama of two layers that knows eight words, and prompts with their answers."""
    script, = [one for one in blocks(PAGE) if "SFTTrainer" in one]
    (folder / "sft.py").write_text(script.replace("HuggingFaceTB/SmolLM2-135M", "tiny"))
    words = ["<pad>", "</s>", "say", "a", "b", "c", "d", "so"]
    text = tokenizers.Tokenizer(tokenizers.models.WordLevel(
        {word: k for k, word in enumerate(words)}, unk_token="<pad>"))
    text.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=text, pad_token="<pad>", eos_token="</s>",
    ).save_pretrained(folder / "tiny")
    transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, intermediate_size=32, pad_token_id=0, eos_token_id=1,
        bos_token_id=1, tie_word_embeddings=True)).save_pretrained(folder / "tiny")
    (folder / "answers.jsonl").write_text("\n".join(
        json.dumps({"prompt": f"say {one} {other} ", "completion": f"so {one}"})
        for one in "abcd" for other in "abcd" for _ in range(4)))


class Trl(unittest.TestCase):
    def setUp(self):
        os.environ["OMP_NUM_THREADS"] = "1"
        os.environ["HF_HOME"] = self.enterContext(world.tempfile.TemporaryDirectory())

    def train(self, *launcher, budget):
        with scratch() as folder, study(
                budget=budget, space=SPACE, model={"id": "tiny", "layers": 2, "no_pooler": True},
                minimize="loss") as (client, toy):
            prepare(folder)
            said = world.work(client, shlex.join([sys.executable, *launcher, "sft.py"])
                              + " " + FLAGS, folder / "runs", "--keep", "all", cwd=folder)
            log = "".join(p.read_text() for p in sorted((folder / "runs").rglob("*.log")))
            curve = client.call("StudyService", "ListMeasurements",
                                name="studies/toy/trials/0").get("measurements", [])
            return list(toy.results()), curve, attempts(client), said.stderr + log

    def test_the_script_runs_by_hand(self):
        with scratch() as folder:
            prepare(folder)
            alone = subprocess.run([sys.executable, "sft.py", *shlex.split(FLAGS)], cwd=folder,
                                   capture_output=True, text=True, timeout=120)
        self.assertEqual(0, alone.returncode, alone.stderr)
        self.assertIn("eval_mean_token_accuracy", alone.stdout)

    def test_each_evaluation_is_reported_and_the_adapters_moved(self):
        results, curve, _, log = self.train(budget=2)
        self.assertEqual(["SUCCEEDED"] * 2, [one.state for one in results], log)
        self.assertEqual(["7", "14"], [one["step"] for one in curve], log)
        self.assertEqual(curve[-1]["metrics"]["loss"], results[0].values[0])
        self.assertGreater(curve[0]["metrics"]["loss"], curve[1]["metrics"]["loss"])

    def test_two_ranks_train_one_trial(self):
        results, curve, tries, log = self.train(
            "-m", "torch.distributed.run", "--nproc_per_node=2", "--rdzv_backend=c10d",
            "--rdzv_endpoint=127.0.0.1:0", budget=1)
        self.assertEqual(["SUCCEEDED"], [one.state for one in results], log)
        self.assertEqual((1, ["4", "8"]), (len(tries), [one["step"] for one in curve]), log)


if __name__ == "__main__":
    sys.exit(run_and_count())
