#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""history_test.py PROGRAMS: studies that Optuna itself wrote, imported and asked."""
import contextlib
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest
import warnings

from world import PROGRAMS, coordinator, run_python, scratch

import optuna
import rustuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import frostline
from frostline import errors
from totals import run_and_count

optuna.logging.set_verbosity(optuna.logging.ERROR)
RATES = [0.0, 1e-4, 1e-3]


def layers(trial):
    """A study of layers as people write one: layer 1 matters, layer 0 does not."""
    rates = [trial.suggest_categorical(f"lr_layer_{k}", RATES) for k in range(3)]
    dropout = trial.suggest_float("dropout", 0.0, 0.3)
    score = 0.5 + 0.2 * RATES.index(rates[1]) - 0.1 * dropout + 0.001 * (trial.number % 5)
    for step in range(2):
        trial.report(score - 0.1 * (1 - step), step)
    trial.set_user_attr("host", "Überall")
    if trial.number % 10 == 9:
        raise optuna.TrialPruned()
    if trial.number % 10 == 8:
        raise ValueError("out of memory")
    return score


OLD_STUDY = """
    import warnings
    warnings.simplefilter("ignore")
    import optuna
    from optuna.storages import JournalStorage
    try:
        from optuna.storages.journal import JournalFileBackend as Backend
    except ImportError:
        from optuna.storages import JournalFileStorage as Backend
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        x, n = trial.suggest_float("x", 0, 2, step=0.5), trial.suggest_int("n", 2, 8, step=2)
        trial.set_user_attr("wirt", "Überall")
        trial.set_user_attr("limits", [x - 1])
        if trial.number == 3:
            raise ValueError
        return x, n

    for storage in ("sqlite:///old.db", JournalStorage(Backend("old.log"))):
        optuna.create_study(
            storage=storage, study_name="old", directions=["minimize", "maximize"],
            sampler=optuna.samplers.NSGAIISampler(seed=1, constraints_func=lambda trial:
                trial.user_attrs["limits"])).optimize(objective, 6, catch=(ValueError,))
    print(optuna.__version__[0])
    """


def optimized(objective, trials, storage=None, **options):
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=1),
                                **{"direction": "maximize", **options})
    study.optimize(objective, n_trials=trials, catch=(ValueError,))
    return study


@contextlib.contextmanager
def client():
    with coordinator() as (address, _), frostline.connect(address) as connected:
        yield connected


def frostline_of(client, *words):
    """The command line, with the Python of this test."""
    return subprocess.run(
        [PROGRAMS / "frostline", "--connect", client.address, *words], capture_output=True,
        text=True, timeout=60, env={**os.environ, "FROSTLINE_PYTHON": sys.executable})


def everything(study):
    return sorted(study.results(rates=True), key=lambda one: one.number)


class Import(unittest.TestCase):
    def test_a_database_comes_whole_and_stays_as_it_was(self):
        with scratch() as folder, client() as here:
            path = folder / "old.db"
            old = optimized(layers, 60, f"sqlite:///{path}", study_name="My layers")
            before = hashlib.sha256(path.read_bytes()).digest()
            study = here.import_optuna(str(path))
            self.assertEqual(before, hashlib.sha256(path.read_bytes()).digest())
            self.assertEqual([path], list(folder.iterdir()))
            self.assertEqual("my-layers", study.id)
            found = everything(study)
            self.assertEqual(len(old.trials), len(found))
            for theirs, ours in zip(old.trials, found):
                self.assertEqual({"COMPLETE": "SUCCEEDED", "PRUNED": "PRUNED",
                                  "FAIL": "FAILED"}[theirs.state.name], ours.state)
                for k in range(3):
                    self.assertEqual(theirs.params[f"lr_layer_{k}"], ours.rates[f"layer.{k}"])
                self.assertEqual(theirs.params["dropout"], ours.parameters["dropout"])
                if theirs.state.name == "COMPLETE":
                    self.assertEqual(theirs.value, ours.values[0])
            plain = here.call("StudyService", "ListTrials", parent=study.name, page_size=5,
                              view="TRIAL_VIEW_FULL")["trials"][0]
            self.assertEqual('{"host": "\\u00dcberall"}', plain["labels"]["user_attrs"])
            curve = here.call("StudyService", "ListMeasurements",
                              name=plain["name"])["measurements"]
            self.assertEqual(2, len(curve))

    def test_its_layers_are_explained(self):
        with client() as here:
            study = here.import_optuna(optimized(layers, 60))
            shares = {one["parameter"]: one["main"]["value"] for one in here.call(
                "ImportanceService", "GetReport", study=study.name)["parameters"]}
            self.assertEqual("layer.1", max(shares, key=shares.get))
            self.assertIn("layer.1", study.plan_for("torch"))

    def test_a_journal_and_one_that_was_cut(self):
        with scratch() as folder, client() as here:
            path = folder / "old.log"
            optimized(layers, 12, JournalStorage(JournalFileBackend(str(path))),
                      study_name="journal")
            self.assertEqual(12, len(everything(here.import_optuna(path))))
            whole = path.read_bytes()
            path.write_bytes(whole[:-20])
            cut = here.import_optuna(path, id="cut")
            self.assertGreaterEqual(len(everything(cut)), 11)

    def test_what_older_optunas_wrote_comes_whole(self):
        olders = [one for one in os.environ.get("FROSTLINE_TEST_OPTUNAS", "").split(os.pathsep)
                  if one]
        for version, wheels in zip("34", olders):
            with self.subTest(version), scratch() as folder, client() as here, \
                    warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wrote = run_python(OLD_STUDY, cwd=folder, env={
                    **os.environ, "PYTHONPATH": os.pathsep.join(
                        [wheels, os.environ["PYTHONPATH"]])})
                self.assertEqual((0, version), (wrote.returncode, wrote.stdout.strip()),
                                 wrote.stderr)
                for source in ("old.db", "old.log"):
                    ours = here.import_optuna(folder / source, id=source.replace(".", "-"))
                    found = everything(ours)
                    self.assertEqual(["SUCCEEDED"] * 3 + ["FAILED"] + ["SUCCEEDED"] * 2,
                                     [one.state for one in found])
                    told = [(one.values, one.parameters["x"], one.parameters["n"],
                             one.metrics["constraint_0"]) for one in found if one.values]
                    self.assertEqual([([x, float(n)], x, n, x - 1)
                                      for _, x, n, _ in told], told)
                    labels = dict(found[0]._message.labels)
                    self.assertEqual("Überall", json.loads(labels["user_attrs"])["wirt"])

    def test_a_journal_that_lost_its_middle_says_where(self):
        with scratch() as folder, client() as here:
            path = folder / "old.log"
            optimized(layers, 12, JournalStorage(JournalFileBackend(str(path))),
                      study_name="journal")
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[:40]) + lines[40][:30] + b"".join(lines[60:]))
            with self.assertRaises(errors.BadFile) as caught:
                here.import_optuna(path)
            self.assertIn("line 41 of", str(caught.exception))
            self.assertIn("head -n 40 old.log", str(caught.exception))
            self.assertEqual([], here.studies())
            path.write_bytes(b"".join(lines[:40]))  # as the fix says
            self.assertTrue(everything(here.import_optuna(path)))

    def test_files_that_are_no_storage(self):
        with scratch() as folder, client() as here:
            for content in (b"", bytes(range(256)) * 40, b'{"a": 1}\n{"b": 2}\n', b"[1, 2]\n",
                            b"SQLite format 3\0" + b"x" * 5000, "größe,学习率\n1,2\n".encode()):
                (folder / "other").write_bytes(content)
                with self.subTest(content[:20]), self.assertRaises(errors.BadFile):
                    here.import_optuna(folder / "other")
            self.assertEqual([], here.studies())

    def test_more_than_one_request_has_room_for(self):
        def wide(trial):
            for k in range(12):
                trial.suggest_float(f"a_parameter_with_a_long_name_{k}", 0, 1)
            for step in range(30):
                trial.report(step / 3, step)
            return trial.number

        with client() as here:  # 1,000 of these are over 1 MiB
            old = optimized(wide, 1000)
            found = everything(here.import_optuna(old, id="wide"))
            self.assertEqual(list(range(1000)), [one.values[0] for one in found])

    def test_attributes_that_are_too_long_are_said(self):
        def long(trial):
            trial.set_user_attr("log", "x" * (70_000 if trial.number == 2 else 7))
            return trial.suggest_float("x", 0, 1)

        with client() as here, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            study = here.import_optuna(optimized(long, 4))
            self.assertEqual(4, len(everything(study)))
        self.assertIn("user attributes of 1 trials are longer", " ".join(
            str(one.message) for one in said))

    def test_every_script(self):
        names = ["größe", "学习率", "معدل", "скорость", "🎯", "a b", "x\ny", "__proto__", "-"]

        def objective(trial):
            total = sum(trial.suggest_float(name, 0, 1) for name in names)
            kind = trial.suggest_categorical("वर्ग", ["ß", "是", "👍🏽", "a'b\"c", "", None])
            trial.set_user_attr("注", {"أ": [1, "é"]})
            return total + (kind == "是")

        with scratch() as folder, client() as here, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old = optimized(objective, 12, f"sqlite:///{folder / 'old.db'}", study_name="研究 №1")
            old.set_metric_names(["正解率"])
            ours = here.import_optuna(folder / "old.db")
            self.assertEqual(["正解率"], ours.objectives)
            found = everything(ours)
            for theirs, one in zip(old.trials, found, strict=True):
                self.assertEqual(theirs.values, one.values)
                self.assertEqual(sorted(str(v) if v is not None else "null"
                                        for v in theirs.params.values()),
                                 sorted(map(str, one.parameters.values())))
            back = ours.to_optuna(None)
            self.assertEqual({"أ": [1, "é"]}, back.trials[0].user_attrs["注"])
            self.assertTrue(ours.importance().rows)

    def test_several_objectives_and_constraints(self):
        def two(trial):
            x = trial.suggest_float("x", 0, 1)
            trial.set_user_attr("c", [x - 0.5])
            return x, 1 - x

        with client() as here:
            old = optuna.create_study(
                directions=["maximize", "minimize"],
                sampler=optuna.samplers.TPESampler(
                    seed=1, constraints_func=lambda one: one.user_attrs["c"]))
            old.optimize(two, n_trials=8)
            study = here.import_optuna(old, id="two")
            metrics = everything(study)
            self.assertEqual([one.values for one in old.trials],
                             [list(one.values) for one in metrics])
            spec = here.call("StudyService", "GetStudy", name=study.name)["spec"]
            self.assertEqual(["value_0", "value_1"],
                             [one["metric"] for one in spec["objectives"]])
            self.assertEqual("constraint_0", spec["constraints"][0]["metric"])

    def test_values_that_are_no_numbers(self):
        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            trial.report(math.nan, 0)
            trial.report(math.inf, 1)
            if trial.number == 1:
                raise optuna.TrialPruned()
            return [x, None, math.inf, -math.inf, x][trial.number]

        with client() as here:
            found = everything(here.import_optuna(optimized(objective, 5), id="odd"))
            self.assertEqual(["SUCCEEDED", "PRUNED", "INFEASIBLE", "INFEASIBLE", "SUCCEEDED"],
                             [one.state for one in found])
            self.assertEqual("inf", dict(found[2]._message.labels)["optuna_values"])

    def test_conditions_ranges_that_grew_and_names_of_any_script(self):
        def objective(trial):
            kind = trial.suggest_categorical("kind", ["sgd", "adam", None])
            if kind == "sgd":
                trial.suggest_float("momentum", 0, 1)
            x = trial.suggest_int("größe", 1, 4 + trial.number)
            return x

        with client() as here, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            old = optimized(objective, 12)
            study = here.import_optuna(old)
            found = everything(study)
            self.assertEqual([one.params["größe"] for one in old.trials],
                             [int(one.parameters["p1"]) if "p1" in one.parameters else
                              int(one.parameters["p2"]) for one in found])
            for theirs, ours in zip(old.trials, found):
                self.assertEqual(theirs.params.get("momentum"),
                                 ours.parameters.get("momentum"))
        self.assertTrue(any("größe" in str(one.message) for one in said))

    def test_what_runs_or_waits_is_said(self):
        with client() as here, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            old = optimized(layers, 6)
            old.ask()
            old.enqueue_trial({"dropout": 0.1})
            self.assertEqual(6, len(everything(here.import_optuna(old))))
        text = " ".join(str(one.message) for one in said)
        self.assertIn("1 trial is RUNNING", text)
        self.assertIn("1 trial is WAITING", text)

    def test_what_cannot_be_read_says_why_and_makes_no_study(self):
        with scratch() as folder, client() as here:
            other = folder / "other.db"
            import sqlite3
            with contextlib.closing(sqlite3.connect(other)) as database:
                database.execute("CREATE TABLE recipes (name TEXT)")
                database.commit()
            optimized(layers, 2, f"sqlite:///{folder / 'two.db'}", study_name="a")
            optimized(layers, 2, f"sqlite:///{folder / 'two.db'}", study_name="b")
            cases = [(folder / "none.db", errors.NotFound, "there is no file"),
                     (other, errors.Error, "is no storage of Optuna's"),
                     (folder / "two.db", errors.NotFound, "has 2 studies"),
                     (optuna.create_study(), errors.InvalidArgument, "no trial that ended")]
            for source, kind, words in cases:
                with self.subTest(words), self.assertRaises(kind) as caught:
                    here.import_optuna(source)
                self.assertIn(words, str(caught.exception))
            self.assertEqual([], here.studies())
            self.assertEqual("b", here.import_optuna(folder / "two.db", "b").id)

    def test_what_rustuna_discarded_comes_and_says_so(self):
        with scratch() as folder, client() as here:
            journal = str(folder / "rust.log")
            storage = rustuna.storages.JournalFileStorage(journal)
            study = rustuna.create_study(study_name="rust", storage=storage,
                                         directions=["maximize"])
            study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=6)
            storage.discard_trials([0, 3])
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                ours = here.import_optuna(journal)
            self.assertIn("Rustuna discarded 2 trials", " ".join(str(o.message) for o in said))
            self.assertEqual(
                ["true", None, None, "true", None, None],
                [dict(one._message.labels).get("optuna_discarded") for one in everything(ours)])

    def test_the_command_imports_and_says_what_to_ask(self):
        with scratch() as folder, client() as here:
            optimized(layers, 12, f"sqlite:///{folder / 'old.db'}", study_name="old")
            said = frostline_of(here, "import", folder / "old.db", "--as", "mine",
                                "--modules", r"lr_layer_(\d)=layer.{}")
            self.assertEqual(0, said.returncode, said.stderr)
            self.assertIn("frostline plan mine", said.stdout)
            self.assertEqual(12, len(everything(here.study("mine"))))

    def test_names_of_layers_may_be_ones_own(self):
        def objective(trial):
            trial.suggest_categorical("encoder_3_eta", RATES)
            return trial.suggest_float("block1-lr", 1e-5, 1e-3, log=True)

        with client() as here:
            study = here.import_optuna(optimized(objective, 6), modules={
                r"encoder_(\d+)_eta": "layer.{}"}, id="own")
            row = everything(study)[0]
            self.assertIn(row.rates["layer.3"], RATES)
            self.assertIn("block1-lr", row.parameters)


class Export(unittest.TestCase):
    def test_there_and_back_it_is_the_same_study(self):
        with scratch() as folder, client() as here:
            old = optimized(layers, 30)
            url = f"sqlite:///{folder / 'new.db'}"
            here.import_optuna(old, id="there").to_optuna(url)
            back = optuna.load_study(study_name="there", storage=url)
            self.assertEqual(["value"], list(back.metric_names))
            for before, after in zip(old.trials, back.trials):
                self.assertEqual(before.state, after.state)
                self.assertEqual(before.values if before.values and
                                 before.state.name == "COMPLETE" else None, after.values
                                 if after.state.name == "COMPLETE" else None)
                self.assertEqual(before.intermediate_values, after.intermediate_values)
                self.assertEqual("Überall", after.user_attrs["host"])
                self.assertEqual(list(before.params.values()), list(after.params.values()))
                self.assertEqual(before.datetime_start, after.datetime_start)
            self.assertEqual(back.best_value, old.best_value)
            importance = optuna.importance.get_param_importances(
                back, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
            self.assertEqual({"layer.0", "layer.1", "layer.2", "dropout"}, set(importance))

    def test_every_kind_of_parameter_has_its_distribution(self):
        space = {"modules": {"layer.0-1": [0, 1e-4], "layer.2": {"log_uniform": [1e-5, 1e-3]}},
                 "ties": {"ends": {"modules": ["embeddings", "head"], "levels": [1e-4, 1e-3]}},
                 "parameters": {"x": {"float": [0, 1]}, "n": {"int": [1, 8]},
                                "kind": ["a", "b"], "even": {"int": [2, 8, 2]},
                                "half": {"float": [0, 2, 0.5]}}}
        with client() as here:
            study = here.create_study("kinds", model={"id": "m", "layers": 3, "no_pooler": True},
                                      budget=4, maximize="score", space=space)
            for trial in study.trials():
                with trial:
                    trial.report(0, score=trial["x"])
            made = study.to_optuna()
        kinds = {name: type(one).__name__[:3] for name, one in
                 made.trials[0].distributions.items()}
        self.assertEqual({"layer.0": "Cat", "layer.1": "Cat", "layer.2": "Flo", "ends": "Cat",
                          "x": "Flo", "n": "Int", "kind": "Cat", "even": "Int", "half": "Flo"},
                         kinds)
        self.assertEqual((2, 0.5), tuple(made.trials[0].distributions[name].step
                                         for name in ("even", "half")))
        self.assertEqual([one.value for one in made.trials],
                         [one.params["x"] for one in made.trials])

    def test_a_journal_opens_in_every_optuna_since_3(self):
        def two(trial):
            x, n = trial.suggest_float("x", 0, 2, step=0.5), trial.suggest_int("n", 2, 8, step=2)
            trial.set_constraint("above", 1.0 - x)
            trial.set_user_attr("wirt", "Überall")
            if trial.number == 3:
                raise ValueError
            return x, n

        def curve(trial):
            size = trial.suggest_categorical("größe", ["ß", None, 1.5, True])
            trial.report(0.25, 7)
            if trial.number == 1:
                raise optuna.TrialPruned()
            return size is None

        with scratch() as folder, client() as here, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pair = optimized(two, 8, direction=None, directions=["minimize", "maximize"])
            there = here.import_optuna(pair, id="pair")
            there.to_optuna(folder / "pair.log")
            here.import_optuna(optimized(curve, 4), id="curve").to_optuna(folder / "curve.log")
            with self.assertRaises(errors.AlreadyExists) as caught:
                there.to_optuna(folder / "pair.log")
            self.assertEqual("PY-1036", caught.exception.id)
            again = here.import_optuna(folder / "pair.log", id="again")
            self.assertEqual([one.metrics for one in everything(there)],
                             [one.metrics for one in everything(again)])
            olders = [one for one in os.environ.get(
                "FROSTLINE_TEST_OPTUNAS", "").split(os.pathsep) if one]
            said = [self._as_told(folder, one) for one in [None, *olders]]
        for version, told in zip("534", said):
            self.assertEqual(version, told.pop("version"))
        self.assertEqual([said[0]] * len(said), said)
        self.assertEqual([[0] + [one.params["x"], one.params["n"]] for one in pair.trials],
                         [[0] + [one["params"]["x"], one["params"]["n"]]
                          for one in said[0]["pair"]])
        first = said[0]["pair"][0]
        self.assertEqual([1.0 - pair.trials[0].params["x"]], first["limits"])
        self.assertEqual(("Überall", pair.trials[0].datetime_start.isoformat()),
                         (first["wirt"], first["start"]))
        self.assertEqual(["COMPLETE"] * 3 + ["FAIL"] + ["COMPLETE"] * 4,
                         [one["state"] for one in said[0]["pair"]])
        self.assertEqual(["COMPLETE", "PRUNED", "COMPLETE", "COMPLETE"],
                         [one["state"] for one in said[0]["curve"]])
        self.assertEqual({"7": 0.25}, said[0]["curve"][1]["curve"])

    def test_where_the_package_is_not_the_command_says_what_to_install(self):
        with client() as here:
            said = subprocess.run(
                [PROGRAMS / "frostline", "--connect", here.address, "import", "old.db"],
                capture_output=True, text=True, env={"PATH": "/nowhere"})
        self.assertIn("frostline-optuna, which reads and writes Optuna's studies, is not on "
                      "this machine", said.stderr)
        self.assertIn("install the Python packages frostline and optuna", said.stderr)

    def test_the_command_exports_or_says_why_not(self):
        with scratch() as folder, client() as here:
            here.import_optuna(optimized(layers, 6), id="mine")
            for target, code, words in ((folder / "mine.log", 0, "has 6 trials"),
                                        (folder / "mine.log", 2, "is there already"),
                                        (folder / "none" / "a.log", 1, "cannot be written")):
                said = frostline_of(here, "study", "export", "mine", "-o", target,
                                    "--format", "optuna-journal")
                self.assertEqual(code, said.returncode, said.stderr)
                self.assertIn(words, said.stdout + said.stderr)
            self.assertEqual([folder / "mine.log"], list(folder.iterdir()))

    @staticmethod
    def _as_told(folder, wheels):
        ran = run_python("""
            import json, sys, warnings
            warnings.simplefilter("ignore")
            import optuna
            from optuna.storages import JournalStorage
            try:
                from optuna.storages.journal import JournalFileBackend as Backend
            except ImportError:
                from optuna.storages import JournalFileStorage as Backend
            told = {"version": optuna.__version__[0]}
            for name in ("pair", "curve"):
                study = optuna.load_study(study_name=name,
                                          storage=JournalStorage(Backend(f"{name}.log")))
                told[name] = [{
                    "state": one.state.name, "values": one.values, "params": one.params,
                    "domains": [repr(d) for d in one.distributions.values()],
                    "curve": one.intermediate_values, "wirt": one.user_attrs.get("wirt"),
                    "limits": one.system_attrs.get("constraints"),
                    "start": one.datetime_start.isoformat(),
                    "names": study.metric_names} for one in study.trials]
            print(json.dumps(told))
            """, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(
                [*filter(None, [wheels]), os.environ["PYTHONPATH"]])})
        if ran.returncode:
            raise AssertionError(ran.stderr)
        return json.loads(ran.stdout)


if __name__ == "__main__":
    sys.exit(run_and_count())
