#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ranks_test.py PROGRAMS: a study of adapters' ranks by layer, with the real worker and
trainer; its importance, frontier and plan; and what peft makes of what was exported and of
the plan's words."""
import json
import os
import random
import shutil
import subprocess
import unittest

from world import PROGRAMS, ROOT, coordinator, scratch

import peft
import safetensors.torch
import torch
import transformers

import frostline
from frostline import errors
from totals import run_and_count

SMALL = dict(vocab_size=120, hidden_size=16, num_hidden_layers=4, num_attention_heads=2,
             intermediate_size=32)
DATA = {"id": "rows", "task": "classification", "validation_share": 0.2}
SPACE = {"modules": {"layer.0-1": {"rank": [0, 2, 4], "fixed": 5e-3},
                     "layer.2": {"rank": [0, 8], "levels": [1e-3, 5e-3]},
                     "layer.3": [0, 1e-3]},
         "default": {"head_only": 5e-3}}
TRAINING = {"epochs": 1, "batch_size": 16, "max_length": 16,
            "lora": {"alpha_per_rank": 2, "modules": ["query", "ffn_in"]},
            "extra": {"export": "all"}}


def model():
    return transformers.BertForSequenceClassification.from_pretrained("tiny", num_labels=2)


WORDS = ["lovely", "joy", "great", "dull", "mess", "bad", "the", "film", "was"]


def make_bert():
    transformers.set_seed(1)
    transformers.BertForSequenceClassification(
        transformers.BertConfig(**SMALL)).save_pretrained("tiny")
    with open("tiny/vocab.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n")


def make_llama():
    """Two heads share the keys of one; its tokens are pieces of words."""
    transformers.set_seed(1)
    transformers.LlamaForSequenceClassification(transformers.LlamaConfig(
        **{**SMALL, "vocab_size": 800}, num_key_value_heads=1, pad_token_id=1,
        max_position_embeddings=64)).save_pretrained("tiny")
    shutil.copy(ROOT / "tests/parity/data/tokenizers/bpe/tokenizer.json", "tiny")


class World:
    """A tiny model, forty rows, and a worker that has them."""

    def __init__(self, folder, make=make_bert):
        os.chdir(folder)
        words = WORDS
        make()
        with open("rows.csv", "w", encoding="utf-8") as file:
            file.write("nr,review,label\n")
            for i in range(80):
                file.write(f"{i},the film was {words[i % 6]} {words[i * 5 % 9]},"
                           f"{'good' if i % 6 < 3 else 'poor'}\n")
        self.frostline("init", "--data", "rows.csv", "--text", "review", "--label", "label",
                       "--model", "tiny")

    def frostline(self, *words, status=0):
        done = subprocess.run([PROGRAMS / "frostline", *words], capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        if done.returncode != status:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def work(self, client, study, *flags):
        done = subprocess.run(
            [PROGRAMS / "frostline-worker", "--connect", client.address, "--registry",
             "registry", "--study", study, "--exit-when-done", "--run-dir", "runs", *flags],
            capture_output=True, text=True, timeout=600,
            env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0:
            raise AssertionError(done.stderr)


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = scratch()
        cls.addClassCleanup(place.__exit__, None, None, None)
        cls.addClassCleanup(os.chdir, ROOT)
        cls.world = World(place.__enter__())
        served = coordinator()
        cls.addClassCleanup(served.__exit__, None, None, None)
        address, _ = served.__enter__()
        cls.client = frostline.connect(address)
        cls.addClassCleanup(cls.client.close)
        cls.study = cls.create("ranks", budget=30)
        cls.world.work(cls.client, "ranks", "--keep", "all")
        cls.trials = list(cls.study.results(rates=True))

    @classmethod
    def create(cls, name, space=SPACE, training=TRAINING, **keys):
        return cls.client.create_study(
            name, minimize="loss", space=space, training=training,
            model={"id": "tiny", "layers": 4}, data=DATA, seed=3, **keys)

    def said(self, *words, **keys):
        return self.world.frostline(*words, "--connect", self.client.address, **keys)

    def folder(self, trial, what="model/adapter"):
        """What the trial exported; None where there is nothing."""
        at = os.path.join("runs/trials/ranks", str(trial.number), "1", what)
        return at if os.path.isdir(at) else None

    def test_trained_adapted_and_frozen_layers_stand_in_one_study(self):
        self.assertEqual(30, len(self.trials))
        self.assertEqual({"SUCCEEDED"}, {trial.state for trial in self.trials})
        kinds = set()
        for trial in self.trials:
            values = trial.parameters
            self.assertEqual("layer.2" in values, values["rank.layer.2"] > 0)
            self.assertEqual(trial.rates["layer.0"], 5e-3 if values["rank.layer.0"] else 0)
            kinds.add((values["rank.layer.0"] > 0, trial.rates["layer.3"] > 0))
        self.assertEqual(4, len(kinds))

    def test_peft_loads_each_export_as_the_merged_model(self):
        self.maxDiff = None
        batch = {"input_ids": torch.tensor([[2, 5, 9, 11, 3], [2, 8, 9, 12, 3]])}
        mixed = seen = 0
        for trial in self.trials:
            values, folder = trial.parameters, self.folder(trial)
            ranks = {i: int(values[f"rank.layer.{i}"]) for i in range(3)}
            if not any(ranks.values()):
                self.assertIsNone(folder)
                continue
            loaded = peft.PeftModel.from_pretrained(model(), folder)
            found = {}
            for name, weight in loaded.named_parameters():
                if ".lora_A." in name:
                    layer = int(name.split(".layer.")[1].split(".")[0])
                    found.setdefault(layer, set()).add(weight.shape[0])
            self.assertEqual({i: {rank} for i, rank in ranks.items() if rank}, found)
            merged = transformers.BertForSequenceClassification.from_pretrained(
                self.folder(trial, "model"))
            with torch.no_grad():
                ours = merged.eval()(**batch).logits
                theirs = loaded.eval()(**batch).logits
                plain = model().eval()(**batch).logits
            torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-4)
            self.assertGreater((plain - ours).abs().max().item(), 1e-4)
            mixed += trial.rates["layer.3"] > 0
            seen += 1
        self.assertGreater(mixed, 3)
        self.assertGreater(seen, 15)

    def test_bf16_trains_the_same_adapters(self):
        point = {"values": {"rank.layer.0": 4, "rank.layer.1": 0, "rank.layer.2": 8,
                            "layer.2": 5e-3, "layer.3": 1e-3}, "seed": 7}
        losses = {}
        for precision in ("fp32", "bf16"):
            study = self.create(precision, budget=1,
                                training={**TRAINING, "precision": precision})
            study.enqueue(point)
            self.world.work(self.client, precision)
            one = next(study.results())
            self.assertEqual("SUCCEEDED", one.state, one.cause)
            losses[precision] = one.values[0]
        self.assertNotEqual(losses["fp32"], losses["bf16"])
        self.assertAlmostEqual(losses["fp32"], losses["bf16"], delta=0.02)

    def test_only_what_is_adapted_or_trained_moved(self):
        before = safetensors.torch.load_file("tiny/model.safetensors")
        for trial in self.trials[:8]:
            after = safetensors.torch.load_file(
                self.folder(trial, "model") + "/model.safetensors")
            for name, weight in before.items():
                if ".layer." not in name:
                    continue
                layer = int(name.split(".layer.")[1].split(".")[0])
                if layer == 3:
                    moves = trial.rates["layer.3"] > 0
                else:
                    moves = trial.parameters[f"rank.layer.{layer}"] > 0 and (
                        "query.weight" in name or "intermediate.dense.weight" in name)
                self.assertEqual(moves, not torch.equal(weight, after[name]),
                                 (trial.number, name))

    def test_what_people_read_names_ranks(self):
        shown = self.said("study", "show", "ranks")
        self.assertIn("rank 0, 2, 4; always 0.005", shown)
        adapted = next(t for t in self.trials if t.parameters["rank.layer.2"] > 0)
        trial = self.said("trial", "show", "ranks", str(adapted.number))
        self.assertRegex(trial, r"layer\.2 +rank 8 at 0\.00")
        importance = self.said("importance", "ranks")
        self.assertIn("rank.layer.2", importance)
        plan = self.said("plan", "ranks")
        self.assertRegex(plan, r"layer\.\d +.*(none|rank \d at 0\.00)")
        self.assertIn("FROZEN", self.said("plan", "ranks", "--frontier"))
        dry = self.said("study", "create", self.file(), "--dry-run")
        self.assertIn("ranks 0, 2, 4 at fixed 0.005", dry)

    def file(self):
        with open("another.yaml", "w", encoding="utf-8") as file:
            json.dump({"model": {"id": "tiny", "layers": 4}, "data": DATA, "budget": 4,
                       "minimize": "loss", "space": SPACE, "training": TRAINING}, file)
        return "another.yaml"

    def test_the_plan_says_ranks_to_peft(self):
        told = self.study.plan()
        words = {}
        ranks = {m.module: m.rank for m in told.message.modules if m.HasField("rank")}
        self.assertEqual({"layer.0", "layer.1", "layer.2"}, set(ranks))
        if not any(ranks.values()):
            with self.assertRaises(errors.InvalidArgument):
                self.study.plan_for("peft")
            return
        names = {"model": model()}
        exec(self.study.plan_for("peft"), names)
        for name, weight in names["model"].named_parameters():
            if ".lora_A." in name:
                layer = name.split(".layer.")[1].split(".")[0]
                words[f"layer.{layer}"] = weight.shape[0]
        self.assertEqual({m: r for m, r in ranks.items() if r}, words)

    def test_a_rank_above_the_width_fails_the_trial_by_name(self):
        space = {"modules": {"layer.1": {"rank": [17, 20], "fixed": 1e-3}}}
        wide = self.create("wide", space=space, budget=1)
        self.world.work(self.client, "wide")
        trial = next(wide.results())
        self.assertEqual("FAILED", trial.state)
        self.assertIn("the rank of layer.1 is", self.said("trial", "show", "wide", "0"))

    def test_what_cannot_be_searched_is_refused_when_it_is_created(self):
        for modules, part in (
                ({"embeddings": {"rank": [0, 4], "fixed": 1e-3}}, "linear maps"),
                ({"layer.1": {"rank": [0, 4]}}, "a rate above 0"),
                ({"layer.1": {"rank": [0, 4], "levels": [0, 1e-3]}}, "rank 0"),
                ({"layer.1": {"rank": [0, 70000], "fixed": 1e-3}}, "no rank"),
                ({"layer.1": {"rank": [0, 4]}, "layer.1.ffn": [0, 1e-3]}, "overlaps")):
            with self.subTest(modules=modules):
                with self.assertRaises(errors.InvalidArgument) as caught:
                    self.create("bad", space={"modules": modules}, budget=4)
                self.assertIn(part, str(caught.exception))
        both = {**TRAINING, "lora": {"rank": 4}}
        with self.assertRaises(errors.InvalidArgument) as caught:
            self.create("bad", training=both, budget=4)
        self.assertIn("training.lora.rank", str(caught.exception))


class Llama(unittest.TestCase):
    """What a decoder exports, as peft reads it."""

    def test_peft_loads_each_export_as_the_merged_model(self):
        space = {"modules": {"layer.0": {"rank": [0, 2], "fixed": 5e-3},
                             "layer.1.attention": {"rank": [0, 4], "fixed": 5e-3},
                             "layer.1.ffn": {"rank": [0, 8], "fixed": 5e-3},
                             "layer.3": [0, 1e-3]}, "default": {"head_only": 5e-3}}
        training = {**TRAINING, "precision": "fp32",
                    "lora": {"alpha": 6, "modules": ["query", "ffn_gate", "ffn_out"]}}
        points = [(2, 4, 8, 0), (2, 0, 8, 1e-3), (0, 4, 0, 0)]
        names = ("rank.layer.0", "rank.layer.1.attention", "rank.layer.1.ffn", "layer.3")
        with scratch() as folder:
            self.addCleanup(os.chdir, ROOT)
            world = World(folder, make_llama)
            with coordinator() as (address, _), frostline.connect(address) as client:
                study = client.create_study(
                    "llama", minimize="loss", space=space, training=training, data=DATA,
                    model={"id": "tiny", "layers": 4, "no_pooler": True}, seed=3, budget=3)
                for point in points:
                    study.enqueue({"values": dict(zip(names, point))})
                world.work(client, "llama", "--keep", "all")
                for number, trial in enumerate(study.results(rates=True)):
                    with self.subTest(points[number]):
                        self.assertEqual("SUCCEEDED", trial.state, trial.cause)
                        self.compare(points[number], f"runs/trials/llama/{number}/1/model")

    def compare(self, point, folder):
        kind = transformers.LlamaForSequenceClassification
        loaded = peft.PeftModel.from_pretrained(
            kind.from_pretrained("tiny", num_labels=2), folder + "/adapter").eval()
        found = {name.split(".layers.")[1].split(".lora_A")[0]: weight.shape[0]
                 for name, weight in loaded.named_parameters() if ".lora_A." in name}
        first, attention, ffn, _ = point
        wanted = {"0.self_attn.q_proj": first, "0.mlp.gate_proj": first,
                  "0.mlp.down_proj": first, "1.self_attn.q_proj": attention,
                  "1.mlp.gate_proj": ffn, "1.mlp.down_proj": ffn}
        self.assertEqual({name: rank for name, rank in wanted.items() if rank}, found)
        batch = {"input_ids": torch.tensor([[0, 55, 90, 120, 2], [0, 61, 90, 333, 2]])}
        with torch.no_grad():
            ours = kind.from_pretrained(folder).eval()(**batch).logits
            theirs = loaded(**batch).logits
        torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-4)


class Told(unittest.TestCase):
    """Eighty trials of a known truth: layer 1 gains .2 by having an adapter, of any rank;
    layers 2 and 3 gain .1 together; layer 0 gains nothing."""

    @classmethod
    def setUpClass(cls):
        served = coordinator()
        cls.addClassCleanup(served.__exit__, None, None, None)
        cls.address, _ = served.__enter__()
        client = frostline.connect(cls.address)
        cls.addClassCleanup(client.close)
        study = client.create_study(
            "told", maximize="accuracy", budget=80, seed=5, sampler="qmc",
            model={"id": "m", "layers": 4}, data={"id": "d"},
            training={"lora": {"alpha_per_rank": 2}},
            space={"modules": {"layer.*": {"rank": [0, 4, 8, 16], "fixed": 1e-3}},
                   "default": {"head_only": 1e-3}})
        dice = random.Random(3)
        for _ in range(80):
            trial = study.ask()
            has = [trial.parameters[f"rank.layer.{i}"] > 0 for i in range(4)]
            study.tell(trial, {"accuracy": 0.6 + 0.2 * has[1] + 0.1 * (has[2] and has[3]) +
                               dice.gauss(0, 0.004)})

    def said(self, *words):
        done = subprocess.run([PROGRAMS / "frostline", *words, "--json", "--connect",
                               self.address], capture_output=True, text=True, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def test_no_adapter_is_a_kind_of_its_own(self):
        made = self.said("importance", "told", "--marginals")["marginals"]
        expected = {one["parameter"]: [point["expected"]["value"] for point in one["points"]]
                    for one in made}
        none, *some = expected["rank.layer.1"]  # of 4, 8 and 16
        for adapted in some:
            self.assertAlmostEqual(0.2, adapted - none, delta=0.01)
        self.assertLess(max(some) - min(some), 0.005)

    def test_what_two_layers_gain_together_is_their_pair(self):
        first, *others = self.said("importance", "told", "--pairs")["pairs"]
        self.assertEqual(("rank.layer.2", "rank.layer.3"), (first["first"], first["second"]))
        gain = 3 / 4 * 1 / 4  # p (1 - p): three ranks of four are adapters
        alone = 0.2**2 * gain
        both = 0.1**2 * 9 / 16 * 7 / 16
        truth = 0.1**2 * gain**2 / (alone + both)
        self.assertAlmostEqual(truth, first["share"]["value"], delta=0.01)
        self.assertLess(max(one["share"]["value"] for one in others), 0.002)

    def test_the_frontier_names_the_layers_that_need_an_adapter(self):
        rows = self.said("plan", "told", "--frontier")["by_modules"]
        self.assertEqual([0.6, 0.8, 0.8, 0.9, 0.9],
                         [round(row["predicted"]["value"], 1) for row in rows])
        self.assertEqual(["layer.1", "layer.2", "layer.3"], rows[3]["trained"])
        self.assertEqual([0, 0, 0], [row["within_tolerance_probability"] for row in rows[:3]])
        self.assertEqual(0, rows[3]["as_trial"]["values"]["rank.layer.0"])


class Deep(unittest.TestCase):
    """A decoder of 28 layers, each with an adapter or none: two of them matter."""

    def test_importance_finds_two_of_twenty_eight_layers(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            study = client.create_study(
                "deep", maximize="accuracy", budget=150, seed=5, sampler="random",
                model={"id": "m", "layers": 28, "no_pooler": True}, data={"id": "d"},
                training={"lora": {"alpha_per_rank": 2}},
                space={"modules": {"layer.*": {"rank": [0, 8], "fixed": 1e-3}},
                       "default": {"head_only": 1e-3}})
            dice = random.Random(3)
            for _ in range(150):
                trial = study.ask()
                score = 0.6 + dice.gauss(0, 0.01)
                score += 0.1 * (trial.parameters["rank.layer.27"] > 0)
                score += 0.05 * (trial.parameters["rank.layer.20"] > 0)
                study.tell(trial, {"accuracy": score})
            found = study.importance()
        self.assertEqual(28, len(found.rows))
        first, second, *others = found.rows  # parameter, share, lo80, hi80, distinguishable
        self.assertEqual(("rank.layer.27", "rank.layer.20"), (first[0], second[0]))
        self.assertAlmostEqual(0.8, first[1], delta=0.06)  # 4 : 1, but for the noise
        self.assertAlmostEqual(0.2, second[1], delta=0.06)
        self.assertTrue(first[-1] and second[-1])
        self.assertLess(max(row[1] for row in others), 0.01)


if __name__ == "__main__":
    run_and_count()
