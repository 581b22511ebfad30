#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one table from what studies recorded.

usage: pack.py --registry DIR --out FILE STUDY.json=TRIALS.json...

The two files of a study are what `study show --json` and `trial list --json`
print. Several studies are parts of one table: the same space, other training
seeds. The form of a table is in tests/bench/tables/README.md. Trials that have
not ended are left out, so an unfinished study makes a table with gaps.
"""
import argparse
import json
import pathlib

METRICS = ("accuracy", "f1", "f1_macro", "f1_micro", "mcc", "loss",
           "train_loss", "steps", "trained_parameters", "train_seconds",
           "total_seconds")
STATES = {"TRIAL_STATE_SUCCEEDED": "succeeded",
          "TRIAL_STATE_INFEASIBLE": "infeasible"}


def number(value):
    """Counts whole, all else to six digits."""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def expanded(selector, layers):
    if not selector.startswith("layer."):
        return [selector]
    place = selector.removeprefix("layer.")
    first, _, last = place.partition("-")
    both = range(layers) if place == "*" else \
        range(int(first), int(last or first) + 1)
    return [f"layer.{layer}" for layer in both]


class Design:
    """What a study searched: levels by parameter, and who sets each module."""

    def __init__(self, spec):
        self.objective = spec["objectives"][0]
        self.rates, self.modules, self.ranks = {}, {}, set()
        layers, space = spec["model"]["layers"], spec["space"]
        # Rates first, so that a module of both has its rank before its rate.
        for tie in sorted(space["ties"], key=lambda tie: "rank" in tie):
            name, ranks = tie["name"], "rank" in tie
            self.ranks |= {name} if ranks else set()
            self.rates[name] = tie["rank"]["ranks"] if ranks \
                else tie["levels"]["rates"]
            for selector in tie["modules"]:
                for module in expanded(selector, layers):
                    rate = self.modules.get(module)
                    self.modules[module] = f"{name} {rate}" if rate else name
        for each in space["modules"]:
            for module in expanded(each["select"], layers):
                if "levels" in each:
                    self.rates[module] = each["levels"]["rates"]
                self.modules[module] = module if "levels" in each \
                    else number(each["fixed"])

    def header(self, name, outcomes):
        yield "# frostline-table 1"
        yield f"# name {name}"
        direction = self.objective["direction"].removeprefix("DIRECTION_")
        yield f"# metric {self.objective['metric']} {direction.lower()}"
        yield f"# outcomes {outcomes}"
        for parameter, rates in self.rates.items():
            kind = "ranks" if parameter in self.ranks else "parameter"
            yield " ".join([f"# {kind}", parameter, *map(number, rates)])
        for module, source in self.modules.items():
            yield f"# module {module} {source}"
        yield ",".join([*self.rates, "seed", "state", *METRICS])


def outcomes_of(registry, data):
    """How many rows, or words, a score is the mean of."""
    for path in sorted((registry / data).glob("validation.*")):
        lines = path.read_text("utf-8").split("\n")
        return sum(1 for line in lines if line.strip())
    raise SystemExit(f"pack: {registry / data} has no validation split")


def rows_of(design, spec, trials, outcomes):
    """The lines of trials that ended, by point and seed."""
    for trial in trials:
        if trial["state"] not in STATES:
            continue
        values = {p["name"]: p["value"] for p in trial["parameters"]}
        seed = values.get("seed") or spec["training"]["seed"]
        state, metrics = STATES[trial["state"]], trial["metrics"]
        if "usage" in trial:
            metrics["total_seconds"] = trial["usage"]["total_seconds"]
        right = metrics.get("accuracy", 0.0) * outcomes
        if abs(right - round(right)) > 1e-6:
            raise SystemExit(f"pack: {trial['name']} was not judged by "
                             f"{outcomes} outcomes")
        point = [values[name] for name in design.rates]
        yield (*point, int(seed)), ",".join(
            [*map(number, point), str(int(seed)), state,
             *(number(metrics[m]) if m in metrics else "" for m in METRICS)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--registry", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("studies", nargs="+")
    options = parser.parse_args()
    rows, lines = {}, []
    for pair in options.studies:
        study, trials = (json.loads(pathlib.Path(path).read_text("utf-8"))
                         for path in pair.split("="))
        spec = study["spec"]
        design = Design(spec)
        outcomes = outcomes_of(options.registry, spec["data"]["id"])
        rows.update(rows_of(design, spec, trials["trials"], outcomes))
        lines = list(design.header(options.out.stem, outcomes))
    lines += [rows[key] for key in sorted(rows)]
    options.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
