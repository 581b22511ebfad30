#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory_test.py PROGRAMS: a study under a bound on memory, with the real worker and
trainer: what is predicted of it beside what its trials took."""
import json
import os
import re
import subprocess
import sys
import time
import unittest

from world import PROGRAMS, ROOT, coordinator, scratch

sys.path.insert(0, str(ROOT / "recipes" / "samples"))

import transformers

import frostline
import make_samples  # a tokenizer of bytes
from totals import run_and_count

SHAPE = dict(vocab_size=4000, hidden_size=128, num_hidden_layers=6, num_attention_heads=4,
             intermediate_size=512, max_position_embeddings=64)
DATA = {"id": "rows", "task": "classification", "validation_share": 0.2}
MODULES = {"embeddings": [0, 1e-4], "layer.*": [0, 1e-4], "pooler": 1e-3, "head": 1e-3}
TRAINING = {"epochs": 2, "batch_size": 8, "max_length": 48, "precision": "fp32"}
METRIC = "peak_memory_mib"


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = scratch()
        cls.addClassCleanup(place.__exit__, None, None, None)
        cls.addClassCleanup(os.chdir, ROOT)
        os.chdir(place.__enter__())
        cls.make_registry()
        served = coordinator()
        cls.addClassCleanup(served.__exit__, None, None, None)
        cls.address, _ = served.__enter__()
        cls.client = frostline.connect(cls.address)
        cls.addClassCleanup(cls.client.close)
        cls.free = cls.create("free", budget=24)
        cls.work("free")
        cls.trials = list(cls.free.results(rates=True))

    @classmethod
    def make_registry(cls):
        words = [f"w{i}" for i in range(300)]
        transformers.set_seed(1)
        transformers.BertForSequenceClassification(
            transformers.BertConfig(**SHAPE)).save_pretrained("small")
        with open("small/vocab.txt", "w", encoding="utf-8") as file:
            file.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n")
        with open("rows.csv", "w", encoding="utf-8") as file:
            file.write("text,label\n")
            for i in range(160):  # all as long as they may be
                text = " ".join(words[(i * 7 + k * 3) % 300] for k in range(60))
                file.write(f"{text},{'good' if i % 3 else 'poor'}\n")
        cls.frostline("init", "--data", "rows.csv", "--text", "text", "--label", "label",
                      "--model", "small")

    @classmethod
    def make_decoder(cls):
        transformers.LlamaForCausalLM(transformers.LlamaConfig(
            **SHAPE, num_key_value_heads=2, tie_word_embeddings=True, bos_token_id=None,
            eos_token_id=0, pad_token_id=0)).save_pretrained("decoder")
        with open("decoder/tokenizer.json", "w", encoding="utf-8") as file:
            json.dump(make_samples.byte_tokenizer(), file)
        with open("decoder/tokenizer_config.json", "w", encoding="utf-8") as file:
            json.dump({"eos_token": make_samples.END, "pad_token": make_samples.END}, file)
        with open("asked.jsonl", "w", encoding="utf-8") as file:
            for i in range(160):
                file.write(json.dumps({"prompt": f"{i:04d} " * 6, "answer": "so it is, yes, and so"})
                           + "\n")
        cls.frostline("registry", "add", "model", "decoder", "--id", "decoder")
        cls.frostline("registry", "add", "dataset", "asked.jsonl", "--task", "answers")

    @classmethod
    def frostline(cls, *words, status=0):
        done = subprocess.run([PROGRAMS / "frostline", *words], capture_output=True, text=True,
                              timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode != status:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + ("" if "--json" in words else done.stderr)

    @classmethod
    def asked(cls, *words):
        return json.loads(cls.frostline(*words, "--json", "--connect", cls.address))

    @classmethod
    def create(cls, name, modules=None, training=None, **keys):
        return cls.client.create_study(
            name, minimize="loss", space={"modules": modules or MODULES},
            training=training or TRAINING, model={"id": "small", "layers": 6}, data=DATA,
            seed=3, **keys)

    @classmethod
    def work(cls, study):
        done = subprocess.run(
            [PROGRAMS / "frostline-worker", "--connect", cls.address, "--registry", "registry",
             "--study", study, "--exit-when-done", "--run-dir", "runs"],
            capture_output=True, text=True, timeout=600,
            env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def file(self, name, **keys):
        study = {"model": {"id": "small", "layers": 6}, "data": DATA, "minimize": "loss",
                 "space": {"modules": MODULES}, "training": TRAINING, "budget": 20, **keys}
        with open(name, "w", encoding="utf-8") as file:
            json.dump(study, file)
        return name

    def test_the_metric_is_what_the_usage_says(self):
        taken = [trial.metrics[METRIC] for trial in self.trials]
        self.assertGreater(max(taken), 1.5 * min(taken))
        shown = self.asked("trial", "show", "free", "3")
        told = int(shown["usage"]["peak_memory_bytes"]) / 2**20
        self.assertAlmostEqual(told, self.trials[3].metrics[METRIC], places=3)

    def test_plan_and_frontier_predict_within_five_percent(self):
        frontier = self.asked("plan", "free", "--frontier")["by_modules"]
        wanted = {}
        for one in [self.asked("plan", "free"), *frontier]:
            trial = one["as_trial"]
            if "predicted_" + METRIC not in trial["labels"]:
                self.assertFalse(any(trial["values"].values()))  # as no trial was yet
                continue
            wanted[tuple(sorted(trial["values"].items()))] = float(
                trial["labels"]["predicted_" + METRIC])
            self.assertIn("predicted_optimizer_mib", trial["labels"])
        self.assertGreater(len(wanted), 3)
        check = self.create("check", budget=len(wanted))
        for number, point in enumerate(wanted):
            check.enqueue({"values": dict(point), "seed": number + 1})
        self.work("check")
        for trial in check.results():
            point = tuple(sorted((k, v) for k, v in trial.parameters.items()))
            self.assertAlmostEqual(1, wanted[point] / trial.metrics[METRIC], delta=0.05,
                                   msg=trial.parameters)
        self.assertIn(" MiB at most at once, of which ", self.frostline(
            "plan", "free", "--connect", self.address))
        self.assertIn("MIB", self.frostline(
            "plan", "free", "--frontier", "--connect", self.address))

    def test_no_trial_goes_beyond_the_bound(self):
        taken = sorted(trial.metrics[METRIC] for trial in self.trials)
        bound = 1.005 * taken[len(taken) // 3]  # no two batches are alike
        study = self.create("bound", budget=24, constraints={METRIC: bound})
        self.work("bound")
        seen = [trial.metrics[METRIC] for trial in study.results()]
        self.assertEqual(24, len(seen))
        self.assertLessEqual(max(seen), bound)
        self.assertGreater(max(seen), 0.75 * bound)
        self.assertEqual(min(seen), seen[0])

    def test_a_dry_run_says_what_least_and_most_take(self):
        said = self.frostline("study", "create", self.file(
            "dry.yaml", constraint=f"{METRIC} <= 900"), "--dry-run", "--connect", self.address)
        least, most, moments, bound = map(
            int, re.findall(r"([\d,]+) MiB", " ".join(said.split("memory:")[1].split())))
        self.assertEqual(900, bound)
        check = self.create("ends", budget=2)
        names = ["embeddings", *(f"layer.{i}" for i in range(6))]
        for rate in (0.0, 1e-4):
            check.enqueue({"values": dict.fromkeys(names, rate)})
        self.work("ends")
        first, last = check.results()
        self.assertAlmostEqual(least, first.metrics[METRIC], delta=2)
        self.assertAlmostEqual(1, most / last.metrics[METRIC], delta=0.1)
        audit = self.asked("trial", "show", "ends", str(last.number))["usage"]["audit"]
        held = sum(int(one.get("moment_bytes", 0)) for one in audit) / 2**20
        self.assertAlmostEqual(moments, held, delta=1)

    def test_a_dry_run_knows_decoders_and_layers_that_are_run_again(self):
        self.make_decoder()
        names = ["embeddings", *(f"layer.{i}" for i in range(6))]
        took = {}
        for data, recompute, precision in (
                ("rows", "none", "fp32"), ("rows", "layers", "fp32"), ("rows", "none", "bf16"),
                ("asked", "none", "fp32"), ("asked", "layers", "fp32")):
            study = f"{data}-{recompute}-{precision}"
            modules = dict.fromkeys(names, [0, 1e-4])
            modules |= {"head": 1e-3} if data == "rows" else {"layer.5": 1e-4}
            keys = {"model": {"id": "decoder", "layers": 6, "no_pooler": True},
                    "data": {"id": data}, "space": {"modules": modules},
                    "training": {**TRAINING, "precision": precision,
                                 "extra": {"recompute": recompute}}}
            said = self.frostline("study", "create", self.file(f"{study}.yaml", **keys),
                                  "--dry-run", "--connect", self.address)
            told = [int(one.replace(",", "")) for one in re.findall(
                r"([\d,]+) MiB", " ".join(said.split("memory:")[1].split()))[:2]]
            check = self.client.create_study(study, minimize="loss", budget=2, seed=3, **keys)
            for rate in (0.0, 1e-4):
                check.enqueue({"values": dict.fromkeys(
                    names if data == "rows" else names[:-1], rate)})
            self.work(study)
            took[study] = [trial.metrics[METRIC] for trial in check.results()]
            msg = f"{study}: {told}, {took[study]}"
            if data == "asked":  # all of a text might be its answer, and is not
                self.assertLess(0.95 * took[study][0], told[0], msg=msg)
                self.assertLess(0.95 * took[study][1], told[1], msg=msg)
                self.assertLess(told[1], 1.3 * took[study][1], msg=msg)
                continue
            self.assertAlmostEqual(told[0], took[study][0], delta=2, msg=msg)
            self.assertAlmostEqual(1, told[1] / took[study][1], delta=0.03, msg=msg)
        self.assertLess(took["rows-layers-fp32"][1], 0.8 * took["rows-none-fp32"][1])

    def test_a_bound_below_the_least_is_refused(self):
        said = self.frostline("study", "create", self.file(
            "low.yaml", constraint=[f"{METRIC} <= 1"]), "--connect", self.address, status=100)
        self.assertIn("no point of this space fits 1 MiB", said)
        self.assertIn("FL-", said)

    def test_where_not_even_the_least_fits_the_study_pauses_and_says_so(self):
        self.create("none", budget=20, constraints={METRIC: 1.0})
        worker = subprocess.Popen(
            [PROGRAMS / "frostline-worker", "--connect", self.address, "--registry",
             "registry", "--study", "none", "--run-dir", "runs"], stderr=subprocess.DEVNULL)
        try:
            for _ in range(300):
                shown = self.asked("study", "show", "none")
                if shown["state"] == "STUDY_STATE_PAUSED":
                    break
                time.sleep(0.2)
        finally:
            worker.terminate()
            worker.wait(60)
        self.assertIn("no point fits the memory (peak_memory_mib <= 1): of those that ran the "
                      "least took", shown["state_reason"])


if __name__ == "__main__":
    run_and_count()
