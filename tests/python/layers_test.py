#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers_test.py PROGRAMS: a study's modules in models of transformers, trained for real."""
import importlib.util
import re
import sys
import unittest
import warnings

import world  # noqa: F401

import torch
import transformers

from frostline import errors, layers
from frostline._trial import Trial
from totals import run_and_count

SMALL = dict(hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
             intermediate_size=32)
ALL = ["embeddings", "layer.0", "layer.1", "layer.2", "pooler", "head"]


def bert(words=40):
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=words, **SMALL))


def llama(kind="Llama", tied=False):
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=40, num_key_value_heads=2, pad_token_id=0, tie_word_embeddings=tied,
        **SMALL)
    head = "ForCausalLM" if tied else "ForSequenceClassification"
    return getattr(transformers, f"{kind}{head}")(config)


def vit():
    return transformers.ViTForImageClassification(
        transformers.ViTConfig(image_size=8, patch_size=4, **SMALL))


def trial_of(**rates):
    return Trial({"rates": {name.replace("_", "."): rate for name, rate in rates.items()},
                  "trial": "studies/toy/trials/0"})


def train(model, optimizer, steps=2):
    for _ in range(steps):
        if hasattr(model, "vit"):
            out = model(pixel_values=torch.rand(2, 3, 8, 8), labels=torch.tensor([0, 1]))
        else:
            out = model(input_ids=torch.randint(1, 40, (2, 6)), labels=torch.tensor([0, 1]))
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()


class Names(unittest.TestCase):
    def test_layers_are_found_in_every_family(self):
        for model, modules in ((bert(), ALL), (llama(), ALL[:4] + ["head"]),
                               (llama("Qwen2"), ALL[:4] + ["head"]),
                               (vit(), ALL[:4] + ["head"])):
            with self.subTest(type(model).__name__):
                weights = layers.Weights(model, modules)
                self.assertEqual(set(modules), set(weights.of.values()))
                third = [name for name, _ in weights.members("layer.2")]
                behind = re.compile(r"^(model\.norm|vit\.layernorm)\.")
                self.assertTrue(third and all(
                    ".2." in name or behind.match(name) for name in third))

    def test_the_norm_behind_the_last_layer_is_of_its_second_half(self):
        names = ["layers.0.mlp.up", "layers.1.attn.out", "layers.1.mlp.up", "norm"]
        model = torch.nn.ModuleDict({"score": torch.nn.ModuleDict({"norm": torch.nn.Linear(2, 2)})})
        for name in names:
            at = model
            for word in name.split("."):
                if word not in at:
                    at[word] = torch.nn.ModuleDict()
                at = at[word]
            at["map"] = torch.nn.Linear(2, 2)
        for modules, wanted in ((["layer.0", "layer.1", "head"], "layer.1"),
                                (["layer.0", "layer.1.attention", "layer.1.ffn", "head"],
                                 "layer.1.ffn"),
                                (["layer.0", "layer.1.attention", "layer.1", "head"],
                                 "layer.1"), ([], "layer.1")):
            of = layers.Weights(model, modules).of
            self.assertEqual((wanted, "head"), (of["norm.map.weight"], of["score.norm.weight"]))

    def test_the_norm_of_the_table_of_distances_is_of_the_embeddings(self):
        model = transformers.DebertaV2Model(transformers.DebertaV2Config(
            vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=32, relative_attention=True, norm_rel_ebd="layer_norm"))
        self.assertEqual("embeddings", layers.Weights(model, ()).of["encoder.LayerNorm.weight"])

    def test_parts_of_a_layer_are_told_apart(self):
        for model in (bert(), llama()):
            modules = [m for m in ALL if m not in ("layer.1", "pooler")] + [
                "layer.1.attention", "layer.1.ffn"] + ["pooler"] * hasattr(model, "bert")
            weights = layers.Weights(model, modules)
            attention = " ".join(name for name, _ in weights.members("layer.1.attention"))
            ffn = " ".join(name for name, _ in weights.members("layer.1.ffn"))
            self.assertRegex(attention, r"query|q_proj")
            self.assertNotRegex(ffn, r"query|q_proj")
            self.assertRegex(ffn, r"intermediate|up_proj")

    def test_a_module_that_the_model_lacks_is_named(self):
        with self.assertRaises(errors.LayerError) as caught:
            layers.Weights(bert(), [*ALL, "layer.3"])
        self.assertEqual("layer.3", caught.exception.field)
        with self.assertRaises(errors.LayerError) as caught:
            layers.Weights(torch.nn.ModuleDict({"head": torch.nn.Linear(2, 2)}),
                           ["pooler", "head"])
        self.assertIn("no_pooler: true", caught.exception.fix)

    def test_rates_alone_stand_for_a_trial(self):
        model = bert()
        rates = {**dict.fromkeys(ALL, 0.0), "layer.1": 1e-4, "head": 1e-3}
        groups = layers.apply(rates, model)
        self.assertEqual([("layer.1", 1e-4), ("head", 1e-3)],
                         [(group["name"], group["lr"]) for group in groups])
        self.assertFalse(model.bert.embeddings.word_embeddings.weight.requires_grad)

    def test_a_weight_that_nobody_names_is_named(self):
        with self.assertRaises(errors.LayerError) as caught:
            layers.Weights(bert(), ALL[:-2])
        self.assertIn("bert.pooler.dense.weight", caught.exception.cause)
        layers.Weights(bert(), ALL[:-2], others=0.0)

    def test_names_of_the_user_s_own(self):
        model = torch.nn.ModuleDict({
            "front": torch.nn.Linear(2, 2), "top": torch.nn.Linear(2, 2),
            "stage": torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(2))})
        weights = layers.Weights(
            model, ["embeddings", "layer.0", "layer.1", "head"],
            {"embeddings": "^front", "head": "^top", "layer.*": "stage.{}"})
        self.assertEqual(["stage.1.weight", "stage.1.bias"],
                         [name for name, _ in weights.members("layer.1")])

    def test_wrappers_change_no_name(self):
        model = torch.nn.DataParallel(bert())
        self.assertEqual({f"module.{name}": module for name, module in
                          layers.Weights(bert(), ALL).of.items()},
                         layers.Weights(model, ALL).of)

    def test_names_that_map_nothing_are_refused(self):
        for names, words in (({"layers.*": "stage.{}"}, "names maps 'layers.*'"),
                             ({"head": ["^top"]}, "is text, not"),
                             ({"head": "("}, "is no regular expression")):
            with self.subTest(words), self.assertRaises(errors.LayerError) as caught:
                layers.Weights(bert(), ALL, names)
            self.assertIn(words, caught.exception.cause)

    def test_two_stacks_are_not_guessed_between(self):
        with self.assertRaisesRegex(errors.LayerError, "several stacks"):
            layers.Weights(transformers.BartModel(transformers.BartConfig(
                d_model=16, encoder_layers=1, decoder_layers=1, vocab_size=40,
                encoder_attention_heads=2, decoder_attention_heads=2,
                encoder_ffn_dim=16, decoder_ffn_dim=16)), ["layer.0"])


class Freezing(unittest.TestCase):
    def test_what_is_frozen_stays_and_the_rest_moves(self):
        for make, modules in ((bert, ALL), (llama, ALL[:4] + ["head"]),
                              (vit, ALL[:4] + ["head"])):
            with self.subTest(make.__name__):
                model = make()
                rates = {m: 0.0 if m in ("embeddings", "layer.0") else 1e-2 for m in modules}
                trial = trial_of(**rates)
                optimizer = torch.optim.AdamW(trial.apply(model))
                train(model, optimizer)
                moved = trial.audit(model, optimizer).moved()
                self.assertEqual([0, 0], [moved["embeddings"], moved["layer.0"]])
                self.assertTrue(all(moved[m] > 1e-4 for m in modules[2:]))

    def test_each_module_has_its_rate(self):
        trial = trial_of(**{m: i * 1e-3 for i, m in enumerate(ALL)})
        groups = trial.apply(bert())
        self.assertEqual({m: i * 1e-3 for i, m in enumerate(ALL) if i},
                         {g["name"]: g["lr"] for g in groups})

    def test_biases_and_norms_do_not_decay(self):
        groups = trial_of(**{m: 1e-3 for m in ALL}).apply(bert(), weight_decay=0.1)
        self.assertTrue(all((g["weight_decay"] == 0) == (g["params"][0].ndim < 2)
                            for g in groups))

    def test_alone_everything_trains_at_one_rate(self):
        trial = Trial({}, alone=True)
        with self.assertRaises(errors.LayerError):
            trial.apply(bert())
        groups = trial.apply(bert(), lr=1e-3)
        self.assertEqual(len(list(bert().parameters())),
                         sum(len(g["params"]) for g in groups))
        self.assertEqual({1e-3}, {g["lr"] for g in groups})

    def test_tied_weights_are_said(self):
        trial = trial_of(embeddings=0.0, layer_0=1e-3, layer_1=1e-3, layer_2=1e-3, head=1e-3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            trial.apply(llama(tied=True))
        self.assertIn("lm_head.weight is tied to model.embed_tokens.weight",
                      str(said[0].message))

    def test_a_frozen_prefix_without_autograd_and_dropout(self):
        model = bert()
        trial_of(**{m: 0.0 if i < 3 else 1e-3 for i, m in enumerate(ALL)}).apply(
            model, eval_frozen=True)
        model.train()
        seen = {}
        for i in (1, 2):
            model.bert.encoder.layer[i].register_forward_hook(
                lambda m, _i, out, i=i: seen.update({i: out}))
        model(input_ids=torch.ones(1, 3, dtype=torch.long))
        out = {i: o[0] if isinstance(o, tuple) else o for i, o in seen.items()}
        self.assertFalse(out[1].requires_grad or model.bert.encoder.layer[1].training)
        self.assertTrue(out[2].requires_grad and model.bert.encoder.layer[2].training)

    def test_an_optimizer_of_its_class(self):
        optimizer = trial_of(**{m: 1e-3 for m in ALL}).param_groups(
            bert(), torch.optim.SGD, arguments={"momentum": 0.9})
        self.assertEqual((6, 0.9), (len(optimizer.param_groups),
                                    optimizer.param_groups[0]["momentum"]))


class Audits(unittest.TestCase):
    def applied(self, **rates):
        model = bert()
        trial = trial_of(**{**{m: 1e-2 for m in ALL}, **rates})
        return model, trial, trial.apply(model)

    def test_a_module_that_is_in_no_optimizer_fails_the_trial(self):
        model, trial, groups = self.applied()
        optimizer = torch.optim.AdamW([g for g in groups if g["name"] != "layer.1"])
        train(model, optimizer)
        with self.assertRaisesRegex(errors.AuditFailed,
                                    r"layer\.1 should have moved .* is not in the optimizer"):
            trial.audit(model, optimizer)

    def test_gradients_that_never_come_are_said(self):
        model, trial, groups = self.applied()
        optimizer = torch.optim.AdamW(groups)
        cut = model.bert.encoder.layer[1].register_forward_hook(
            lambda _m, _i, out: out[0].detach() if isinstance(out, tuple) else out.detach())
        train(model, optimizer)
        cut.remove()
        with self.assertRaisesRegex(errors.AuditFailed, r"layer\.0 .* never had a gradient"):
            trial.audit(model, optimizer)

    def test_a_frozen_module_that_moves_is_said(self):
        model, trial, groups = self.applied(**{"layer.0": 0.0})
        with torch.no_grad():
            next(model.bert.encoder.layer[0].parameters()).add_(1e-3)
        made = trial.audit(model, must_pass=False)
        self.assertIn("layer.0 is frozen and moved", made.wrong)

    def test_changes_that_no_sum_and_no_sample_would_show_are_found(self):
        model, trial = bert(4000), trial_of(**{**{m: 1e-2 for m in ALL}, "embeddings": 0.0})
        trial.apply(model)
        big = model.bert.embeddings.word_embeddings.weight
        with torch.no_grad():  # up here and down there by as much
            big.view(-1)[1] += 0.5
            big.view(-1)[3] -= 0.5
        made = trial.audit(model, must_pass=False)
        self.assertIn("embeddings is frozen and moved", made.wrong)
        self.assertGreater(made.moved()["embeddings"], 0)
        self.assertEqual(0, made.moved()["layer.0"])

    def test_one_bit_of_any_type_is_found_wherever_it_is(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.uint8):
            for count in (1, 3, 7, 4099):
                one = torch.randint(0, 99, (count + 1,)).to(dtype)[1:]  # not aligned
                before = layers._Print(one)
                for place in {0, count // 2, count - 1}:
                    changed = one.clone()
                    changed.view(torch.uint8)[place * one.element_size()] ^= 0x80
                    self.assertNotEqual(before.hash, layers._Print(changed).hash,
                                        (dtype, count, place))
                self.assertEqual(before.hash, layers._Print(one.clone()).hash)

    def test_a_model_that_was_cast_since_is_said(self):
        model, trial, _ = self.applied()
        model.half()
        with self.assertRaisesRegex(errors.LayerError, "was torch.float32 when apply"):
            trial.audit(model)

    def test_bytes_of_the_optimizer_are_counted(self):
        model, trial, groups = self.applied(embeddings=0.0)
        optimizer = torch.optim.AdamW(groups)
        train(model, optimizer)
        rows = {row[0]: row for row in trial.audit(model, optimizer).rows}
        bytes_of = {name: row[6:] for name, row in rows.items()}
        self.assertEqual((0, 4 * rows["embeddings"][2], 0), bytes_of["embeddings"])
        weights = rows["layer.0"][2]
        self.assertGreaterEqual(bytes_of["layer.0"][0], 8 * weights)
        self.assertEqual((4 * weights, 4 * weights), bytes_of["layer.0"][1:])

    def test_an_audit_needs_apply(self):
        with self.assertRaises(errors.LayerError):
            trial_of(head=1).audit(bert())


@unittest.skipUnless(importlib.util.find_spec("peft"), "there is no peft")
class Adapters(unittest.TestCase):
    def test_each_layer_has_its_rank_and_frozen_ones_none(self):
        import peft
        trial = Trial({"rates": {**{m: 1e-3 for m in ALL}, "layer.0": 0.0},
                       "parameters": {"rank.layer.1": 2.0, "rank.layer.2": 8.0}})
        model = bert()
        adapted = peft.get_peft_model(model, trial.lora_config(model, target_modules=["query"]))
        ranks = {name.split("layer.")[1][0]: p.shape[0]
                 for name, p in adapted.named_parameters() if "lora_A" in name}
        self.assertEqual({"1": 2, "2": 8}, ranks)

    def mixed(self, model, **ranks):
        """Adapters in some modules, others that train whole, and frozen ones."""
        import peft
        ranks = {name.replace("_", "."): rank for name, rank in ranks.items()}
        rates = {m: 0.0 for m in ALL if m != "pooler" or hasattr(model, "bert")}
        rates.update({m: 2e-2 for m, rank in ranks.items() if rank})
        trial = Trial({"rates": {**rates, "layer.2": 1e-2, "head": 1e-2}, "ranks": ranks,
                       "training": {"lora": {"alpha_per_rank": 2}}})
        return trial, peft.get_peft_model(model, trial.lora_config(model))

    def test_adapted_trained_and_frozen_modules_stand_in_one_model(self):
        for model in (bert(), llama()):
            with self.subTest(type(model).__name__):
                trial, adapted = self.mixed(model, layer_0=2, layer_1=8)
                optimizer = torch.optim.AdamW(trial.apply(adapted))
                shapes = {(name.split("layer")[1].split(".")[1], p.shape[0])
                          for name, p in adapted.named_parameters() if "lora_A" in name}
                self.assertEqual({("0", 2), ("1", 8)}, shapes)
                scales = {part.scaling["default"] for part in adapted.modules()
                          if hasattr(part, "lora_A")}
                self.assertEqual({2.0}, scales)
                rates = {group["name"]: group["lr"] for group in optimizer.param_groups}
                self.assertEqual({"layer.0": 2e-2, "layer.1": 2e-2, "layer.2": 1e-2,
                                  "head": 1e-2}, rates)
                for name, p in adapted.named_parameters():
                    whole = ".2." in name or "classifier" in name or "score" in name
                    self.assertEqual("lora_" in name or whole or name.endswith(
                        "model.norm.weight"), p.requires_grad, name)
                train(adapted, optimizer, 4)
                self.assertEqual([], trial.audit(adapted, optimizer).wrong)
                with torch.no_grad():
                    next(p for n, p in adapted.named_parameters()
                         if ".1." in n and "base_layer" in n).add_(1.0)
                self.assertIn("weights of layer.1 that do not train moved",
                              trial.audit(adapted, optimizer, must_pass=False).wrong[0])

    def test_a_half_of_a_layer_has_a_rank_of_its_own(self):
        import peft
        trial = Trial({"rates": {**{m: 0.0 for m in ALL if m != "layer.1"},
                                 "layer.1.attention": 1e-2, "layer.1.ffn": 1e-2},
                       "ranks": {"layer.1.attention": 2, "layer.1.ffn": 4},
                       "training": {"lora": {"modules": ["query", "ffn_in"], "alpha": 8}}})
        model = bert()
        adapted = peft.get_peft_model(model, trial.lora_config(model))
        shapes = {name.split(".lora_A")[0].split("layer.1.")[1]: p.shape[0]
                  for name, p in adapted.named_parameters() if "lora_A" in name}
        self.assertEqual({"attention.self.query": 2, "intermediate.dense": 4}, shapes)

    def test_maps_have_the_words_of_every_family(self):
        import peft
        for words in (["query", "ffn_in", "attention_out"],
                      ["q_proj", "Wi", "attention_output"], ["query_proj", "lin1", "out_lin"]):
            model = bert()
            trial = Trial({"rates": {**dict.fromkeys(ALL, 0.0), "layer.1": 1e-2},
                           "ranks": {"layer.1": 2}, "training": {"lora": {"modules": words}}})
            adapted = peft.get_peft_model(model, trial.lora_config(model))
            self.assertEqual(
                {"attention.self.query", "intermediate.dense", "attention.output.dense"},
                {name.split(".lora_A")[0].split("layer.1.")[1]
                 for name, _ in adapted.named_parameters() if "lora_A" in name})

    def test_ranks_without_adapters_are_said(self):
        trial = Trial({"rates": {m: 1e-3 for m in ALL}, "ranks": {"layer.1": 4}})
        with self.assertRaisesRegex(errors.LayerError, "layer.1 has an adapter of rank 4"):
            trial.apply(bert())
        with self.assertRaisesRegex(errors.LayerError, "none of its linear maps is called"):
            trial.lora_config(bert(), target_modules=["q_proj"])
        none = Trial({"rates": {m: 1e-3 for m in ALL}, "ranks": {"layer.1": 0}})
        with self.assertRaisesRegex(errors.LayerError, "every rank of this trial is 0"):
            none.lora_config(bert())

    def test_a_space_without_ranks_is_said(self):
        with self.assertRaisesRegex(errors.LayerError, "no layer has a rank"):
            trial_of(head=1).lora_config(bert())


if __name__ == "__main__":
    sys.exit(run_and_count())
