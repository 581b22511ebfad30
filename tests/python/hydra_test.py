#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hydra_test.py PROGRAMS: a Hydra application as the page shows it, searched by our sweeper
with Hydra's own launcher and with submitit's, which starts a process for each job."""
import os
import pathlib
import subprocess
import sys
import unittest

import yaml
from pages_test import blocks
from world import coordinator, scratch

import frostline
import wheel  # noqa: E402
from totals import run_and_count

APP = """
import hydra

@hydra.main(version_base=None, config_path=".", config_name="config")
def main(cfg):
    with open("{log}", "a") as told:
        print(cfg.lr, cfg.batch, cfg.kind, dict(cfg.optim.rates), file=told)
    {body}

main()
"""
CONFIG = """
defaults: [_self_, {override hydra/sweeper: frostline}]
lr: 0.1
batch: 16
kind: adam
optim: {rates: {}}
hydra:
  job_logging: {disable_existing_loggers: false}
  sweeper:
    rates: optim.rates
    params: {kind: "choice(adam, 'sgd, nesterov')"}
    study:
      id: toy
      maximize: accuracy
      budget: 3
      model: {id: m, layers: 2, no_pooler: true}
      space: {modules: {"layer.*": [0, 1e-4], head: 1e-3}}
"""
SWEEP = ["lr=tag(log, interval(0.001, 0.5))", "batch=choice(16, 32)"]


class Hydra(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(scratch())
        self.address, _ = self.enterContext(coordinator())
        (self.folder / "config.yaml").write_text(CONFIG)

    def start_app(self, *words, body, **pipes):
        log = self.folder / "told"
        (self.folder / "app.py").write_text(APP.replace("{log}", str(log)).replace("{body}", body))
        return subprocess.Popen(
            [sys.executable, "app.py", "--multirun", *words], cwd=self.folder, text=True,
            env={**os.environ, "FROSTLINE_CONNECT": self.address},
            **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **pipes})

    def run_app(self, *words, body="return cfg.lr"):
        log = self.folder / "told"
        app = self.start_app(*words, body=body, stderr=subprocess.PIPE)
        out, err = app.communicate(timeout=120)
        done = subprocess.CompletedProcess(app.args, app.returncode, out, err)
        return done, log.read_text().splitlines() if log.exists() else []

    def trials(self):
        with frostline.connect(self.address) as client:
            return list(client.study("toy").results(rates=True))

    def test_each_job_is_a_trial_and_gets_its_point_and_rates(self):
        done, jobs = self.run_app(*SWEEP)
        self.assertEqual(0, done.returncode, done.stderr)
        trials = self.trials()
        self.assertEqual(["SUCCEEDED"] * 3, [one.state for one in trials])
        for one, job in zip(trials, jobs, strict=True):
            point = one.parameters
            self.assertEqual(f"{point['lr']} {point['batch']} {point['kind']} {one.rates}", job)
            self.assertEqual([point["lr"]], one.values)
            self.assertIn(one.rates["layer.0"], (0, 1e-4))

    def test_the_best_is_written_beside_the_jobs(self):
        self.run_app(*SWEEP)
        path, = self.folder.rglob("optimization_results.yaml")
        told = yaml.safe_load(path.read_text())
        best = max(self.trials(), key=lambda one: one.values[0])
        self.assertEqual([best.number], [one["trial"] for one in told["best"]])
        self.assertIn(f"lr={best.parameters['lr']}", told["best"][0]["overrides"])

    def test_submitit_starts_a_process_for_each_of_two_at_once(self):
        done, jobs = self.run_app(*SWEEP, "hydra/launcher=submitit_local",
                                  "hydra.sweeper.jobs=2")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["SUCCEEDED"] * 3, [one.state for one in self.trials()])
        self.assertEqual(3, len(jobs))
        with frostline.connect(self.address) as client:
            self.assertEqual(2, client.study("toy")._message.settings.max_parallel)

    def test_a_second_run_of_the_same_id_goes_on(self):
        self.run_app(*SWEEP, body="raise SystemExit('out of power') if cfg.lr > 0 else 1")
        self.assertNotIn("SUCCEEDED", [one.state for one in self.trials()])
        done, _ = self.run_app(*SWEEP)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["SUCCEEDED"] * 3, [one.state for one in self.trials()])

    def test_a_job_that_always_fails_ends_the_sweep_with_its_words(self):
        done, jobs = self.run_app(*SWEEP, body="raise ValueError('no such file')")
        self.assertEqual(1, done.returncode)
        self.assertIn("no such file", done.stderr)
        self.assertEqual(3, len(jobs))

    def test_a_loss_that_is_nan_is_infeasible(self):
        self.run_app(*SWEEP, body="return float('nan')")
        self.assertEqual(["INFEASIBLE"] * 3, [one.state for one in self.trials()])

    def test_a_paused_study_is_waited_for_and_said(self):
        pause = ("import frostline; toy = frostline.connect().study('toy')\n"
                 "    if not __import__('os').path.exists('paused'):\n"
                 "        open('paused', 'w').close(); toy.pause('the node is needed')\n"
                 "    return cfg.lr")
        app = self.start_app(*SWEEP, body=pause)
        said = ""
        while "the study is paused: the node is needed" not in said:
            line = app.stdout.readline()
            self.assertTrue(line, said)
            said += line
        with frostline.connect(self.address) as client:
            client.study("toy").resume()
        said += app.communicate(timeout=60)[0]
        self.assertEqual(0, app.returncode, said)
        self.assertEqual(["SUCCEEDED"] * 3, [one.state for one in self.trials()])

    def test_mistakes_are_said_and_nothing_is_made(self):
        for words, body, told in (
                (["hydra.sweeper.jobs=2"], "return 1", "error[PY-1041]: jobs is 2"),
                (["hydra.sweeper.jobs=0"], "return 1", "error[PY-1041]: jobs is 0"),
                (["batch=choice(16, 16)"], "return 1", "error[PY-1041]: batch has a choice twice"),
                (["+hydra.sweeper.study.maximise=x"], "return 1", "error[FL-1001]"),
                (["lr=interval(2, 1)"], "return 1", "error[FL-")):
            with self.subTest(words):
                done, jobs = self.run_app(*words, body=body)
                self.assertIn(told, done.stderr)
                self.assertEqual([], jobs)

    def test_a_job_without_a_result_is_said(self):
        done, _ = self.run_app(*SWEEP, body="pass")
        self.assertIn("error[PY-1004]: the job returned None, and the study wants accuracy",
                      done.stdout + done.stderr)

    def test_hydra_1_3_finds_it_too(self):
        # It takes classes of this package alone, and has no wheels of all it needs.
        from hydra_plugins.frostline_sweeper import FrostlineSweeper
        self.assertEqual("hydra_plugins.frostline_sweeper", FrostlineSweeper.__module__)
        self.assertIn("hydra_plugins/frostline_sweeper.py", wheel.sources())

    def test_the_page_s_lines_run(self):
        config, app = blocks("how-to/hydra.md", "yaml")[0], blocks("how-to/hydra.md")[0]
        (self.folder / "conf").mkdir()
        (self.folder / "conf/config.yaml").write_text(config.replace("budget: 40", "budget: 2"))
        (self.folder / "train.py").write_text(app)
        done = subprocess.run(
            [sys.executable, "train.py", "--multirun", "warmup=interval(0.0, 0.2)",
             "hydra.job.name='My App_2'"],
            cwd=self.folder, capture_output=True, text=True, timeout=120,
            env={**os.environ, "FROSTLINE_CONNECT": self.address})
        self.assertEqual(0, done.returncode, done.stderr)
        path, = self.folder.rglob("optimization_results.yaml")
        told = yaml.safe_load(path.read_text())
        self.assertEqual(1, len(told["best"]))
        self.assertRegex(told["study"], r"^my-app-2-\d{8}-\d{6}$")


if __name__ == "__main__":
    sys.exit(run_and_count())
