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

from ranks_test import World, make_llama
from world import PROGRAMS, ROOT, coordinator, scratch, script, study, work

import numpy
import peft
import safetensors.torch
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


def distilbert():
    return transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(
        vocab_size=40, dim=16, n_layers=4, n_heads=2, hidden_dim=32))


def deberta():
    return transformers.DebertaV2ForSequenceClassification(transformers.DebertaV2Config(
        vocab_size=40, relative_attention=True, position_buckets=8, norm_rel_ebd="layer_norm",
        share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False,
        type_vocab_size=0, **SMALL))


def modernbert():
    return transformers.ModernBertForSequenceClassification(transformers.ModernBertConfig(
        vocab_size=40, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1,
        sep_token_id=2, **SMALL))


def phi():
    return transformers.Phi3ForCausalLM(transformers.Phi3Config(
        vocab_size=40, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        num_key_value_heads=2, **SMALL))


# Families of models: how to make one, its stack of layers, and what a layer calls the maps
# of training.lora.modules.
BERT = {"query": "attention.self.query", "key": "attention.self.key",
        "value": "attention.self.value", "attention_out": "attention.output.dense",
        "ffn_in": "intermediate.dense", "ffn_out": "output.dense"}
LLAMA = {"query": "self_attn.q_proj", "key": "self_attn.k_proj", "value": "self_attn.v_proj",
         "attention_out": "self_attn.o_proj", "ffn_in": "mlp.up_proj",
         "ffn_out": "mlp.down_proj", "ffn_gate": "mlp.gate_proj"}
FAMILIES = [
    (bert, "bert.encoder.layer", BERT),
    (distilbert, "distilbert.transformer.layer", {
        "query": "attention.q_lin", "key": "attention.k_lin", "value": "attention.v_lin",
        "attention_out": "attention.out_lin", "ffn_in": "ffn.lin1", "ffn_out": "ffn.lin2"}),
    (deberta, "deberta.encoder.layer", {
        **BERT, **{one: f"attention.self.{one}_proj" for one in ("query", "key", "value")}}),
    (modernbert, "model.layers", {
        "qkv": "attn.Wqkv", "attention_out": "attn.Wo", "ffn_in": "mlp.Wi",
        "ffn_out": "mlp.Wo"}),
    (llama, "model.layers", LLAMA),
    (phi, "model.layers", {"qkv": "self_attn.qkv_proj", "attention_out": "self_attn.o_proj",
                           "ffn_out": "mlp.down_proj"})]
# Other words of a study for the maps.
ALIASES = {"query": ["q_lin", "query_proj", "q_proj"], "key": ["k_lin", "key_proj", "k_proj"],
           "value": ["v_lin", "value_proj", "v_proj"], "qkv": ["Wqkv"],
           "attention_out": ["attention_output", "out_lin", "o_proj"],
           "ffn_in": ["lin1", "Wi", "up_proj"], "ffn_out": ["lin2", "down_proj"],
           "ffn_gate": ["gate_proj"]}


def vit():
    return timm.create_model("vit_tiny_patch16_224", img_size=32, embed_dim=16, depth=4,
                             num_heads=2, num_classes=2)


class Planned:
    """A study whose plan is known, since it searches the head's rate alone. A rate is a
    number, or {"rank": [4], "fixed": 1e-4}."""

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
        ranks = {f"rank.{name}": rate["rank"][0] for name, rate in rates.items()
                 if isinstance(rate, dict)}
        trials = [{"state": "TRIAL_STATE_SUCCEEDED",
                   "parameters": {"head": 1e-3 * (1 + i % 2), **ranks},
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


def swift_freeze(model, expression):
    freeze = function_of("swift", "utils/transformers_utils.py", "freeze_parameters",
                         re=re, np=numpy, bisect_right=bisect.bisect_right, logger=silent(),
                         nn=torch.nn)
    freeze(model, 0, [], expression)


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

    def test_peft_and_timm_together_have_the_rates(self):
        lora = {"lora": {"rank": 2, "modules": ["qkv"]}}
        with plans() as client:
            planned = Planned(client, {**DEEP, "layer.3": 3e-4}, training=lora)
            model = run(planned.words("peft"), model=vit())["model"]
            made = run(planned.words("timm"), model=model)
            seen = rates_of(model, made["optimizer"].param_groups)
            self.assertEqual(trains(model), set(seen))
            for name, rate in seen.items():
                layer = re.search(r"blocks\.(\d+)\.", name)
                self.assertEqual(planned.rates[f"layer.{layer[1]}" if layer else "head"], rate)
            self.assertIn("`frostline plan … --for peft` makes them", planned.words("timm"))

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


class Maps(unittest.TestCase):
    """The linear maps that a plan's words adapt, in small models of each family."""

    @staticmethod
    def planned(client, maps):
        """A plan of adapters in the layers 2 and 3."""
        return Planned(client, DEEP, training={"lora": {"rank": 2, "modules": maps}})

    @staticmethod
    def adapted(model):
        """The names of the maps that have adapters, as the model had them before."""
        return {re.sub(r"^base_model\.model\.", "", name.split(".lora_A")[0])
                for name in trains(model) if "lora_A" in name}

    def test_peft_adapts_each_map_of_each_family(self):
        every = {one for _, _, names in FAMILIES for one in names}
        cases = [[one] for one in sorted(every)] + [
            ["attention_out", "ffn_out"], ["query", "qkv", "ffn_in"], sorted(every)]
        with plans() as client:
            for maps in cases:
                words = self.planned(client, maps).words("peft")
                for make, stack, names in FAMILIES:
                    wanted = {f"{stack}.{layer}.{names[one]}" for one in maps if one in names
                              for layer in (2, 3)}
                    if wanted:
                        with self.subTest(maps=maps, family=make.__name__):
                            made = run(words, model=make())["model"]
                            self.assertEqual(wanted, self.adapted(made))

    def test_peft_trains_the_head_of_each_family(self):
        with plans() as client:
            words = self.planned(client, ["attention_out"]).words("peft")
        for make, stack, _ in FAMILIES:
            model = make()
            wanted = {name for name, module in layers.Weights(model, ()).of.items()
                      if module == "head"}
            made = run(words, model=model)["model"]
            self.assertEqual(wanted, {
                re.sub(r"^base_model\.model\.|modules_to_save\.default\.", "", name)
                for name in trains(made) if "lora_" not in name}, make.__name__)

    def test_a_study_that_names_no_maps_adapts_query_and_value(self):
        with plans() as client:
            words = Planned(client, DEEP, training={"lora": {"rank": 2}}).words("peft")
        for make, stack, names in FAMILIES:
            if "query" in names:
                wanted = {f"{stack}.{layer}.{names[one]}" for one in ("query", "value")
                          for layer in (2, 3)}
                self.assertEqual(wanted, self.adapted(run(words, model=make())["model"]))

    def test_other_tools_adapt_each_map_of_a_decoder(self):
        with plans() as client:
            for one, name in LLAMA.items():
                planned = self.planned(client, [one])
                for tool, targets in self.targets_of(planned).items():
                    with self.subTest(one, tool=tool):
                        made = peft.get_peft_model(llama(), peft.LoraConfig(**targets))
                        layers_of = {2, 3} if tool != "llama-factory" else range(4)
                        self.assertEqual({f"model.layers.{layer}.{name}" for layer in layers_of},
                                         self.adapted(made))

    @staticmethod
    def targets_of(planned):
        """What each tool passes on to peft."""
        said = {tool: yaml.safe_load(planned.words(tool))
                for tool in ("axolotl", "llama-factory", "ms-swift")}
        call = ast.parse(planned.words("unsloth")).body[-1].value
        given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        return {
            "axolotl": {"target_modules": said["axolotl"]["lora_target_modules"],
                        "layers_to_transform": said["axolotl"]["peft_layers_to_transform"]},
            "llama-factory": {"target_modules": said["llama-factory"]["lora_target"].split(",")},
            "ms-swift": {"target_modules": said["ms-swift"]["target_regex"]},
            "unsloth": {"target_modules": given["target_modules"],
                        "layers_to_transform": given["layers_to_transform"]}}

    def test_other_words_for_a_map_give_the_same_plan(self):
        def without_id(planned, tool):
            return planned.words(tool).replace(planned.study.id, "")

        with plans() as client:
            for one, others in ALIASES.items():
                ours = self.planned(client, [one])
                theirs = [self.planned(client, [other, one]) for other in others]
                for tool in ("peft", "axolotl", "llama-factory", "ms-swift", "unsloth"):
                    for other, planned in zip(others, theirs):
                        with self.subTest(other, tool=tool):
                            self.assertEqual(without_id(ours, tool), without_id(planned, tool))


class OurTrainer(unittest.TestCase):
    """What our trainer trains of a small Llama, and what the words of tools do."""

    REST = {"embeddings": 0, "layer.0": 0, "layer.1": 0, "layer.2": 1e-4}
    CASES = {"all": {**REST, "layer.3": 1e-4}, "none": {**REST, "layer.3": 0},
             "attention": {**REST, "layer.3.attention": 1e-4, "layer.3.ffn": 0},
             "ffn": {**REST, "layer.3.attention": 0, "layer.3.ffn": 1e-4}}

    def moved(self, client, name, rates):
        """The weights that our trainer moves, by the names of transformers."""
        modules = {module: rate or "frozen" for module, rate in rates.items()}
        study = client.create_study(
            name, minimize="loss", budget=1, model={"id": "tiny", "layers": 4, "no_pooler": True},
            space={"modules": {**modules, "head": [1e-3, 2e-3]}},
            data={"id": "rows", "task": "classification", "validation_share": 0.2},
            training={"epochs": 1, "batch_size": 16, "max_length": 16, "precision": "fp32",
                      "extra": {"export": "all"}})
        self.world.work(client, name, "--keep", "all")
        trial = next(study.results())
        self.assertEqual("SUCCEEDED", trial.state, trial.cause)
        before, after = (safetensors.torch.load_file(f"{folder}/model.safetensors")
                         for folder in ("tiny", f"runs/trials/{name}/0/1/model"))
        return {name for name, weight in after.items() if not torch.equal(weight, before[name])}

    def test_every_tool_trains_the_weights_that_our_trainer_does(self):
        with scratch() as folder, plans() as client:
            self.addCleanup(os.chdir, ROOT)
            self.world = World(folder, make_llama)
            for case, rates in self.CASES.items():  # what trains of the last layer
                moved = self.moved(client, case, rates)
                self.assertEqual(case in ("all", "ffn"), "model.norm.weight" in moved)
                planned = Planned(client, rates)
                for tool in ("torch", "hf-trainer", "timm", "axolotl", "ms-swift"):
                    with self.subTest(case, tool=tool):
                        self.assertEqual(moved, self.trained(tool, planned.words(tool)))
                self.assertEqual(moved, planned.trained(llama("SequenceClassification")))

    @staticmethod
    def trained(tool, words):
        model = llama("SequenceClassification")
        if tool == "axolotl":
            axolotl_freeze.freeze_layers_except(
                model, yaml.safe_load(words)["unfrozen_parameters"])
        elif tool == "ms-swift":
            swift_freeze(model, yaml.safe_load(words)["freeze_parameters_regex"])
        else:
            run(words, model=model, train=None, args=None)
        return trains(model)


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
        rates = {"embeddings": 0, "layer.0": 1e-4, "layer.1": 0, "layer.2.attention": 0,
                 "layer.2.ffn": 1e-4, "layer.3": 1e-4}
        with plans() as client:
            planned = Planned(client, rates)
            said = yaml.safe_load(planned.words("ms-swift"))
            model = llama()
            swift_freeze(model, said["freeze_parameters_regex"])
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
                self.assertEqual(3 not in frozen, "the norm behind the last layer" in words)
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
            self.assertEqual(["lm_head.", "score."], said["unfrozen_parameters"])

    RANKS = {"embeddings": 0, "layer.0": 0, "layer.1": 0,
             "layer.2": {"rank": [4], "fixed": 1e-4}, "layer.3": {"rank": [4], "fixed": 1e-4}}

    def test_a_tool_of_one_rank_refuses_a_plan_of_several(self):
        several = {
            "layer.3 at rank 8": {"layer.3": {"rank": [8], "fixed": 1e-4},
                                  "layer.1": {"rank": [4], "fixed": 1e-4}},
            "layer.3 whole": {"layer.3": 1e-4},
            "layer.3.attention at rank 4": {
                "layer.3": None, "layer.3.attention": {"rank": [4], "fixed": 1e-4}}}
        with plans() as client:
            for told, changed in several.items():
                rates = {**self.RANKS, **changed}
                planned = Planned(client, {m: r for m, r in rates.items() if r is not None})
                self.assertIn("rank_pattern" if "rank 8" in told else "LoraConfig",
                              planned.words("peft"))
                for tool in ("axolotl", "llama-factory", "ms-swift", "unsloth"):
                    with self.subTest(told, tool=tool), self.assertRaises(
                            errors.InvalidArgument) as caught:
                        planned.words(tool)
                    self.assertIn("FL-1016", str(caught.exception))
                    self.assertIn(f"{tool} has adapters of one rank, 4 here, and the plan "
                                  f"trains {told}", str(caught.exception))
                    self.assertIn("take peft, whose rank_pattern says each rank, or torch "
                                  "after it", str(caught.exception))

    def test_a_tool_of_one_rank_takes_a_plan_of_equal_ranks(self):
        with plans() as client:
            planned = Planned(client, self.RANKS)
            for tool, word in (("axolotl", "lora_r: 4"), ("llama-factory", "lora_rank: 4"),
                               ("ms-swift", "lora_rank: 4"), ("unsloth", "r=4,")):
                self.assertIn(word, planned.words(tool))

    def test_biases_alone_have_no_words_elsewhere(self):
        with plans() as client, self.assertRaises(errors.Error) as caught:
            Planned(client, DEEP, training={"trains": "biases"}).words("torch")
        self.assertIn("biases or bottleneck adapters", str(caught.exception))


if __name__ == "__main__":
    sys.exit(run_and_count())
