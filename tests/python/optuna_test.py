#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""optuna_test.py PROGRAMS: our sampler and our importance inside the real Optuna."""
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import unittest
import unittest.mock

from world import PACKAGE, coordinator

import optuna
from optuna.distributions import (CategoricalDistribution, FloatDistribution,
                                  IntDistribution)

import frostline
from frostline import errors
from frostline.optuna import FrostlineImportanceEvaluator, FrostlineSampler
from totals import run_and_count

optuna.logging.set_verbosity(optuna.logging.ERROR)
SUITE = pathlib.Path(__file__).with_name("optuna_suite.py")
SPACE = {"x": FloatDistribution(-1, 1), "n": IntDistribution(1, 9, step=2),
         "k": CategoricalDistribution(["a", None, 3, True])}


def score(x, n, k):
    return x * x + 0.1 * n + (0.5 if k == 3 else 0)


def objective(trial):
    return score(trial.suggest_float("x", -1, 1), trial.suggest_int("n", 1, 9, step=2),
                 trial.suggest_categorical("k", ["a", None, 3, True]))


class OnOneCoordinator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._world = coordinator()
        cls.address, _ = cls._world.__enter__()
        cls.client = frostline.connect(cls.address)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls._world.__exit__(None, None, None)


class Sampler(OnOneCoordinator):
    def sampler(self, *space, **options):
        return FrostlineSampler(*space, **{"seed": 7, "connect": self.client, **options})

    def optimized(self, trials, sampler, **options):
        study = optuna.create_study(sampler=sampler, **options)
        study.optimize(objective, n_trials=trials)
        return study

    def states(self, study):
        return [one.state for one in sorted(
            study.sampler.twin(study).results(), key=lambda one: one.number)]

    def test_a_seed_draws_the_same_inside_optuna(self):
        theirs = self.optimized(40, self.sampler(SPACE))
        ours = self.client.create_study(
            "ours", minimize="value", budget=100_000, seed=7, sampler="tpe",
            space={"parameters": {"x": {"float": [-1, 1]},
                                  "n": {"int": {"lo": 1, "hi": 9, "step": 2}},
                                  "k": ["a", "null", 3, True]}})
        drawn = []
        for _ in range(40):
            trial = ours.ask()
            drawn.append((trial["x"], trial["n"], trial["k"]))
            ours.tell(trial, value=score(*drawn[-1]))
        ours.close()
        self.assertEqual(
            [(x.hex(), n, k) for x, n, k in drawn],
            [(one.params["x"].hex(), one.params["n"],
              "null" if one.params["k"] is None else one.params["k"])
             for one in theirs.trials])

    def test_a_space_that_is_not_said_is_learned(self):
        study = self.optimized(12, self.sampler())
        twin = study.sampler.twin(study)
        self.assertEqual(12, len(list(twin.results())))  # the first one was imported
        imported = next(one for one in twin.results() if one._message.labels)
        self.assertEqual("0", imported._message.labels["optuna_number"])
        self.assertLess(study.best_value, 0.6)

    def test_what_came_from_elsewhere_is_seen(self):
        study = optuna.create_study(sampler=self.sampler(SPACE))
        study.enqueue_trial({"x": 0.5, "n": 3, "k": None})
        study.add_trial(optuna.create_trial(
            value=9.0, params={"x": 0.25, "n": 1, "k": "a"}, distributions=SPACE))
        study.enqueue_trial({"x": 0.125})  # the rest is proposed
        study.optimize(objective, n_trials=4)
        self.assertEqual([0.5, 0.25, 0.125], [one.params["x"] for one in study.trials[:3]])
        found = {round(one.parameters["x"], 12) for one in
                 study.sampler.twin(study).results('state = SUCCEEDED')}
        self.assertLessEqual({0.5, 0.25, 0.125}, found)
        self.assertEqual({round(one.params["x"], 12) for one in study.trials}, found)

    def test_how_a_trial_ended_is_told(self):
        def ends(trial):
            value = objective(trial)
            trial.report(value, 3)
            if trial.number == 1:
                raise optuna.TrialPruned()
            if trial.number == 2:
                raise ValueError("out of memory")
            return float("inf") if trial.number == 3 else value

        study = optuna.create_study(sampler=self.sampler(SPACE))
        study.optimize(ends, n_trials=5, catch=(ValueError,))
        self.assertEqual(["SUCCEEDED", "PRUNED", "FAILED", "FAILED", "SUCCEEDED"],
                         self.states(study))

    def test_processes_and_threads_share_one_search(self):
        storage = optuna.storages.InMemoryStorage()
        first = optuna.create_study(storage=storage, study_name="shared",
                                    sampler=self.sampler(SPACE))
        copy = pickle.loads(pickle.dumps(self.sampler(SPACE, connect=self.address)))
        second = optuna.load_study(storage=storage, study_name="shared", sampler=copy)
        both = [threading.Thread(target=one.optimize, args=(objective, 6))
                for one in (first, second)]
        [one.start() for one in both], [one.join() for one in both]
        twin = first.sampler.twin(first)
        self.assertEqual(twin.id, second.sampler.twin(second).id)
        self.assertEqual(["SUCCEEDED"] * 12, self.states(first))
        asked = first.ask(SPACE)  # and another process tells it
        second.tell(asked.number, 1.0)
        first.optimize(objective, 1)
        self.assertEqual(["CANCELLED", "SUCCEEDED", "SUCCEEDED"], self.states(first)[12:])

    def test_parameters_that_are_rates_of_modules(self):
        def layers(trial):
            rates = [trial.suggest_categorical(f"lr_{k}", [0, 1e-4, 1e-3]) for k in range(3)]
            return rates[1] + 0.1 * rates[0]

        study = optuna.create_study(direction="maximize", sampler=self.sampler(
            {f"lr_{k}": CategoricalDistribution([0, 1e-4, 1e-3]) for k in range(3)},
            modules={r"lr_(\d+)": "layer.{}"}))
        study.optimize(layers, n_trials=16)
        self.assertIn("layer.1", study.sampler.twin(study).plan().rates)

    def test_what_a_space_cannot_say_is_refused(self):
        for domain, why in ((CategoricalDistribution([float("inf"), "a"]), "no text"),
                            (CategoricalDistribution([1, 1.0]), "same number"),
                            (CategoricalDistribution(list(range(1001))), "1001 choices"),
                            (IntDistribution(0, 2 ** 60), r"2\^53")):
            with self.assertRaisesRegex(errors.InvalidArgument, why) as caught:
                self.sampler({"p": domain})
            self.assertEqual(("PY-1033", "p"),
                             (caught.exception.id, caught.exception.field))

    def test_trials_that_nobody_tells_are_named_as_the_cause(self):
        study = optuna.create_study(sampler=self.sampler(SPACE))
        with unittest.mock.patch.multiple("frostline.optuna", _WAIT=0.2, _MOST_AT_ONCE=12):
            for _ in range(12):
                study.ask(SPACE)
            with self.assertRaisesRegex(errors.DeadlineExceeded, "12 may be open") as caught:
                study.ask(SPACE)
        self.assertEqual("PY-1037", caught.exception.id)

    def test_a_search_that_has_ended_says_so(self):
        study = self.optimized(2, self.sampler(SPACE, budget=2))
        with self.assertRaises(errors.FailedPrecondition) as caught:
            study.optimize(objective, n_trials=1)
        self.assertEqual("PY-1034", caught.exception.id)
        with self.assertRaises(errors.NotFound) as caught:
            self.sampler().twin(study)
        self.assertEqual("PY-1035", caught.exception.id)


class Importance(OnOneCoordinator):
    def test_the_shares_are_those_of_a_study_here(self):
        old = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
        old.optimize(objective, n_trials=40)
        evaluator = FrostlineImportanceEvaluator(connect=self.client)
        before = len(self.client.studies())
        found = evaluator.evaluate(old)
        self.assertEqual(found, evaluator.evaluate(old))
        with unittest.mock.patch("frostline.optuna._MOST_TOLD", 0):  # too many for one call
            self.assertEqual(found, evaluator.evaluate(old))
        self.assertEqual(before, len(self.client.studies()))
        here = self.client.import_optuna(old, id="here")
        for name, share, _, _, _ in here.importance().rows:
            self.assertAlmostEqual(share, found[name], delta=0.05)

    def test_several_objectives_need_a_target(self):
        old = optuna.create_study(directions=["minimize", "maximize"])
        old.optimize(lambda one: (one.suggest_float("x", 0, 1), 0.0), n_trials=9)
        evaluator = FrostlineImportanceEvaluator(connect=self.client)
        with self.assertRaisesRegex(errors.InvalidArgument, "2 objectives") as caught:
            evaluator.evaluate(old)
        self.assertEqual("PY-1033", caught.exception.id)
        self.assertGreater(evaluator.evaluate(old, target=lambda one: one.values[0])["x"], 0.5)


class Suite(OnOneCoordinator):
    def test_optunas_own_suites_pass(self):
        ran = subprocess.run(
            [sys.executable, SUITE], capture_output=True, text=True, timeout=300,
            env={**os.environ, "FROSTLINE_CONNECT": self.address,
                 "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ["PYTHONPATH"]])})
        self.assertEqual(0, ran.returncode, ran.stdout[-6000:] + ran.stderr[-2000:])
        self.assertIn("143 passed, 8 xfailed", ran.stdout)


if __name__ == "__main__":
    sys.exit(run_and_count())
