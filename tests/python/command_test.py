#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_test.py PROGRAMS: commands that know nothing of trials, under a real agent."""
import shlex
import sys
import textwrap
import unittest

import world
from world import attempts, scratch, script, study

from frostline import _metrics, _template, errors
from frostline._trial import Trial
from totals import run_and_count

SPACE = {"modules": {"layer.*": [0, 1e-3], "head": 1e-2},
         "parameters": {"x": {"float": [0, 1]}, "batch": {"int": [8, 16]}}}
MODEL = {"id": "m", "layers": 2, "no_pooler": True}


class Command(unittest.TestCase):
    def run_command(self, text, *flags, command=("{args}",), budget=1, files=None, **keys):
        """Results, the first trial's attempts and the log, of an unedited script."""
        with scratch() as folder, study(budget=budget, space=SPACE, model=MODEL,
                                        **keys) as (client, toy):
            train = script(folder, text)
            for name, content in (files or {}).items():
                script(folder, content, name)
            words = [sys.executable, str(train), *command]
            said = world.work(client, shlex.join(words), folder / "runs", "--keep", "all",
                              *flags, by="--command", cwd=folder)
            self.said = said.returncode, said.stderr
            log = "".join(p.read_text() for p in sorted((folder / "runs").rglob("*.log")))
            results = list(toy.results(rates=True))
            return results, attempts(client) if results else [], log

    def test_arguments_and_a_regular_expression(self):
        results, _, log = self.run_command("""
            import argparse
            p = argparse.ArgumentParser()
            for name, kind in (("x", float), ("batch", int), ("layer.0", float), ("layer.1", float)):
                p.add_argument("--" + name, type=kind)
            a = p.parse_args()
            for epoch in (1, 2):
                print(f"epoch {epoch} acc={a.x * epoch} batch={a.batch}")
            """, "--metrics", r"regex:epoch (?P<step>\d+) acc=(?P<score>\S+)")
        self.assertEqual("SUCCEEDED", results[0].state, log)
        self.assertAlmostEqual(2 * results[0].parameters["x"], results[0].values[0])
        self.assertIn("epoch 2 acc=", log)

    def test_a_template_names_modules_and_the_environment(self):
        results, _, log = self.run_command("""
            import sys
            low, head, home, brace = sys.argv[1:]
            assert home and brace == "{}" and float(head) == 0.01
            print("score", float(low))
            """, "--metrics", r"regex:score (?P<score>\S+)",
            command=("{layer.0}", "{rate:head}", "${PATH}", "{{}}"))
        self.assertEqual([results[0].rates["layer.0"]], results[0].values, log)

    def test_a_configuration_file_gets_its_values_by_path(self):
        results, _, log = self.run_command("""
            import sys, yaml
            c = yaml.safe_load(open(sys.argv[1]))
            assert c["groups"][1]["rates"]["head"] == 0.01 and c["kept"] == [1, 2]
            assert isinstance(c["batch"], int) and c["name"] == f"run-{c['batch']}"
            print("score", c["optimizer"]["lr"])
            """, "--metrics", r"regex:score (?P<score>\S+)", "--config", "c.yaml",
            "--set", "optimizer.lr={x}", "--set", "groups.1.rates={rates}",
            "--set", "batch={batch}", "--set", "name=run-{batch}",
            command=("{config}",),
            files={"c.yaml": "optimizer: {lr: 1}\ngroups: [{}, {rates: 0}]\nkept: [1, 2]\n"})
        self.assertEqual([results[0].parameters["x"]], results[0].values, log)

    def test_metrics_of_files(self):
        kinds = {
            "jsonl:{folder}/log.jsonl": """
                import json
                for i in range(3):
                    print(json.dumps({"step": i, "score": i / 4, "note": "x"}),
                          file=open(f + "/log.jsonl", "a"))""",
            "csv:{folder}/log.csv": """
                open(f + "/log.csv", "w").write("epoch,score\\n1,0.25\\n2,0.5\\n")""",
            "trainer_state:{folder}": """
                import json, os
                os.mkdir(f + "/checkpoint-2")
                json.dump({"log_history": [{"step": 1, "loss": 3.0}, {"step": 2,
                    "eval_score": 0.5, "epoch": 1.0}]},
                    open(f + "/checkpoint-2/trainer_state.json", "w"))"""}
        for kind, body in kinds.items():
            with self.subTest(kind):
                results, tries, log = self.run_command(
                    "import sys; f = sys.argv[1]\n" + textwrap.dedent(body),
                    "--metrics", kind, "--rename", "eval_score=score", command=("{folder}",))
                self.assertEqual([0.5], results[0].values, (tries, log))

    def test_a_pruned_command_gets_a_signal(self):
        results, _, log = self.run_command("""
            import signal, sys, time
            def leave(*_):
                print("asked to leave", flush=True)
                sys.exit(1)
            signal.signal(signal.SIGTERM, leave)
            for step in range(100):
                print(f"step {step} score {-step - float(sys.argv[1])}", flush=True)
                time.sleep(0.01 if float(sys.argv[1]) < 3 else 0.1)
            """, "--metrics", r"regex:step (?P<step>\d+) score (?P<score>\S+)",
            command=("{number}",), budget=5,
            pruner={"name": "median", "startup_trials": 2},
            lease={"ttl": 3, "heartbeat_interval": 0.2})
        self.assertIn("PRUNED", [one.state for one in results], log)
        self.assertIn("asked to leave", log)

    def test_a_metric_that_never_comes_is_named(self):
        results, tries, _ = self.run_command("print('accuracy 0.5')",
                                             "--metrics", r"regex:(?P<acc>0\S+)")
        self.assertEqual("FAILED", results[0].state)
        self.assertIn("never wrote 'score'; what was read: acc", tries[0]["cause"])

    def test_a_template_with_an_unknown_name_fails_once(self):
        results, tries, _ = self.run_command("", command=("{lr}",))
        self.assertEqual(("FAILED", 1), (results[0].state, len(tries)))
        self.assertIn("names 'lr'", tries[0]["cause"])

    def test_a_configuration_file_that_does_not_parse_is_named(self):
        _, tries, _ = self.run_command("", "--config", "c.yaml", command=("{config}",),
                                       files={"c.yaml": "a: [1"})
        self.assertEqual(([], 2), (tries, self.said[0]))  # it costs no trial
        self.assertIn("PY-1008: c.yaml cannot be read", self.said[1])

    def test_the_package_s_own_program_is_the_same(self):
        with scratch() as folder, study(budget=1) as (client, toy):
            words = [sys.executable, "-m", "frostline.command", "--metrics",
                     "regex:(?P<score>.+)", "--", "echo", "{x}"]
            world.work(client, shlex.join(words), folder)
            trial = next(toy.results())
            self.assertEqual([trial.parameters["x"]], trial.values)

    def test_a_command_that_writes_lives_and_a_silent_one_hangs(self):
        # Longer than the patience before a first step, which is 6 x 0.5 s.
        text = """
            import sys, time
            for _ in range(20):
                time.sleep(0.2)
                print("." if {0!r} == "writes" else "", end="", file=sys.stderr, flush=True)
            print("score 1")
            """
        for kind, state in (("writes", "SUCCEEDED"), ("silent", "FAILED")):
            results, tries, log = self.run_command(
                text.format(kind), "--metrics", r"regex:score (?P<score>\S+)",
                "--hang-after", "500ms", "--stop-grace", "1s")
            self.assertEqual(state, results[0].state, (tries, log))
        self.assertIn("suspected hang", tries[0]["cause"])

    def test_a_failed_command_says_how(self):
        results, tries, log = self.run_command("raise SystemExit('no data')")
        self.assertEqual(3, len(tries))
        self.assertIn("exit code 1", tries[0]["cause"])
        self.assertIn("no data", log)


class Words(unittest.TestCase):
    trial = Trial({"parameters": {"lr": 2e-05, "name": "a b; rm", "on": True, "n": 32.0},
                   "rates": {"layer.3": 0.0}})

    def test_a_value_is_one_word_whatever_is_in_it(self):
        self.assertEqual(["run", "a b; rm", "--n=32", "true", "2e-05", "0"],
                         _template.command_of(
                             "run {name} --n={n} {on} {lr} {layer.3}", self.trial))

    def test_a_command_with_an_open_quote_is_refused(self):
        with self.assertRaises(errors.InvalidArgument):
            _template.command_of("run 'x", self.trial)

    def test_readers_that_there_are_not_are_refused(self):
        for text in ("xml:a", "csv:", "regex:(", "regex:(a)"):
            with self.assertRaises(errors.InvalidArgument):
                _metrics.reader(text, None)

    def test_a_line_that_is_being_written_waits(self):
        with scratch() as folder:
            reader = _metrics.reader("jsonl:m", folder)
            (folder / "m").write_text('{"step": 1, "a": 1}\n{"step": 2, "a"')
            self.assertEqual([(1, {"a": 1})], list(reader.look()))
            (folder / "m").write_text('{"step": 1, "a": 1}\n{"step": 2, "a": 2}\n')
            self.assertEqual([(2, {"a": 2})], list(reader.look()))


if __name__ == "__main__":
    sys.exit(run_and_count())
