#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_test.py PROGRAMS: commands that know nothing of trials, under a real agent."""
import json
import os
import shlex
import subprocess
import sys
import textwrap
import unittest

import torch
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

    def test_a_configuration_file_is_no_argument_among_all(self):
        results, _, log = self.run_command("""
            import sys
            assert "--config" not in sys.argv and sys.argv.count(sys.argv[1]) == 1, sys.argv
            print("score", float(sys.argv[sys.argv.index("--x") + 1]), open(sys.argv[1]).read())
            """, "--metrics", r"regex:score (?P<score>\S+)", "--config", "c.yaml",
            command=("{config}", "{args}"), files={"c.yaml": "a: 1\n"})
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
                    open(f + "/checkpoint-2/trainer_state.json", "w"))""",
            "tensorboard:{folder}": """
                from torch.utils.tensorboard import SummaryWriter
                writer = SummaryWriter(f + "/runs")
                for i in range(3):
                    writer.add_scalar("eval_score", i / 4, i)
                writer.close()"""}
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
        self.assertEqual(1, len(tries))  # another try would read the same

    def test_a_template_with_an_unknown_name_fails_once(self):
        results, tries, _ = self.run_command("", command=("{lr}",))
        self.assertEqual(("FAILED", 1), (results[0].state, len(tries)))
        self.assertIn("names 'lr'", tries[0]["cause"])

    def test_a_configuration_file_that_does_not_parse_is_named(self):
        _, tries, _ = self.run_command("", "--config", "c.yaml", command=("{config}",),
                                       files={"c.yaml": "a: [1"})
        self.assertEqual(([], 2), (tries, self.said[0]))  # it costs no trial
        self.assertIn("PY-1008: c.yaml cannot be read", self.said[1])

    def test_a_search_about_nothing_is_refused_before_it_costs_a_trial(self):
        base = {"base.yaml": "optimizer: {lr: 1}\n"}
        config = ("--config", "base.yaml", "--set")
        cases = [(("--lr", "{lr"), (), "PY-1020: a brace of '{lr' is not closed"),
                 (("{config}",), (), "PY-1003: the command names {config}"),
                 (("x",), (*config, "optimizer.lr={x}"),
                  "PY-1022: the command never gets the changed copy"),
                 (("{config}",), (*config, "optimiser.lr={x}"), "did you mean 'optimizer'?"),
                 (("{config}",), (*config, "optimizer.lrr={x}"), "did you mean 'lr'?"),
                 (("{config}",), (*config, "trainer.lr={x}"), "'trainer' is not in it")]
        for command, flags, words in cases:
            with self.subTest(words):
                _, tries, _ = self.run_command("", *flags, command=command, files=base)
                self.assertEqual(([], 2), (tries, self.said[0]))
                self.assertIn(words, self.said[1])

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

    def test_hydra_gets_its_overrides(self):
        results, _, log = self.run_command("""
            import hydra
            @hydra.main(version_base=None, config_path="conf", config_name="config")
            def main(cfg):
                print(f"score={cfg.optimizer.lr + cfg.model.layer_0:.9f}")
            main()
            """, "--metrics", r"regex:score=(?P<score>\S+)",
            command=("optimizer.lr={x}", "model.layer_0={layer.0}", "hydra.run.dir={folder}"),
            files={"conf/config.yaml": "optimizer: {lr: 9}\nmodel: {layer_0: 9}\n"})
        self.assertEqual("SUCCEEDED", results[0].state, log)
        wanted = results[0].parameters["x"] + results[0].rates["layer.0"]
        self.assertAlmostEqual(wanted, results[0].values[0], 6)


class Slurm(unittest.TestCase):
    """What `frostline slurm up` would give to each worker, given to one here."""

    def up(self, client, folder, *flags):
        for name in ("sbatch", "squeue", "scontrol", "scancel"):  # a cluster of no tasks
            script(folder / "bin", "#!/bin/sh\n", name).chmod(0o755)
        return subprocess.run(
            [world.PROGRAMS / "frostline", "slurm", "up", "toy", "--dry-run", "--json",
             "--connect", client.address, *flags], cwd=folder, capture_output=True, text=True,
            timeout=60, env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})

    def test_a_command_and_its_flags_reach_the_workers(self):
        with scratch() as folder, study(budget=1, space=SPACE, model=MODEL) as (client, toy):
            train = script(folder, """
                import sys, yaml
                print("score", yaml.safe_load(open(sys.argv[1]))["a"]["lr"])
                """)
            script(folder, "a: {lr: 1}\n", "c.yaml")
            said = self.up(client, folder, "--command", f"{sys.executable} {train} {{config}}",
                           "--metrics", r"regex:score (?P<points>\S+)", "--config", "c.yaml",
                           "--set", "a.lr={x}", "--rename", "points=score", "--in-folder",
                           "--gpus-per-slot", "2", "--gres", "gpu:4", "--slots", "gpu")
            self.assertEqual("", said.stderr)
            words = shlex.split(json.loads(said.stdout)["command"])
            flags = words[words.index(str(world.PROGRAMS / "frostline-worker")) + 1:]
            at = flags.index("--gpus-per-slot")
            self.assertEqual("2", flags[at + 1])
            flags[at:at + 2] = []  # no GPU is here
            flags[flags.index("--slots") + 1] = "1"
            done = subprocess.run(
                [world.PROGRAMS / "frostline-worker", "--connect", client.address, "--run-dir",
                 folder / "runs", *flags], cwd=folder / "bin", capture_output=True, text=True,
                timeout=60)
            trial = next(toy.results())
            self.assertEqual([trial.parameters["x"]], trial.values, done.stderr)

    def test_what_no_worker_would_take_is_refused(self):
        with scratch() as folder, study(budget=1) as (client, _):
            for flags, said in (
                    (("--exec", "a", "--set", "x=1"), "--set is about a --command"),
                    (("--exec", "a", "--command", "b"), "--command does not go with --exec"),
                    ((), "--command CMD, as the nodes see them")):
                done = self.up(client, folder, *flags)
                self.assertEqual(2, done.returncode, done.stderr)
                self.assertIn(said, done.stderr)


class OtherTrainers(unittest.TestCase):
    """The shapes that the files of others are documented to have; they are not run."""

    trial = Trial({"parameters": {"lr": 2e-05, "batch": 16.0, "rank": 8.0},
                   "rates": {"layer.0": 0.0, "layer.1": 1e-4}, "folder": "/tmp/t"})
    axolotl = """
        base_model: org/model
        datasets:
          - path: org/data
            type: alpaca
        learning_rate: 0.0002
        micro_batch_size: 2
        lora_r: 32
        output_dir: ./outputs
        unfrozen_parameters: []
        """
    llama_factory = """
        model_name_or_path: org/model
        ### method
        finetuning_type: lora
        lora_target: all
        learning_rate: 1.0e-4
        per_device_train_batch_size: 1
        output_dir: saves/sft
        """

    def test_a_configuration_keeps_what_is_not_set(self):
        changes = {"learning_rate": "{lr}", "output_dir": "{folder}"}
        cases = (("axolotl", self.axolotl, {"micro_batch_size": "{batch}", "lora_r": "{rank}",
                                            "datasets.0.type": "chat_template"}),
                 ("llama", self.llama_factory, {"per_device_train_batch_size": "{batch}"}))
        for name, text, more in cases:
            with scratch() as folder, self.subTest(name):
                source = script(folder, text, f"{name}.yaml")
                before = _template.read_config(source)
                _template.overlay(source, {**changes, **more}, self.trial,
                                  folder / "made.yaml")
                made = _template.read_config(folder / "made.yaml")
                self.assertEqual((2e-05, "/tmp/t"), (made["learning_rate"], made["output_dir"]))
                self.assertEqual(list(before), list(made))
                changed = {k for k in made if made[k] != before[k]}
                self.assertEqual({*changes, *(k.split(".")[0] for k in more)}, changed)
                self.assertIsInstance(made[list(more)[0]], int)

    def test_steps_by_the_names_that_others_have(self):
        rows = {"trainer_log.jsonl": {"current_steps": 5, "total_steps": 9, "eval_loss": 0.5},
                "logging.jsonl": {"eval_loss": 0.5, "global_step/max_steps": "5/9"},
                "log_history.jsonl": {"global_step": 5, "eval_loss": 0.5}}
        for name, row in rows.items():
            with scratch() as folder, self.subTest(name):
                (folder / name).write_text(json.dumps(row) + "\n")
                (step, metrics), = _metrics.reader(f"jsonl:{name}", folder).look()
                self.assertEqual((5, 0.5), (step, metrics["eval_loss"]))


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

    def test_event_files_as_tensorboard_writes_them(self):
        from tensorboard.compat.proto import event_pb2
        from torch.utils.tensorboard import SummaryWriter
        with scratch() as folder:
            reader = _metrics.reader("tensorboard:", folder)
            self.assertEqual([], list(reader.look()))
            writer = SummaryWriter(folder / "a")
            for step in (1, 300):
                writer.add_scalar("eval/accuracy", step / 4, step)
                writer.add_scalar("loss", -0.5, step, new_style=True)
            writer.add_scalar("inf", float("inf"), 300)
            writer.add_text("note", "no number", 300)
            writer.add_histogram("weights", torch.ones(9), 300)
            writer.flush()
            # Others may still come for the newest step, until a look brings nothing.
            first = {"eval/accuracy": 0.25, "loss": -0.5}
            self.assertEqual([(1, first)], list(reader.look()))
            self.assertEqual([(300, {"eval/accuracy": 75.0, "loss": -0.5})],
                             list(reader.look()))
            # A second file, of which half a record is there.
            writer.close()
            other = SummaryWriter(folder / "b")
            other.add_scalar("loss", 7.0, 2 ** 40)
            other.close()
            (path,) = (folder / "b").iterdir()
            whole = path.read_bytes()
            path.write_bytes(whole[:-5])
            self.assertEqual([], list(reader.look()))
            path.write_bytes(whole)
            self.assertEqual([(2 ** 40, {"loss": 7.0})], list(reader.look(ended=True)))
            # Doubles as newer writers have them.
            event = event_pb2.Event(step=3)
            event.summary.value.add(tag="d").tensor.CopyFrom(
                type(event.summary.value.add().tensor)(dtype=2, double_val=[0.1]))
            self.assertEqual([(3, "d", 0.1)], list(_metrics._scalars(
                memoryview(event.SerializeToString()))))

    def test_a_damaged_event_file_is_named(self):
        with scratch() as folder:
            (folder / "x.tfevents.1").write_bytes(
                (4).to_bytes(8, "little") + b"\0" * 4 + b"\xff" * 4 + b"\0" * 4)
            with self.assertRaisesRegex(errors.BadFile, "x.tfevents.1 is no event file"):
                list(_metrics.reader("tensorboard:.", folder).look())

    def test_a_line_that_is_being_written_waits(self):
        with scratch() as folder:
            reader = _metrics.reader("jsonl:m", folder)
            (folder / "m").write_text('{"step": 1, "a": 1}\n{"step": 2, "a"')
            self.assertEqual([(1, {"a": 1})], list(reader.look()))
            (folder / "m").write_text('{"step": 1, "a": 1}\n{"step": 2, "a": 2}\n')
            self.assertEqual([(2, {"a": 2})], list(reader.look()))


if __name__ == "__main__":
    sys.exit(run_and_count())
