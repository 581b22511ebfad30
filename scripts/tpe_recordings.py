#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records runs of Optuna's TPESampler, for tests/parity (kind tpe_replay).

    venv5/bin/python scripts/tpe_recordings.py --seed 7 --out DIR   # optuna 5.0.0
    venv4/bin/python scripts/tpe_recordings.py --seed 7 --out DIR   # optuna 4.9.0
    ./dev parity --golden DIR

Each Python adds its own run to the files of the other. What the shared
recordings lack is here: conditional and grouped spaces, several trials at
once, constraints, several objectives, odd reports, and long runs. What a file
holds: docs/reference/parity.md.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import random
import warnings

# With AVX-512 NumPy sorts more than 256 numbers in another order.
os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL")
warnings.filterwarnings("ignore")

import optuna
from optuna.distributions import CategoricalDistribution as Choice
from optuna.distributions import FloatDistribution as Float
from optuna.distributions import IntDistribution as Int
from optuna.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.ERROR)
VERSION = optuna.__version__

# --------------------------------------------------------------------- spaces
MIXED = {"a": Float(-1.0, 2.0), "b": Float(1e-5, 1.0, log=True),
         "c": Int(1, 32, log=True), "d": Int(-3, 9, step=3),
         "e": Choice(["x", "y", "z"]), "f": Float(0.0, 1.0, step=0.25)}
LEVELS = {f"p{i}": Choice([0.0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5])
          for i in range(5)}
INTEGERS = {f"p{i}": Int(0, 6) for i in range(4)} | {"q": Int(0, 39)}
# Asked for out of alphabetical order, with a parameter of one value.
TREE = {"kind": Choice(["u", "v", "w"]), "depth": Int(0, 3),
        "z": Float(0.0, 1.0), "alone": Int(5, 5),
        "u.rate": Float(1e-6, 1e-2, log=True), "u.size": Int(1, 9, step=2),
        "v.rate": Float(1e-4, 1.0, log=True), "deep": Float(-1.0, 1.0),
        "deep.kind": Choice(["s", "t"])}
TREE_CONDITIONS = {
    "u.rate": ("kind", [0]), "u.size": ("kind", [0]), "v.rate": ("kind", [1]),
    "deep": ("depth", [2, 3]), "deep.kind": ("depth", [2, 3])}
# Rates that may be frozen: Optuna knows them as two parameters each.
RATES = {f"r{i}": Float(1e-7, 1e-3, log=True) for i in range(3)}

# ---------------------------------------------------------------------- cases
TOGETHER = {"multivariate": True}
GROUP = {"multivariate": True, "group": True}
APART = {"multivariate": False}
LIAR = {"multivariate": True, "constant_liar": True}
CASES = {
    # name: (space, sampler, what is special)
    "tree_default": (TREE, {}, {}),
    "tree_multivariate": (TREE, TOGETHER, {}),
    "tree_group": (TREE, GROUP | {"n_startup_trials": 5}, {"states": True}),
    "tree_independent": (TREE, APART, {"states": True}),
    "flat_group": (MIXED, GROUP, {}),
    "rates_default": (RATES, {}, {"rates": True}),
    "rates_group": (RATES, GROUP, {"rates": True}),
    "levels_as_int": (INTEGERS, TOGETHER, {"levels": True}),
    "parallel_liar": (MIXED, LIAR, {"at_once": 6, "states": True}),
    "parallel_liar_independent": (
        MIXED, APART | {"constant_liar": True}, {"at_once": 6}),
    "parallel_no_liar": (
        MIXED, TOGETHER | {"constant_liar": False}, {"at_once": 4}),
    "parallel_levels": (LEVELS, LIAR, {"at_once": 8}),
    "constraints": (MIXED, TOGETHER, {"constraints": 2, "states": True}),
    "constraints_tight": (LEVELS, {}, {"constraints": 3, "shift": 0.6}),
    "maximize_odd": (LEVELS, TOGETHER,
                     {"directions": ["maximize"], "odd": True}),
    "minimize_odd": (MIXED, {}, {"odd": True}),
    "two_objectives": (MIXED, {}, {"directions": ["minimize", "maximize"],
                                   "states": True}),
    "two_objectives_multivariate": (
        LEVELS, TOGETHER, {"directions": ["minimize", "minimize"]}),
    "three_objectives": (
        MIXED, {}, {"directions": ["minimize", "maximize", "minimize"]}),
    "two_objectives_constraints": (
        MIXED, {}, {"directions": ["maximize", "minimize"], "constraints": 1}),
    "startup0": (MIXED, {"n_startup_trials": 0}, {"trials": 30}),
    "candidates1": (LEVELS, {"n_ei_candidates": 1}, {}),
    "long_levels": (LEVELS, TOGETHER, {"trials": 320}),
    "long_integers": (INTEGERS, TOGETHER, {"trials": 300}),
}


def describe(domain):
    if isinstance(domain, Choice):
        return {"type": "categorical", "n": len(domain.choices)}
    return {"type": "float" if isinstance(domain, Float) else "int",
            "low": domain.low, "high": domain.high, "log": domain.log,
            "step": domain.step}


def number(value):
    """Non-finite numbers are words."""
    return value if value is None or math.isfinite(value) else str(value)


class Run:
    """One study, told what a fixed function of the parameters says."""

    def __init__(self, name, seed):
        self.space, self.sampler, self.special = CASES[name]
        self.conditions = TREE_CONDITIONS if self.space is TREE else {}
        self.salt = f"{seed}-{name}"
        self.seed = int(hashlib.sha256(self.salt.encode()).hexdigest()[:8], 16)
        self.dice = random.Random(self.seed)  # the same in both versions
        self.directions = self.special.get("directions", ["minimize"])
        self.constraints = {}
        self.events = []
        more = {}
        if "constraints" in self.special:
            more["constraints_func"] = lambda t: self.constraints[t.number]
        self.study = optuna.create_study(
            directions=self.directions, sampler=optuna.samplers.TPESampler(
                seed=self.seed, **self.sampler, **more))

    def asks_for(self, name, values):
        if name not in self.conditions:
            return True
        parent, allowed = self.conditions[name]
        return values.get(parent) in allowed

    def suggest(self, trial, name, domain):
        """The internal number: the index of a choice."""
        if isinstance(domain, Choice):
            got = trial.suggest_categorical(name, domain.choices)
        elif isinstance(domain, Float):
            got = trial.suggest_float(name, domain.low, domain.high,
                                      step=domain.step, log=domain.log)
        else:
            got = trial.suggest_int(name, domain.low, domain.high,
                                    step=domain.step, log=domain.log)
        return domain.to_internal_repr(got)

    def ask(self):
        trial = self.study.ask()
        values = {}
        for name, domain in self.space.items():
            if not self.asks_for(name, values):
                continue
            if self.special.get("rates") and self.suggest(
                    trial, name + ".frozen", Choice([False, True])) == 1:
                values[name] = 0.0
                continue
            values[name] = self.suggest(trial, name, domain)
        self.events.append(["ask", trial.number,
                            [values.get(name) for name in self.space]])
        return trial, values

    def unit(self, name, value):
        domain = self.space[name]
        if isinstance(domain, Choice):
            return value / (len(domain.choices) - 1)
        if domain.low == domain.high or value == 0.0 and domain.log:
            return 0.0
        if domain.log:
            return math.log(value / domain.low) / math.log(domain.high / domain.low)
        return (value - domain.low) / (domain.high - domain.low)

    def loss(self, values, which):
        """Rounded, so that there are equal ones."""
        total = 0.0
        for i, (name, value) in enumerate(values.items()):
            text = f"{self.salt}:{which}:{name}".encode()
            best = int(hashlib.sha256(text).hexdigest()[:8], 16) / 2**32
            total += (self.unit(name, value) - best) ** 2 * (1 + i % 3)
        return round(total, 2)

    def report(self, trial, values):
        for step in self.dice.sample(range(6), self.dice.randrange(4)):
            value = round(self.loss(values, 0) + self.dice.random(), 1)
            if self.special.get("odd"):
                value = self.dice.choice(
                    [value, value, math.nan, math.inf, -math.inf])
            trial.report(value, step)
            self.events.append(["report", trial.number, step, number(value)])

    def state(self):
        if not (self.special.get("states") or self.special.get("odd")):
            return TrialState.COMPLETE
        u = self.dice.random()
        if u < 0.12:
            return TrialState.FAIL
        if u < 0.35 and len(self.directions) == 1:
            return TrialState.PRUNED
        return TrialState.COMPLETE

    def tell(self, trial, values):
        state = self.state()
        if state == TrialState.PRUNED:
            self.report(trial, values)
        results = []
        if state == TrialState.COMPLETE:
            results = [self.loss(values, m) for m in range(len(self.directions))]
            if self.special.get("odd") and self.dice.random() < 0.2:
                results = [self.dice.choice([math.inf, -math.inf])]
        shift = self.special.get("shift", 0.9)
        broken = [round(self.loss(values, f"c{k}") - shift, 2)
                  for k in range(self.special.get("constraints", 0))]
        self.constraints[trial.number] = broken
        if state == TrialState.COMPLETE:
            self.study.tell(trial, results)
        else:
            self.study.tell(trial, state=state)
        ended = state in (TrialState.COMPLETE, TrialState.PRUNED)
        self.events.append(["tell", trial.number, state.name.lower(),
                            [number(v) for v in results],
                            broken if ended else []])

    def record(self):
        running = []
        at_once = self.special.get("at_once", 1)
        for _ in range(self.special.get("trials", 60)):
            running.append(self.ask())
            if len(running) == at_once:
                self.tell(*running.pop(self.dice.randrange(at_once)))
        return self.events

    def described(self):
        space = {name: describe(domain) for name, domain in self.space.items()}
        sampler = dict(self.sampler)
        if self.special.get("rates"):
            for domain in space.values():
                domain["type"] = "rate"
        if self.special.get("levels"):
            sampler["levels"] = "int"
            for domain in space.values():
                domain["type"] = "levels"
                domain["n"] = domain["high"] - domain["low"] + 1
        return {"space": space, "order": list(self.space),
                "conditions": {child: {"parent": parent, "values": values}
                               for child, (parent, values)
                               in self.conditions.items()},
                "directions": self.directions, "sampler": sampler,
                "seed": self.seed, "runs": {}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--trials", type=int, help="of every run")
    parser.add_argument("--only", nargs="+", default=list(CASES))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        if arguments.trials:
            CASES[name][2]["trials"] = arguments.trials
        run = Run(name, arguments.seed)
        path = arguments.out / f"tpe_replay_{name}.json"
        file = json.loads(path.read_text()) if path.exists() else run.described()
        events = json.loads(json.dumps(run.record()))
        file["runs"].pop(VERSION, None)
        same = [other for other, known in file["runs"].items() if known == events]
        file["runs"][VERSION] = {"same_as": same[0]} if same else events
        path.write_text(json.dumps(file, separators=(",", ":")) + "\n")
    print(f"{arguments.out}: {len(arguments.only)} runs of Optuna {VERSION}")


if __name__ == "__main__":
    main()
