#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""optuna_storage_test.py PROGRAMS: a running study seen through Optuna's own client of its
own server, and through optuna-dashboard."""
import contextlib
import io
import json
import subprocess
import sys
import time
import unittest
import warnings

import optuna
import optuna_dashboard
import world
from optuna.terminator import BestValueStagnationEvaluator
from world import study

from frostline import optuna_storage
from totals import run_and_count

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")
SPACE = {"parameters": {"x": {"float": [0, 1]}, "n": {"int": [1, 4]}, "kind": ["a", "b"]}}


@contextlib.contextmanager
def served(client):
    """A GrpcStorageProxy of `frostline-optuna --serve`."""
    port = world.free_port()
    program = subprocess.Popen(
        [sys.executable, "-m", "frostline.history", "--serve", str(port), "--connect",
         client.address], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        while "Listening" not in program.stderr.readline():
            assert program.poll() is None
        yield optuna.storages.GrpcStorageProxy(host="127.0.0.1", port=port)
    finally:
        program.terminate()
        program.communicate()


def train(toy, count):
    for _ in range(count):
        trial = toy.ask()
        trial.report(0, score=trial["x"] / 2)
        toy.tell(trial, score=trial["x"], beside=7)


class Served(unittest.TestCase):
    def test_a_running_study_is_seen_as_it_is(self):
        with study(budget=9, space=SPACE, constraints={"beside": 8}) as (client, toy), \
                served(client) as proxy:
            train(toy, 5)
            toy.tell(toy.ask(), state="infeasible", cause="the loss became NaN")
            running = toy.ask()
            theirs = optuna.load_study(study_name="toy", storage=proxy)
            ours = sorted(toy.results(), key=lambda one: one.number)
            self.assertEqual([one.number for one in ours], [one.number for one in theirs.trials])
            self.assertEqual(["COMPLETE"] * 5 + ["FAIL", "RUNNING"],
                             [one.state.name for one in theirs.trials[:7]])
            self.assertEqual([one.parameters for one in ours], [one.params for one in theirs.trials])
            self.assertEqual({0: ours[0].values[0] / 2}, theirs.trials[0].intermediate_values)
            self.assertEqual([-1.0], theirs.trials[0].system_attrs["constraints"])
            self.assertEqual(toy.best_trial.number, theirs.best_trial.number)
            self.assertEqual(["score"], theirs.metric_names)
            toy.tell(running, score=2.0)
            self.assertTrue(world.within(10, lambda: theirs.best_value == 2.0))

    def test_every_plot_of_optunas_is_drawn_of_a_running_study(self):
        draw = optuna.visualization
        pairs = {"plot_pareto_front", "plot_hypervolume_history"}
        steady = BestValueStagnationEvaluator()
        with study(budget=20, space=SPACE) as (client, toy), served(client) as proxy:
            train(toy, 12)
            toy.ask()
            theirs = optuna.load_study(study_name="toy", storage=proxy)
            for name in draw.__all__:
                if not name.startswith("plot_") or name in pairs:
                    continue
                with self.subTest(name):
                    options = {"improvement_evaluator": steady} if "terminator" in name else {}
                    figure = getattr(draw, name)(theirs, **options)
                    self.assertTrue(json.loads(figure.to_json())["data"])
            before = draw.plot_optimization_history(theirs).data[0].y
            train(toy, 1)

            def grown():
                return len(draw.plot_optimization_history(theirs).data[0].y) == len(before) + 1

            self.assertTrue(world.within(20, grown))
        with study(budget=9, minimize="loss", maximize="score") as (client, toy), \
                served(client) as proxy:
            for _ in range(5):
                trial = toy.ask()
                toy.tell(trial, score=trial["x"], loss=trial["x"] ** 2)
            theirs = optuna.load_study(study_name="toy", storage=proxy)
            front = draw.plot_pareto_front(theirs)
            self.assertEqual(5, sum(len(one.x) for one in front.data))
            self.assertTrue(draw.plot_hypervolume_history(theirs, [2.0, -1.0]).data)

    def test_nothing_is_written(self):
        with study(budget=2) as (client, toy), served(client) as proxy:
            train(toy, 1)
            theirs = optuna.load_study(study_name="toy", storage=proxy)
            before = list(toy.results())[0].revision
            for change in (lambda: theirs.ask(), lambda: theirs.set_user_attr("a", 1),
                           lambda: theirs.enqueue_trial({"x": 0.5}),
                           lambda: optuna.create_study(study_name="new", storage=proxy),
                           lambda: optuna.delete_study(study_name="toy", storage=proxy)):
                with self.assertRaises(Exception) as caught:
                    change()
                self.assertIn("PY-1042", str(caught.exception))
            self.assertEqual((1, before), (len(client.studies()),
                                           list(toy.results())[0].revision))

    def test_a_study_that_is_not_there_or_is_deleted(self):
        with study(budget=2) as (client, toy):
            storage = optuna_storage.Storage(client)
            with self.assertRaises(KeyError):
                optuna.load_study(study_name="none", storage=storage)
            theirs = optuna.load_study(study_name="toy", storage=storage)
            toy.stop()
            client.call("StudyService", "DeleteStudy", name="studies/toy",
                        request_id="delete-" + "0" * 16)
            time.sleep(0.6)
            with self.assertRaises(KeyError):
                theirs.trials

    def test_several_objectives_keep_their_directions(self):
        with study(budget=2, minimize="loss", maximize="score") as (client, toy):
            trial = toy.ask()
            toy.tell(trial, score=1.0, loss=0.25)
            theirs = optuna.load_study(study_name="toy", storage=optuna_storage.Storage(client))
            told = dict(zip(theirs.metric_names, zip(theirs.directions, theirs.trials[0].values)))
            self.assertEqual({"loss": ("MINIMIZE", 0.25), "score": ("MAXIMIZE", 1.0)},
                             {name: (way.name, value) for name, (way, value) in told.items()})

    def test_the_dashboard_reads_and_may_not_write(self):
        with study(budget=4, space=SPACE) as (client, toy), served(client) as proxy:
            train(toy, 4)
            app = optuna_dashboard.wsgi(proxy)
            code, told = asked(app, "/api/studies")
            self.assertEqual(("200 OK", ["toy"]),
                             (code, [one["study_name"] for one in told["study_summaries"]]))
            place = f"/api/studies/{told['study_summaries'][0]['study_id']}"
            code, told = asked(app, place)
            self.assertEqual(("200 OK", 4), (code, len(told["trials"])))
            code, told = asked(app, f"{place}/param_importances")
            self.assertEqual({"x", "n", "kind"},
                             {one["name"] for one in told["param_importances"][0]})
            errors = io.StringIO()
            code, _ = asked(app, f"{place}/note", {"body": "x", "version": 1}, errors)
            self.assertEqual("500 Internal Server Error", code)


class Exported(unittest.TestCase):
    def test_the_dashboard_opens_a_journal_of_ours(self):
        from optuna.storages.journal import JournalFileBackend
        with study(budget=6, space=SPACE, constraints={"beside": 8}) as (_, toy), \
                world.scratch() as folder:
            train(toy, 5)
            toy.tell(toy.ask(), state="infeasible", cause="the loss became NaN")
            toy.to_optuna(folder / "toy.log")
            app = optuna_dashboard.wsgi(optuna.storages.JournalStorage(
                JournalFileBackend(str(folder / "toy.log"))))
            one, = asked(app, "/api/studies")[1]["study_summaries"]
            code, told = asked(app, f"/api/studies/{one['study_id']}")
        self.assertEqual(("200 OK", "toy", ["score"]), (
            code, one["study_name"], told["objective_names"]))
        self.assertEqual(["Complete"] * 5 + ["Fail"], [one["state"] for one in told["trials"]])
        first = told["trials"][0]
        self.assertEqual([-1.0], first["constraints"])
        self.assertEqual({"x", "n", "kind"}, {one["name"] for one in first["params"]})
        self.assertEqual(1, len(first["intermediate_values"]))
        self.assertIn("frostline_number", [one["key"] for one in first["user_attrs"]])


def asked(app, path, body=None, errors=sys.stderr):
    """A request to a WSGI application: its status and JSON."""
    sent, said = json.dumps(body).encode() if body else b"", {}
    with contextlib.redirect_stderr(errors):
        answer = b"".join(app({
            "REQUEST_METHOD": "PUT" if body else "GET", "PATH_INFO": path, "QUERY_STRING": "",
            "SERVER_NAME": "here", "SERVER_PORT": "80", "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)), "wsgi.input": io.BytesIO(sent),
            "wsgi.errors": errors, "wsgi.url_scheme": "http"},
            lambda status, headers, *_: said.update(status=status)))
    return said["status"], json.loads(answer)


if __name__ == "__main__":
    sys.exit(run_and_count())
