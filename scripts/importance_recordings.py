# SPDX-License-Identifier: Apache-2.0
"""Records what Optuna says of importance: its forests with fANOVA and MDI, and
PED-ANOVA of its studies, for `./dev parity --golden DIR`.

    python3 -m venv venv5
    venv5/bin/pip install optuna==5.0.0 scikit-learn==1.9.1 numpy==2.4.6
    venv5/bin/python scripts/importance_recordings.py --seed 11 --out DIR
    venv4/bin/python scripts/importance_recordings.py --seed 11 --out DIR

With a second version of Optuna the same command adds its results. With --trees it
records PED-ANOVA of conditional spaces alone, which needs no scikit-learn.
"""

import argparse
import json
import math
import pathlib
import random

import numpy
import optuna
from optuna import distributions, importance, trial

VERSION = optuna.__version__
LEVELS = distributions.CategoricalDistribution([0.0, 1e-6, 1e-5, 1e-4, 1e-3])
RATE = distributions.FloatDistribution(1e-9, 1e-3, log=True)
SPACES = [
    {"l0": LEVELS, "l1": LEVELS, "l2": LEVELS, "rate": RATE},
    {"x": distributions.FloatDistribution(-2, 5), "rate": RATE,
     "steps": distributions.IntDistribution(0, 100),
     "width": distributions.IntDistribution(1, 300, log=True),
     "kind": distributions.CategoricalDistribution(["a", "b", "c"])},
    {"half": distributions.FloatDistribution(0, 3, step=0.5), "l0": LEVELS,
     "only": distributions.FloatDistribution(0, 1)},
]
NUMBER = distributions.FloatDistribution(0, 1)
# Spaces in which parameters hang on others: (name, domain, what must be so).
TREES = [
    # Two branches, with leaves of their own and one that both have.
    [("kind", distributions.CategoricalDistribution(["a", "b"]), {}),
     ("rate", RATE, {"kind": ("a",)}), ("only", NUMBER, {"kind": ("b",)}),
     ("steps", distributions.IntDistribution(0, 100), {})],
    # Three deep: the last one is in one trial of twelve.
    [("kind", distributions.CategoricalDistribution(["a", "b", "c"]), {}),
     ("way", distributions.CategoricalDistribution(["x", "y"]), {"kind": ("a", "b")}),
     ("half", distributions.FloatDistribution(0, 3, step=0.5), {"way": ("x",)}),
     ("width", distributions.IntDistribution(1, 300, log=True),
      {"way": ("x",), "kind": ("b",)}), ("l0", LEVELS, {})],
    # A layer that is frozen has no rate, one that trains may have a rank: in few
    # trials, and perhaps in no good one.
    [("l0", LEVELS, {}), ("l1", LEVELS, {}),
     ("rank", distributions.CategoricalDistribution([4, 8, 16]),
      {"l0": (1e-3,), "l1": (1e-3, 1e-4)}), ("rate", RATE, {"l1": (0.0,)})],
]


def draw(rng, domain):
    if isinstance(domain, distributions.CategoricalDistribution):
        return rng.choice(domain.choices)
    if isinstance(domain, distributions.IntDistribution):
        if domain.log:
            high = math.log(domain.high + 0.5)
            return min(domain.high, round(math.exp(rng.uniform(0, high))))
        return rng.randrange(domain.low, domain.high + 1, domain.step)
    if domain.log:
        return math.exp(rng.uniform(math.log(domain.low * 1.000001),
                                    math.log(domain.high * 0.999999)))
    if domain.step:
        return domain.low + domain.step * rng.randrange(
            int((domain.high - domain.low) / domain.step) + 1)
    return rng.uniform(domain.low, domain.high)


def describe(domain):
    if isinstance(domain, distributions.CategoricalDistribution):
        return {"type": "categorical", "n_choices": len(domain.choices),
                "choices": list(domain.choices)}
    is_int = isinstance(domain, distributions.IntDistribution)
    return {"type": "int" if is_int else "float", "low": domain.low,
            "high": domain.high, "log": domain.log, "step": domain.step}


def code(domain, value):
    """A choice as its index, a number as it is."""
    if isinstance(domain, distributions.CategoricalDistribution):
        return int(domain.to_internal_repr(value))
    return value


def loss(rng, space, params, weights):
    total = 0.0
    for weight, (name, domain) in zip(weights, space.items()):
        if name not in params:
            continue
        value = code(domain, params[name])
        if getattr(domain, "log", False):
            value = math.log(value)
        total += weight * math.sin(1.0 + value)
    return round(total + rng.gauss(0.0, 0.1), 2)


def make_study(rng, space, trials, conditional):
    study = optuna.create_study()
    weights = [rng.uniform(0.2, 2.0) for _ in space]
    for _ in range(trials):
        params = {name: draw(rng, domain) for name, domain in space.items()}
        if conditional and params["l0"] == 0.0:
            params.pop("only", None)
        study.add_trial(trial.create_trial(
            params=params, distributions={name: space[name] for name in params},
            value=loss(rng, space, params, weights)))
    return study


def make_tree_study(rng, tree, trials):
    study = optuna.create_study()
    space = {name: domain for name, domain, _ in tree}
    weights = [rng.uniform(0.2, 2.0) for _ in space]
    for _ in range(trials):
        params = {}
        for name, domain, needs in tree:
            value = draw(rng, domain)
            if all(params.get(parent) in values for parent, values in needs.items()):
                params[name] = value
        study.add_trial(trial.create_trial(
            params=params, distributions={name: space[name] for name in params},
            value=loss(rng, space, params, weights)))
    return study, space


def record_forest(study, seed):
    # The evaluator's own parts: nothing public shows the forest.
    from optuna._transform import _SearchSpaceTransform
    from optuna.importance._fanova._fanova import _Fanova
    space = dict(sorted(study.trials[0].distributions.items()))
    encoder = _SearchSpaceTransform(space, transform_log=False,
                                    transform_step=False)
    rows = numpy.array([encoder.transform(t.params) for t in study.trials])
    values = numpy.array([t.value for t in study.trials])
    groups = [columns.tolist() for columns in
              encoder.column_to_encoded_columns]
    fanova = _Fanova(n_trees=4, max_depth=64, min_samples_split=2,
                     min_samples_leaf=1, seed=seed)
    fanova.fit(X=rows, y=values, search_spaces=encoder.bounds,
               column_to_encoded_columns=encoder.column_to_encoded_columns)
    forest = fanova._forest
    trees = [{"feature": t.feature.tolist(), "threshold": t.threshold.tolist(),
              "children_left": t.children_left.tolist(),
              "children_right": t.children_right.tolist(),
              "value": t.value.reshape(-1).tolist(),
              "weight": t.weighted_n_node_samples.tolist()}
             for t in (e.tree_ for e in forest.estimators_)]
    names = list(space)
    pair = groups[0] + groups[1]
    result = {
        "importance_mean": {n: float(fanova.get_importance(i)[0])
                            for i, n in enumerate(names)},
        "mdi": {n: float(sum(forest.feature_importances_[c] for c in groups[i]))
                for i, n in enumerate(names)},
        "tree_total_variance": [float(t.variance) for t in fanova._trees],
        "tree_marginal_variance": {
            n: [float(t.get_marginal_variance(numpy.array(groups[i])))
                for t in fanova._trees] for i, n in enumerate(names)},
        "tree_pair_marginal_variance_first_two": [
            float(t.get_marginal_variance(numpy.array(pair)))
            for t in fanova._trees],
    }
    return {"params": names,
            "distributions": {n: describe(d) for n, d in space.items()},
            "bounds": encoder.bounds.tolist(),
            "column_to_encoded_columns": groups, "trees": trees}, result


def record_ped_anova(study, space, options):
    def run(**changed):
        evaluator = importance.PedAnovaImportanceEvaluator(**changed)
        return {"raw": evaluator.evaluate(study),
                "normalized": importance.get_param_importances(
                    study, evaluator=evaluator)}

    trials = [{"params": {n: code(space[n], v) for n, v in t.params.items()},
               "values": t.values} for t in study.trials]
    whole = {k: v for k, v in options.items() if k != "region_quantile"}
    return {"options": options, "directions": ["minimize"],
            "distributions": {n: describe(d) for n, d in space.items()},
            "trials": trials}, {
                "default": run(**options),
                "evaluate_on_local_false": run(evaluate_on_local=False,
                                               **whole)}


def save(path, inputs, result):
    recording = {"input": inputs, "results": {}}
    if path.exists():
        recording = json.loads(path.read_text())
        assert recording["input"] == json.loads(json.dumps(inputs)), path
    recording["results"][VERSION] = result
    path.write_text(json.dumps(recording, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--trees", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for i, tree in enumerate(TREES if arguments.trees else []):
        rng = random.Random(f"{arguments.seed} tree {i}")
        study, space = make_tree_study(rng, tree, arguments.trials)
        options = {"target_quantile": 0.2, "region_quantile": 0.7} if i else {}
        save(arguments.out / f"ped_anova_tree_{i}_s{arguments.seed}.json",
             *record_ped_anova(study, space, options))
    if arguments.trees:
        return
    for i, space in enumerate(SPACES):
        rng = random.Random(f"{arguments.seed} {i}")
        study = make_study(rng, space, arguments.trials, conditional=False)
        save(arguments.out / f"fanova_{i}_s{arguments.seed}.json",
             *record_forest(study, arguments.seed))
        study = make_study(rng, space, arguments.trials, conditional=i == 2)
        options = {"target_quantile": 0.2, "region_quantile": 0.7} if i else {}
        save(arguments.out / f"ped_anova_{i}_s{arguments.seed}.json",
             *record_ped_anova(study, space, options))


if __name__ == "__main__":
    main()
