#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records bottleneck adapters, training of biases and SMART in plain PyTorch.

    HF_HUB_OFFLINE=1 python scripts/layers_fixtures.py --seed 31 --out DIR
    ./dev parity --fixtures DIR

Trains the models of parity_fixtures.py, which are made below DIR where they are
not there, and writes trajectories/*_sSEED.json. docs/reference/parity.md says
what the files hold. The formulas are those of the papers, written out here once
more: Houlsby et al. (2019), figure 2; Ben Zaken et al. (2022), section 2; Jiang
et al. (2020), equations 1 to 3 and algorithm 1.
"""

import argparse
import copy
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

import parity_fixtures as shared

RATES = shared.LEVEL | {"embeddings": 0.0}
SMART = dict(weight=1.5, bregman=0.7, momentum=0.9, steps=2, radius=0.08,
             step_size=0.05, noise_variance=1e-3, enter="embeddings")

CASES = {
    "distilbert_o_adapters": dict(
        model="distilbert-sst2", weight_decay=0.1, rates=RATES,
        adapters={"size": 6, "activation": "gelu"}),
    "bert_o_adapters": dict(
        model="bert-accumulated",
        rates=RATES | {"layer.0": 0.0, "layer.1.ffn": 0.0, "layer.2": 2e-3},
        adapters={"size": 3, "activation": "relu"}),
    "bert_p_biases": dict(
        model="bert-accumulated", biases=True, weight_decay=0.1,
        rates=shared.LEVEL | {"layer.0": 0.0, "layer.1.attention": 3e-3}),
    "distilbert_p_biases": dict(
        model="distilbert-sst2", biases=True, mode="lr0", clip=0.5,
        rates=RATES | {"layer.1": 0.0}),
    "distilbert_q_smart": dict(model="distilbert-sst2", smart=SMART),
    "distilbert_q_smart_boundary": dict(
        model="distilbert-sst2", rates=RATES | {"layer.0": 0.0},
        smart=SMART | {"enter": "boundary", "bregman": 0.0}),
    "distilbert_q_smart_prefix": dict(
        model="distilbert-sst2", rates=RATES | {"layer.0": 0.0},
        smart=SMART | {"steps": 1}),
    "bert_q_smart_tags": dict(model="bert-accumulated", smart=SMART),
    "bert_q_smart_pair": dict(
        model="bert-pair", rates={name: 1e-4 for name in shared.LEVEL},
        smart=SMART | {"weight": 0.3, "bregman": 0.2}),
}


# ---------------------------------------------------------------- adapters
class Adapted(torch.nn.Module):
    """h + W_up f(W_down h), of what a linear map gives."""

    def __init__(self, base, size, activation):
        super().__init__()
        self.base_layer = base
        self.adapter = torch.nn.ModuleDict({
            "down": torch.nn.Linear(base.out_features, size),
            "up": torch.nn.Linear(size, base.out_features)})
        self.activation = {"gelu": F.gelu, "relu": F.relu}[activation]

    def forward(self, x):
        h = self.base_layer(x)
        return h + self.adapter["up"](
            self.activation(self.adapter["down"](h)))


BEHIND = ("attention.out_lin", "ffn.lin2", "attention.output.dense",
          "output.dense")


def put_adapters(model, spec, dice):
    """Both of a layer: behind attention and behind the feed forward."""
    found = [(name, module) for name, module in model.named_modules()
             if ".layer." in name and name.endswith(BEHIND)]
    assert len(found) == 2 * shared.LAYERS, [name for name, _ in found]
    for name, module in found:
        parent, last = name.rsplit(".", 1)
        setattr(model.get_submodule(parent), last,
                Adapted(module, spec["size"], spec["activation"]))
    with torch.no_grad():
        for name, value in model.named_parameters():
            if ".adapter." in name:
                value.copy_(0.3 * torch.randn(value.shape, generator=dice))
    return model


# ------------------------------------------------------------------- SMART

class Smart:
    """L + weight R_s + bregman D_Bregman; equations 1 and 3."""

    def __init__(self, spec, model, place, noise, pair):
        self.spec, self.place, self.noise, self.pair = spec, place, noise, pair
        self.mean = copy.deepcopy(model)  # of earlier weights
        for value in self.mean.parameters():
            value.requires_grad_(False)

    def run(self, model, batch, delta=None):
        """The model's output where `delta` is added to what `place` gives."""
        def add(_module, _inputs, output):
            if delta is None:
                return output
            if isinstance(output, tuple):
                return (output[0] + delta,) + output[1:]
            return output + delta
        hook = model.get_submodule(self.place).register_forward_hook(add)
        out = model(**batch)
        hook.remove()
        return out

    def distances(self, left, right, labels):
        """l_s of every example: symmetric KL divergence, or a squared error."""
        if self.pair:
            return (left - right) ** 2
        p, q = left.softmax(-1), right.softmax(-1)
        divergence = ((p * (p.log() - q.log())).sum(-1) +
                      (q * (q.log() - p.log())).sum(-1))
        if labels.dim() == 2:
            return divergence[labels != -100]
        return divergence

    def adversary(self, model, batch, clean, rows):
        """Algorithm 1, lines 5 to 9, for the texts that `rows` marks."""
        spec = self.spec
        delta = self.noise[len(batch["input_ids"])] * rows.view(-1, 1, 1)
        for _ in range(spec["steps"]):
            delta = delta.detach().requires_grad_()
            out = self.run(model, batch, delta).logits
            loss = self.distances(clean.detach(), out, batch["labels"]).sum()
            g, = torch.autograd.grad(loss, delta)
            size = g.abs().flatten(1).max(1).values.view(-1, 1, 1)
            g = torch.where(size > 0, g / size, torch.zeros_like(g))
            # Only the texts of this turn move.
            delta = delta + spec["step_size"] * g * rows.view(-1, 1, 1)
            delta = delta.clamp(-spec["radius"], spec["radius"])
        return delta.detach()

    def loss(self, model, batch):
        spec, labels = self.spec, batch["labels"]
        clean = model(**batch)
        rows = len(batch["input_ids"])
        if self.pair:  # the left texts, then the right ones
            left = (torch.arange(rows) < rows // 2).float()
            turns = [left, 1 - left]
        else:
            turns = [torch.ones(rows)]
        smooth = 0.0
        for turn in turns:
            delta = self.adversary(model, batch, clean.logits, turn)
            moved = self.run(model, batch, delta).logits
            smooth += self.distances(moved, clean.logits, labels).mean()
        loss = clean.loss + spec["weight"] * smooth / len(turns)
        if spec["bregman"] > 0:
            with torch.no_grad():
                before = self.mean(**batch).logits
            loss = loss + spec["bregman"] * self.distances(
                clean.logits, before, labels).mean()
        return loss

    def after_step(self, model):
        """theta~ = (1 - beta) theta + beta theta~."""
        beta = self.spec["momentum"]
        with torch.no_grad():
            for mean, value in zip(self.mean.parameters(), model.parameters()):
                mean.copy_((1 - beta) * value + beta * mean)


def place_of(case, model):
    family = "distilbert" if hasattr(model, "distilbert") else "bert"
    if case["smart"]["enter"] == "embeddings":
        return f"{family}.embeddings"
    frozen = sum(case["rates"][f"layer.{i}"] == 0.0
                 for i in range(shared.LAYERS))  # from the bottom in all cases
    layers = "transformer" if family == "distilbert" else "encoder"
    return f"{family}.{layers}.layer.{frozen - 1}"


# -------------------------------------------------------------------- all
def read_model(out, name, dice):
    """As its folder has it, which is made where it is not there."""
    folder = out / "models" / name
    if not folder.exists():
        shared.record_model(out, name, dice)
    model, _ = shared.MODELS[name][1](dice)
    # Sums over texts are steep in a model of two layers: all of it is read.
    missing = model.load_state_dict(
        {n: v.float() for n, v in load_file(folder / "model.safetensors").items()},
        strict=False).missing_keys
    assert all("position_ids" in each for each in missing), missing
    return model


def record(out, name, changes, dice, batches, batch_file, seed):
    case = dict(changes)
    model = read_model(out, case["model"], dice)
    called = f"{name}_s{seed}"
    task = shared.MODELS[case["model"]][0]
    more = {}
    if case.get("adapters"):
        model = put_adapters(model, case["adapters"], dice)
        more["adapters"] = case["adapters"] | {
            "start": f"trajectories/{called}.safetensors"}
        save_file({shared.plain(n): p.detach().contiguous()
                   for n, p in model.named_parameters() if ".adapter." in n},
                  out / "trajectories" / f"{called}.safetensors")
    if case.get("biases"):
        more["trains"] = "biases"
    if case.get("smart"):
        spec = case["smart"]
        noise = {len(batch["input_ids"]): spec["noise_variance"] ** 0.5 *
                 torch.randn(*batch["input_ids"].shape, shared.WIDTH,
                             generator=dice) *
                 batch["attention_mask"].unsqueeze(-1) for batch in batches}
        case["smart"] = Smart(spec, model, place_of(case, model), noise,
                              task == "pair")
        more["smart"] = spec | {"noise": f"trajectories/{called}.safetensors"}
        save_file({f"rows{rows}": value.contiguous()
                   for rows, value in noise.items()},
                  out / "trajectories" / f"{called}.safetensors")
    shared.record_case(out, called, case, model, batches, batch_file, more)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    dice = torch.Generator().manual_seed(arguments.seed + 1)
    out = arguments.out
    (out / "trajectories").mkdir(parents=True, exist_ok=True)
    batches = {}
    for task in ("pair", "seq", "tok"):
        # Of different sizes: by these noise is told apart.
        name = f"trajectories/batches_layers_{task}_s{arguments.seed}.safetensors"
        batches[task] = name, [shared.batch_for(task, dice, rows, 10)
                               for rows in (6, 4, 2)]
        save_file(shared.tensors_of(batches[task][1]), out / name)
    for name, changes in CASES.items():
        path, some = batches[shared.MODELS[changes["model"]][0]]
        record(out, name, changes, dice, some, path, arguments.seed)
    print(f"{out}: {len(CASES)} trajectories")


if __name__ == "__main__":
    main()
