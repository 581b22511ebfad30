#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan_words_test.py PROGRAMS: `frostline plan --for` in the tools themselves.

Each text is loaded by the tool's own code, of its wheel, into a small random model.
Which weights then train, and at which rate, is held against the plan. What cannot be
imported without a GPU or half of PyPI is taken as one function out of the wheel."""
import ast
import bisect
import contextlib
import dataclasses
import importlib.util
import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import types
import unittest
import unittest.mock

from world import PROGRAMS, coordinator, scratch, script, study, work

import numpy
import peft
import timm
import torch
import transformers
import yaml
from axolotl.utils import freeze as axolotl_freeze
from axolotl.utils.schemas.config import AxolotlInputConfig

import frostline
from frostline import errors, layers
from frostline._wire import request_id
from totals import run_and_count

TOOLS = ("axolotl", "llama-factory", "ms-swift", "peft", "timm", "torch", "hf-trainer", "unsloth")
SMALL = dict(hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=32)
DEEP = {"embeddings": 0, "layer.0": 0, "layer.1": 0, "layer.2": 1e-4, "layer.3": 1e-4}


def llama(head="CausalLM"):
    return getattr(transformers, f"LlamaFor{head}")(transformers.LlamaConfig(
        vocab_size=40, num_key_value_heads=2, pad_token_id=0, tie_word_embeddings=False,
        **SMALL))


def bert():
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=40, **SMALL))


def vit():
    return timm.create_model("vit_tiny_patch16_224", img_size=32, embed_dim=16, depth=4,
                             num_heads=2, num_classes=2)


class Planned:
    """A study whose plan is known, since it searches the head's rate alone."""

    def __init__(self, client, rates, pooler=False, training=None, number=[0]):
        number[0] += 1
        modules = {name: rate or "frozen" for name, rate in rates.items()
                   if rate or name != "layer.1"}
        modules["head"] = [1e-3, 2e-3]
        self.study = client.create_study(
            f"planned{number[0]}", maximize="accuracy", budget=20,
            model={"id": "m", "layers": 4, "no_pooler": not pooler},
            space={"modules": modules, "default": {"head_only": 1e-3}},
            training=training or {})
        trials = [{"state": "TRIAL_STATE_SUCCEEDED", "parameters": {"head": 1e-3 * (1 + i % 2)},
                   "metrics": {"accuracy": 0.9 - 0.2 * (i % 2) + 0.001 * (i % 3)}}
                  for i in range(12)]
        client.call("StudyService", "ImportTrials", request_id=request_id(),
                    name=self.study.name, trials=trials)
        self.rates = {**rates, "head": 1e-3}

    def words(self, tool):
        return self.study.plan_for(tool)

    def weights(self, model):
        """What each weight's rate is to be, by the package's own names of modules."""
        return {name: self.rates[module] for name, module in
                layers.Weights(model, list(self.rates)).of.items()}

    def trained(self, model):
        return {name for name, rate in self.weights(model).items() if rate > 0}


def trains(model):
    return {name for name, weight in model.named_parameters() if weight.requires_grad}


def rates_of(model, groups):
    by_id = {id(weight): name for name, weight in model.named_parameters()}
    return {by_id[id(weight)]: group["lr"] for group in groups for weight in group["params"]}


def source_of(package, path):
    root = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0])
    return (root / path).read_text(encoding="utf-8")


def function_of(package, path, name, **world):
    """One function of a wheel, in a world of our own."""
    tree = ast.parse(source_of(package, path))
    found = [node for node in ast.walk(tree)
             if isinstance(node, ast.FunctionDef) and node.name == name]
    for node in found:
        node.decorator_list = []
    module = ast.Module([ast.parse("from __future__ import annotations").body[0], found[0]], [])
    exec(compile(module, path, "exec"), world)
    return world[name]


def run(words, **names):
    """Runs lines of Python with a model at hand."""
    exec(compile(words, "plan", "exec"), names)
    return names


def silent():
    return types.SimpleNamespace(info_rank0=lambda *_: None, warning=logging.error)


@contextlib.contextmanager
def plans():
    with coordinator() as (address, _), frostline.connect(address) as client:
        yield client


class Python(unittest.TestCase):
    def test_torch_and_the_trainer_have_every_weight_at_its_rate(self):
        rates = {"embeddings": 0, "layer.0": 2e-4, "layer.1": 0, "layer.2": 1e-4,
                 "layer.3": 1e-4}
        with plans() as client:
            cases = [(Planned(client, rates), llama("SequenceClassification")),
                     (Planned(client, {**rates, "pooler": 3e-4}, pooler=True), bert())]
            for planned, model in cases:
                for tool in ("torch", "hf-trainer"):
                    with self.subTest(tool=tool, model=type(model).__name__):
                        model.requires_grad_(True)
                        made = run(planned.words(tool), model=model, train=None, args=None)
                        wanted = {n: r for n, r in planned.weights(model).items() if r > 0}
                        seen = rates_of(model, made["optimizer"].param_groups)
                        self.assertEqual(wanted, seen)
                        self.assertEqual(set(wanted), trains(model))

    def test_timm_has_every_weight_at_its_rate(self):
        with plans() as client:
            planned = Planned(client, {**DEEP, "layer.0": 5e-5})
            model = vit()
            made = run(planned.words("timm"), model=model)
            wanted = {n: r for n, r in planned.weights(model).items() if r > 0}
            self.assertEqual(wanted, rates_of(model, made["optimizer"].param_groups))

    def test_parts_of_a_layer_are_told_apart(self):
        rates = {"embeddings": 0, "layer.0": 0, "layer.1.attention": 2e-4, "layer.1": 0,
                 "layer.2.attention": 0, "layer.2.ffn": 1e-4, "layer.3": 1e-4}
        with plans() as client:
            planned = Planned(client, rates)
            model = llama("SequenceClassification")
            made = run(planned.words("torch"), model=model)
            wanted = {n: r for n, r in planned.weights(model).items() if r > 0}
            self.assertEqual(wanted, rates_of(model, made["optimizer"].param_groups))

    def test_the_trainer_trains_with_it(self):
        with plans() as client:
            planned = Planned(client, DEEP)
            model = llama("SequenceClassification")
            before = {name: weight.clone() for name, weight in model.named_parameters()}
            rows = [{"input_ids": torch.randint(1, 40, (6,)), "labels": i % 2} for i in range(8)]
            args = transformers.TrainingArguments(
                output_dir="/nonexistent", report_to=[], max_steps=2, use_cpu=True,
                save_strategy="no", disable_tqdm=True)
            run(planned.words("hf-trainer"), model=model, args=args, train=rows)[
                "trainer"].train()
            moved = {name for name, weight in model.named_parameters()
                     if not torch.equal(weight, before[name])}
            self.assertEqual(planned.trained(model), moved)


class Adapters(unittest.TestCase):
    def adapted(self, model):
        """The layers that have adapters, and the maps."""
        names = [name for name in trains(model) if "lora_" in name]
        return ({int(re.search(r"layers?\.(\d+)\.", name)[1]) for name in names},
                {re.search(r"(\w+)\.lora_", name)[1] for name in names})

    def test_peft_puts_adapters_into_the_layers_that_train(self):
        for lora, maps in ((None, {"q_proj", "v_proj"}),
                           ({"rank": 4, "alpha": 16, "modules": ["query", "ffn_in"]},
                            {"q_proj", "up_proj"})):
            with self.subTest(lora=lora), plans() as client:
                training = {"lora": lora} if lora else {}
                planned = Planned(client, DEEP, training=training)
                model = run(planned.words("peft"), model=llama("SequenceClassification"))["model"]
                self.assertEqual(({2, 3}, maps), self.adapted(model))
                config = model.peft_config["default"]
                self.assertEqual((4, 16) if lora else (8, 8), (config.r, config.lora_alpha))
                self.assertTrue(any("score" in name for name in trains(model)))

    def test_peft_and_torch_together_have_the_rates(self):
        lora = {"lora": {"rank": 2}}
        with plans() as client:
            planned = Planned(client, {**DEEP, "layer.3": 3e-4}, training=lora)
            model = run(planned.words("peft"), model=llama("SequenceClassification"))["model"]
            made = run(planned.words("torch"), model=model)
            for name, rate in rates_of(model, made["optimizer"].param_groups).items():
                layer = re.search(r"layers\.(\d+)\.", name)
                wanted = planned.rates[f"layer.{layer[1]}" if layer else "head"]
                self.assertEqual(wanted, rate, name)
            self.assertEqual(3, len(made["optimizer"].param_groups))

    def test_unsloth_has_these_words(self):
        tree = ast.parse(source_of("unsloth", "models/llama.py"))
        known = {argument.arg for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef) and node.name == "get_peft_model"
                 for argument in node.args.args}
        with plans() as client:
            words = Planned(client, DEEP).words("unsloth")
        call = ast.parse(words).body[-1].value
        said = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        self.assertEqual(set(), set(said) - known)
        self.assertEqual([2, 3], said["layers_to_transform"])


class Settings(unittest.TestCase):
    def test_axolotl_trains_what_the_plan_trains(self):
        rates = {"embeddings": 3e-4, "layer.0": 0, "layer.1": 1e-3, "layer.2.attention": 0,
                 "layer.2.ffn": 2e-4, "layer.3": 1e-3}
        with plans() as client:
            planned = Planned(client, rates)
            said = yaml.safe_load(planned.words("axolotl"))
            model = llama()
            axolotl_freeze.freeze_layers_except(model, said["unfrozen_parameters"])
            self.assertEqual(planned.trained(model), trains(model))
            groups = self.groups_of(model, said)
            for name, rate in planned.weights(model).items():
                # Norms have the usual rate, as the text says.
                if rate > 0 and "norm" not in name and "lm_head" not in name:
                    self.assertEqual(rate, groups[name], name)
            self.assertIn("# Note: lr_groups leave norms", planned.words("axolotl"))

    def groups_of(self, model, said):
        make = function_of("axolotl", "core/trainers/mixins/optimizer.py",
                           "create_optimizer_grouped_parameters")
        trainer = types.SimpleNamespace(
            get_decay_parameter_names=lambda model: [
                name for name, _ in model.named_parameters() if "norm" not in name],
            args=types.SimpleNamespace(
                lr_groups=said["lr_groups"], weight_decay=0.0, embedding_lr_scale=None,
                embedding_lr=said.get("embedding_lr")))
        return rates_of(model, make(trainer, model, {"lr": said["learning_rate"]}))

    def test_axolotl_takes_it_for_a_configuration(self):
        common = {"base_model": "m", "datasets": [{"path": "rows.jsonl", "type": "alpaca"}],
                  "micro_batch_size": 1, "gradient_accumulation_steps": 1, "num_epochs": 1}
        with plans() as client:
            for training in ({}, {"lora": {"rank": 4}}):
                rates = {**DEEP, "layer.3": 1e-4 if training else 3e-4}
                said = yaml.safe_load(Planned(client, rates, training=training).words("axolotl"))
                read = AxolotlInputConfig(**common, **said).model_dump()
                for key, value in said.items():
                    self.assertEqual(value, read[key], key)

    def test_swift_freezes_what_the_plan_freezes(self):
        freeze = function_of("swift", "utils/transformers_utils.py", "freeze_parameters",
                             re=re, np=numpy, bisect_right=bisect.bisect_right, logger=silent(),
                             nn=torch.nn)
        rates = {"embeddings": 0, "layer.0": 1e-4, "layer.1": 0, "layer.2.attention": 0,
                 "layer.2.ffn": 1e-4, "layer.3": 1e-4}
        with plans() as client:
            planned = Planned(client, rates)
            said = yaml.safe_load(planned.words("ms-swift"))
            model = llama()
            freeze(model, 0, [], said["freeze_parameters_regex"])
            self.assertEqual(planned.trained(model), trains(model))
            self.assertEqual("full", said["tuner_type"])

    def test_swift_puts_adapters_where_the_plan_has_them(self):
        with plans() as client:
            planned = Planned(client, DEEP, training={"lora": {"rank": 4}})
            said = yaml.safe_load(planned.words("ms-swift"))
            model = peft.get_peft_model(llama(), peft.LoraConfig(
                r=said["lora_rank"], target_modules=said["target_regex"]))
            names = [name for name in trains(model) if "lora_" in name]
            self.assertEqual({"2", "3"}, {re.search(r"layers\.(\d)", n)[1] for n in names})
            self.assertEqual(8, len(names))

    def test_llama_factory_trains_the_ends_that_it_can_say(self):
        for frozen, count in (([0, 1], 2), ([0, 1, 2, 3], 0), ([2, 3], -2), ([], 4)):
            with self.subTest(frozen=frozen), plans() as client:
                planned = Planned(client, {"embeddings": 1e-3, **{
                    f"layer.{i}": 0 if i in frozen else 1e-3 for i in range(4)}})
                words = planned.words("llama-factory")
                said = yaml.safe_load(words)
                self.assertEqual(count, said["freeze_trainable_layers"])
                self.assertNotIn("hold all that train", words)
                model = llama()
                self.set_up(model, said)
                # The last norm stays frozen, as the text says.
                self.assertEqual(planned.trained(model) - {"model.norm.weight"}, trains(model))

    def test_llama_factory_says_what_it_trains_too_much(self):
        with plans() as client:
            planned = Planned(client, {"embeddings": 0, "layer.0": 0, "layer.1": 1e-3,
                                       "layer.2": 0, "layer.3": 1e-4})
            words = planned.words("llama-factory")
        self.assertIn("the last 3 hold all that train, where the plan trains 1, 3", words)
        self.assertIn("one rate for all, 0.001; the plan trains layer.3 at 0.0001", words)
        model = llama()
        self.set_up(model, yaml.safe_load(words))
        self.assertTrue(planned.trained(model) - {"model.norm.weight"} < trains(model))

    @staticmethod
    def set_up(model, said):
        set_up = function_of(
            "llamafactory", "model/adapter.py", "_setup_freeze_tuning", re=re, torch=torch,
            logger=silent(), COMPOSITE_MODELS={}, get_forbidden_modules=lambda *_: set())
        set_up(model, types.SimpleNamespace(
            use_llama_pro=False, freeze_trainable_layers=said["freeze_trainable_layers"],
            freeze_trainable_modules=said["freeze_trainable_modules"].split(","),
            freeze_extra_modules=[m for m in said.get("freeze_extra_modules", "").split(",") if m],
            freeze_multi_modal_projector=True), True, False)


class Files(unittest.TestCase):
    """Files that `frostline worker --config` changes for a trial, read by the tool's classes."""

    SPACE = {"modules": {"layer.*": [1e-4], "head": 1e-3},
             "parameters": {"lr": {"float": [1e-5, 1e-3]}}}

    def changed(self, text, *settings):
        """The trial, and what its command was given."""
        copy = """
            import pathlib, shutil, sys
            shutil.copy(sys.argv[1], pathlib.Path(__file__).parent / "seen.yaml")
            print("score 1")
            """
        flags = [word for one in settings for word in ("--set", one)]
        with scratch() as folder, study(
                budget=1, space=self.SPACE,
                model={"id": "m", "layers": 2, "no_pooler": True}) as (client, toy):
            script(folder, text, "config.yml")
            run = work(client, f"{sys.executable} {script(folder, copy)} {{config}}",
                       folder / "runs", "--config", "config.yml", *flags, "--metrics",
                       r"regex:score (?P<score>\S+)", by="--command", cwd=folder)
            self.assertEqual(0, run.returncode, run.stderr)
            return (next(iter(toy.results(rates=True))),
                    yaml.safe_load((folder / "seen.yaml").read_text()))

    def test_axolotl_takes_the_changed_copy(self):
        trial, seen = self.changed("""
            base_model: HuggingFaceTB/SmolLM2-135M
            datasets: [{path: rows.jsonl, type: alpaca}]
            micro_batch_size: 2
            gradient_accumulation_steps: 1
            num_epochs: 1
            learning_rate: 0.1
            lr_groups: [{name: low, modules: [layers.0.], lr: 0.1}]
            """, "learning_rate={lr}", "output_dir={folder}", "lr_groups.0.lr={layer.0}")
        read = AxolotlInputConfig(**seen)
        self.assertEqual(trial.parameters["lr"], read.learning_rate)
        self.assertEqual(1e-4, read.lr_groups[0].lr)
        self.assertTrue(pathlib.Path(read.output_dir).is_absolute())

    def test_llama_factory_takes_the_changed_copy(self):
        path = pathlib.Path(axolotl_freeze.__file__).parents[2] / \
            "llamafactory/hparams/finetuning_args.py"
        found = importlib.util.spec_from_file_location("finetuning_args", path)
        module = sys.modules["finetuning_args"] = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        trial, seen = self.changed("""
            finetuning_type: freeze
            freeze_trainable_layers: 1
            learning_rate: 0.1
            """, "learning_rate={lr}", "freeze_trainable_layers=2")
        self.assertEqual(trial.parameters["lr"], seen.pop("learning_rate"))
        self.assertEqual(2, module.FinetuningArguments(**seen).freeze_trainable_layers)
        with plans() as client:  # and the words of a plan are its words
            for training in ({}, {"lora": {"rank": 4}}):
                words = yaml.safe_load(
                    Planned(client, DEEP, training=training).words("llama-factory"))
                words.pop("learning_rate")
                module.FinetuningArguments(**words)

    def test_swift_takes_the_changed_copy(self):
        trial, seen = self.changed("""
            model: m
            dataset: [rows.jsonl]
            tuner_type: full
            learning_rate: 0.1
            """, "learning_rate={lr}", "output_dir={folder}")
        parse = function_of("swift", "cli/main.py", "parse_yaml_args", os=os, yaml=yaml,
                            json=json, logger=silent())
        with scratch() as folder, unittest.mock.patch.dict(os.environ):
            argv = [str(script(folder, yaml.safe_dump(seen), "sft.yaml"))]
            parse(argv)
        self.assertIn(("--learning_rate", str(trial.parameters["lr"])), zip(argv, argv[1:]))
        flags = {word[2:] for word in argv if word.startswith("--")}
        self.assertEqual({"model", "dataset", "tuner_type", "learning_rate", "output_dir"}, flags)
        self.assertEqual(set(), flags - self.fields_of_swift())

    @staticmethod
    def fields_of_swift():
        """Swift's own arguments, and those that it takes over from transformers."""
        root = pathlib.Path(importlib.util.find_spec("swift").submodule_search_locations[0])
        classes = (node for path in (root / "arguments").rglob("*.py")
                   for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                   if isinstance(node, ast.ClassDef) and "Arguments" in node.name)
        own = {line.target.id for one in classes for line in one.body
               if isinstance(line, ast.AnnAssign)}
        return own | {f.name for f in dataclasses.fields(transformers.Seq2SeqTrainingArguments)}


class Asking(unittest.TestCase):
    def test_the_command_writes_the_file(self):
        with plans() as client:
            planned = Planned(client, DEEP)
            for tool in TOOLS:
                made = subprocess.run(
                    [PROGRAMS / "frostline", "plan", planned.study.id, "--for", tool,
                     "--connect", client.address], capture_output=True, text=True)
                self.assertEqual((0, ""), (made.returncode, made.stderr), tool)
                self.assertEqual(planned.words(tool), made.stdout)

    def test_another_tool_is_refused_with_the_list(self):
        with plans() as client, self.assertRaises(errors.Error) as caught:
            Planned(client, DEEP).words("slurm")
        self.assertIn("FL-1016", str(caught.exception))
        self.assertIn("take one of axolotl, llama-factory", str(caught.exception))

    def test_adapters_in_no_layer_are_refused_since_no_list_would_mean_all(self):
        none = {**DEEP, "layer.2": 0, "layer.3": 0}
        with plans() as client:
            for tool, training in (("peft", {}), ("unsloth", {}),
                                   ("axolotl", {"lora": {"rank": 4}}),
                                   ("ms-swift", {"lora": {"rank": 4}})):
                with self.subTest(tool), self.assertRaises(errors.Error) as caught:
                    Planned(client, none, training=training).words(tool)
                self.assertIn("nothing to adapt", str(caught.exception))
            said = yaml.safe_load(Planned(client, none).words("axolotl"))
            self.assertEqual(["lm_head.", "score.", "model.norm."], said["unfrozen_parameters"])

    def test_biases_alone_have_no_words_elsewhere(self):
        with plans() as client, self.assertRaises(errors.Error) as caught:
            Planned(client, DEEP, training={"trains": "biases"}).words("torch")
        self.assertIn("biases or bottleneck adapters", str(caught.exception))


if __name__ == "__main__":
    sys.exit(run_and_count())
