#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""script_test.py PROGRAMS: `frostline.trial()` in a script that a real agent starts,
and in the same script alone."""
import subprocess
import sys
import unittest

import world
from world import attempts, scratch, script, study

from totals import run_and_count


class Script(unittest.TestCase):
    def run_script(self, text, budget=1, flags=(), **keys):
        """The client, what the study has in the end, and what the agent said."""
        with scratch() as folder, study(budget=budget, **keys) as (client, toy):
            train = script(folder, text)
            said = world.work(client, f"{sys.executable} {train}", folder / "runs", *flags)
            logs = "".join(path.read_text() for path in
                           sorted((folder / "runs").rglob("*.log")))
            return list(toy.results()), attempts(client), said.stderr + logs

    def test_two_lines_make_a_script_a_trainer(self):
        results, _, _ = self.run_script("""
            import frostline
            trial = frostline.trial(x=0.5)
            print("a print harms nothing", '{"type": "finish"}')
            for step in range(3):
                trial.report(step, score=trial["x"] * step)
            """, budget=3)
        self.assertEqual(["SUCCEEDED"] * 3, [one.state for one in results])
        for one in results:
            self.assertAlmostEqual(2 * one.parameters["x"], one.values[0])

    def test_the_same_script_runs_alone(self):
        with scratch() as folder:
            train = script(folder, """
                import sys, frostline
                trial = frostline.trial(x=0.5)
                assert not trial.report(1, score=1) and trial.alone
                print(trial["x"], "grpc" in sys.modules, "google.protobuf" in sys.modules)
                """)
            said = subprocess.run([sys.executable, train], capture_output=True, text=True)
            self.assertEqual("0.5 False False\n", said.stdout)

    def test_an_exception_is_the_attempt_s_cause(self):
        results, tries, said = self.run_script("""
            import frostline
            trial = frostline.trial()
            raise ValueError("no such label")
            """)
        self.assertEqual("FAILED", results[0].state)
        self.assertEqual(3, len(tries))
        self.assertIn("ValueError: no such label (train.py:4)", tries[0]["cause"])
        self.assertIn("Traceback", said)

    def test_out_of_memory_is_told_apart(self):
        _, tries, _ = self.run_script("""
            import frostline
            frostline.trial()
            raise MemoryError()
            """)
        self.assertEqual("FAILURE_CLASS_OUT_OF_MEMORY", tries[0]["failure"])

    def test_a_script_that_leaves_by_sys_exit_has_failed(self):
        results, tries, _ = self.run_script("""
            import frostline, sys
            trial = frostline.trial()
            trial.report(1, score=1)
            sys.exit("no data")
            """)
        self.assertEqual("FAILED", results[0].state)
        self.assertIn("no data", tries[0]["cause"])

    def test_an_objective_that_never_comes_is_named(self):
        results, tries, _ = self.run_script("""
            import frostline
            frostline.trial().report(1, accuracy=1)
            """)
        self.assertEqual("FAILED", results[0].state)
        self.assertIn("the study wants 'score'", tries[0]["cause"])

    def test_a_crash_of_python_costs_an_attempt_and_no_trial(self):
        results, tries, _ = self.run_script("""
            import frostline, os
            trial = frostline.trial()
            if trial.attempt == 1:
                os._exit(11)
            trial.report(1, score=trial.attempt)
            """)
        self.assertEqual([2.0], results[0].values)
        self.assertEqual(2, len(tries))

    def test_a_pruned_trial_stops_at_its_next_report(self):
        results, _, _ = self.run_script("""
            import frostline, time
            trial = frostline.trial()
            for step in range(200):
                if trial.report(step, score=-trial.number):
                    break
                time.sleep(0.01 if trial.number < 4 else 0.05)
            """, budget=6, pruner={"name": "median", "startup_trials": 2},
            lease={"ttl": 3, "heartbeat_interval": 0.2})
        self.assertIn("PRUNED", [one.state for one in results])

    def test_a_child_of_a_fork_ends_by_sigterm(self):
        results, _, said = self.run_script("""
            import frostline, multiprocessing, time
            trial = frostline.trial()
            child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
            child.start()
            child.terminate()
            child.join(20)
            trial.report(1, score=child.exitcode or 0)
            """)
        self.assertEqual([-15.0], results[0].values, said)

    def test_children_may_fork_and_print(self):
        results, _, _ = self.run_script("""
            import frostline, multiprocessing, os
            trial = frostline.trial()
            def square(x):
                print("a child", x)
                return x * x
            with multiprocessing.get_context("fork").Pool(3) as pool:
                total = sum(pool.map(square, range(4)))
            os.system("echo from a shell; cat")
            trial.report(1, score=total)
            """)
        self.assertEqual([14.0], results[0].values)

    def test_a_checkpoint_comes_back_to_the_next_attempt(self):
        results, _, _ = self.run_script("""
            import frostline, os, pathlib
            trial = frostline.trial()
            if trial.attempt == 1:
                (trial.folder / "state-1").write_text("0.75")
                trial.report(1, score=0)
                trial.checkpoint("state-1", 1)
                os._exit(1)
            text = pathlib.Path(trial.resume_from["path"]).read_text()
            trial.report(2, score=float(text))
            """)
        self.assertEqual([0.75], results[0].values)


if __name__ == "__main__":
    sys.exit(run_and_count())
