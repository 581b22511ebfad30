#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kubeflow_test.py PROGRAMS: frostline-katib, asked by a client in Go in the order of Katib's
controller and of OptimizationJob's, and what it refuses."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import grpc
import world
from world import ROOT, coordinator, scratch

sys.path.append(str(ROOT / "tests" / "support"))

import frostline  # noqa: E402
from fetched import cached  # noqa: E402
from frostline import kubeflow  # noqa: E402
from frostline._wire import contract  # noqa: E402
from totals import run_and_count  # noqa: E402

TRAINER, KATIB = "trainer.optimizer.v1alpha1", "api.v1.beta1"
GO = ROOT / "docs/how-to/grpc-client/go"  # its modules are pinned there
BATCH = {"name": "batch", "search_space": {"categorical": {"choices": ["16", "32", "64"]}}}
LR = {"name": "--lr", "search_space": {"log_uniform": {
    "min": "1e-5", "max": "0.1", "type": "PARAMETER_TYPE_FLOAT"}}}
LOSS = [{"metric": "loss", "direction": "OBJECTIVE_DIRECTION_MINIMIZE"}]


def message(name, content):
    from google.protobuf import json_format
    return json_format.ParseDict(content, contract().other(name)())


@contextlib.contextmanager
def katib(address, *flags):
    """The address of `frostline-katib`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "frostline.kubeflow", "--connect", address,
         "--listen", "127.0.0.1:0", *flags], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0
        process.stdout.close()


class Controllers(unittest.TestCase):
    """Go, as the controllers are written in it."""

    @classmethod
    def setUpClass(cls):
        modules = cached("go-modules", GO / "go.sum")
        if not shutil.which("go") or not modules.is_dir():
            raise (AssertionError if os.environ.get("CI") else unittest.SkipTest)(
                "there are no Go modules: ./dev setup python fetches them")
        folder = cls.enterClassContext(scratch())
        for name in ("go.mod", "go.sum", "tools.go"):
            shutil.copy(GO / name, folder)
        shutil.copy(pathlib.Path(__file__).parent / "kubeflow/controller.go", folder)
        cls.program = folder / "bin" / "controller"
        files = {"suggestion": "katib", "search_algorithm": "trainer"}
        options = "module=example.com/client," + ",".join(
            f"Mgrpc/kubeflow/{file}.proto=example.com/client/{package}"
            for file, package in files.items())
        environment = {**os.environ, "GOMODCACHE": str(modules), "GOPROXY": "off",
                       "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local",
                       "GOBIN": str(folder / "bin"),
                       "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        for command in (
                ["go", "install", "google.golang.org/protobuf/cmd/protoc-gen-go",
                 "google.golang.org/grpc/cmd/protoc-gen-go-grpc"],
                ["protoc", "-I", ROOT / "proto", f"--go_out={options}:.",
                 f"--go-grpc_out={options}:.",
                 *(ROOT / f"proto/grpc/kubeflow/{file}.proto" for file in files)],
                ["go", "build", "-o", cls.program, "."]):
            made = subprocess.run(command, cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert made.returncode == 0, made.stdout

    def trials(self, *words):
        ran = subprocess.run([self.program, *words], capture_output=True, text=True,
                             timeout=150)
        self.assertEqual(0, ran.returncode, ran.stderr)
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def judge(self, trials):
        self.assertEqual(list(range(24)), [one["number"] for one in trials])
        for one in trials:
            self.assertTrue(1e-5 <= float(one["point"]["--lr"]) <= 0.1)
            self.assertIn(one["point"]["batch"], ("16", "32", "64"))
            self.assertIn(one["point"]["layers"], "1234567")
        # What runs out of memory is asked for less and less.
        first, last = ([one["point"]["batch"] for one in part].count("64")
                       for part in (trials[:10], trials[14:]))
        self.assertLess(last, max(2, first))
        self.assertIn("Evicted", [one["reason"] for one in trials])
        self.assertLess(min(one["value"] for one in trials if not one["reason"]), 0.05)

    def test_katibs_order_of_calls(self):
        with coordinator() as (address, _), katib(address) as service:
            trials = self.trials("katib", service)
            self.judge(trials)
            self.assertLessEqual({one["point"]["layers"] for one in trials},
                                 {"1", "3", "5", "7"})
            self.assertEqual({"adam", "sgd"}, {one["point"]["optimizer"] for one in trials})
            with frostline.connect(address) as client:
                self.assertEqual([], client.studies())  # nothing is stored

    def test_optimization_jobs_order_and_the_same_answer_from_anybody(self):
        with coordinator() as (one, _), coordinator() as (other, _), \
                katib(one) as first, katib(other) as second:
            self.judge(self.trials("trainer", first, second))


class Asked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        address, _ = cls.enterClassContext(coordinator())
        cls.client = cls.enterClassContext(frostline.connect(address))
        cls.service = kubeflow.Service(cls.client)

    def validated(self, *parameters, **spec):
        told = self.service.validate(message(f"{TRAINER}.ValidateRequest", {
            "spec": {"objectives": LOSS, "parameters": parameters, **spec}}))
        return [(one.get("parameter", ""), one["message"]) for one in told.get("issues", [])]

    def suggested(self, count, trials=(), **spec):
        told = self.service.suggest(message(f"{TRAINER}.SuggestRequest", {
            "spec": {"objectives": LOSS, "parameters": [BATCH, LR], **spec}, "trials": trials,
            "trial_names": [f"n{k}" for k in range(count)]}))
        return [{a["name"]: a["value"] for a in one["assignments"]}
                for one in told["suggestions"]]

    def history(self, reason):
        """Trials of which those with a batch of 64 failed for a reason."""
        return [{"name": f"t{k}", "assignments": [
            {"name": "batch", "value": batch}, {"name": "--lr", "value": f"{lr}"}],
            **({"state": "TRIAL_STATE_FAILED", "failure_reason": reason} if batch == "64" else
               {"state": "TRIAL_STATE_SUCCEEDED", "objective_values": [
                   {"metric": "loss", "value": "0.5"}]})}
            for k, (batch, lr) in enumerate(
                (batch, lr) for lr in (0.001, 0.002, 0.003, 0.01, 0.02, 0.05)
                for batch in ("16", "32", "64"))]

    def test_why_a_trial_failed_decides_what_is_learned(self):
        counts = {reason: [one["batch"] for one in self.suggested(
            48, self.history(reason))].count("64") for reason in ("OOMKilled", "Evicted")}
        self.assertLess(counts["OOMKilled"], counts["Evicted"] / 2)
        for reason, learned in (("OOMKilled", "INFEASIBLE"), ("NodeLost", "CANCELLED"),
                                ("PreemptionByScheduler", "CANCELLED"), ("Error", "FAILED"),
                                ("", "FAILED")):
            self.assertEqual(learned, kubeflow.failed_as(reason))

    def test_a_seed_is_kept_and_others_differ(self):
        def draw(seed):
            return self.suggested(4, algorithm={"random": {"seed": seed}})

        self.assertEqual(draw(5), draw(5))
        self.assertNotEqual(draw(5), draw(-5))

    def test_a_grid_is_tried_once_and_then_said_to_be_over(self):
        grid = {"parameters": [BATCH], "algorithm": {"grid": {}}}
        self.assertEqual({"16", "32", "64"}, {one["batch"] for one in
                                              self.suggested(3, **grid)})
        with self.assertRaisesRegex(frostline.errors.FailedPrecondition, "3 of 4") as caught:
            self.suggested(4, **grid)
        self.assertEqual("PY-1044", caught.exception.id)

    def test_a_space_that_cannot_be_served_is_said_before_the_first_trial(self):
        def ranged(low, high, kind="uniform", type="PARAMETER_TYPE_FLOAT"):
            return {"name": "x", "search_space": {kind: {"min": low, "max": high, "type": type}}}

        self.assertEqual([], self.validated(LR, BATCH))
        for parameter, words in (
                (ranged("1", "1"), "not below"), (ranged("a", "1"), "no number"),
                (ranged("NaN", "1"), "no number"), (ranged("0", "1e999"), ""),
                (ranged("0", "1", "log_uniform"), "logarithm"),
                (ranged("0.5", "2", type="PARAMETER_TYPE_INT"), "not whole"),
                ({"name": "x", "search_space": {"categorical": {"choices": ["a", "a"]}}}, "twice"),
                ({"name": "x"}, "does not know")):
            with self.subTest(parameter):
                (name, said), = self.validated(parameter)
                self.assertIn(words, said)
                self.assertIn(name, ("x", ""))
        self.assertIn("(PY-1043)", self.validated(LR, LR)[0][1])
        self.assertIn("(PY-1043)", self.validated()[0][1])
        self.assertIn("FL-", self.validated(LR, objectives=[])[0][1])

    def test_an_algorithm_of_a_later_version_is_refused_and_not_replaced(self):
        spec = message(f"{TRAINER}.ValidateRequest", {"spec": {
            "objectives": LOSS, "parameters": [LR], "algorithm": {"grid": {}}}})
        spec.spec.algorithm.Clear()
        spec.spec.algorithm.MergeFromString(b"\x1a\x00")  # a message in field 3
        told = self.service.validate(spec)
        self.assertIn("does not know", told["issues"][0]["message"])

    def test_names_of_every_script_and_of_flags_come_back(self):
        names = ["--lr", "größe", "学习率", "a b", "_", "p1"]
        parameters = [{**LR, "name": name} for name in names]
        drawn, = self.suggested(1, parameters=parameters)
        self.assertEqual(names, list(drawn))

    def test_a_result_that_is_no_number_is_no_result(self):
        for values, state in (([], "FAILED"), ([("loss", "nan")], "INFEASIBLE"),
                              ([("loss", "1e999")], "INFEASIBLE"), ([("loss", "x")], "FAILED")):
            question = kubeflow.Question([kubeflow.choices("b", ["1"])],
                                         {"loss": "MINIMIZE"}, 1, {"name": "tpe"})
            question.trials.append(("SUCCEEDED", {"b": "1"}, dict(values)))
            told = question.request(1)["study"]["trials"][0]
            self.assertEqual((f"TRIAL_STATE_{state}", {}), (told["state"], told["metrics"]))


class Served(unittest.TestCase):
    def test_codes_that_katib_tells_apart(self):
        """INVALID_ARGUMENT ends an experiment; UNAVAILABLE is asked again."""
        experiment = {"name": "e", "spec": {
            "objective": {"type": "MINIMIZE", "objective_metric_name": "loss"},
            "algorithm": {"algorithm_name": "oracle"},
            "parameter_specs": {"parameters": [{
                "name": "x", "parameter_type": "DOUBLE",
                "feasible_space": {"min": "0", "max": "1"}}]}}}
        with coordinator() as (address, process), katib(address) as service, \
                grpc.insecure_channel(service) as channel:
            def code(algorithm):
                experiment["spec"]["algorithm"] = {"algorithm_name": algorithm}
                ask = message(f"{KATIB}.ValidateAlgorithmSettingsRequest",
                              {"experiment": experiment})
                try:
                    channel.unary_unary(f"/{KATIB}.Suggestion/ValidateAlgorithmSettings")(
                        ask.SerializeToString(), timeout=60)
                except grpc.RpcError as error:
                    return error.code().name, error.details()
                return "OK", ""

            self.assertEqual(("OK", ""), code("frostline"))
            self.assertEqual("INVALID_ARGUMENT", code("oracle")[0])
            self.assertIn("FL-1", code("oracle")[1])
            process.terminate()
            process.wait()
            self.assertEqual("UNAVAILABLE", code("frostline")[0])

    def test_a_port_that_is_taken(self):
        with coordinator() as (address, _):
            ran = subprocess.run(
                [sys.executable, "-m", "frostline.kubeflow", "--connect", address,
                 "--listen", address], capture_output=True, text=True, timeout=120)
        self.assertEqual(1, ran.returncode)
        self.assertIn("PY-1045", ran.stderr)


if __name__ == "__main__":
    sys.exit(run_and_count())
