#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loop_test.py PROGRAMS: ask and tell, the loop over trials, and what they survive."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import world
from world import attempts, coordinator, run_python, study

import frostline  # noqa: E402
from totals import run_and_count


class AskAndTell(unittest.TestCase):
    def test_what_was_told_is_what_the_study_has(self):
        with study(budget=3) as (_, toy):
            for _ in range(3):
                trial = toy.ask()
                toy.tell(trial, score=trial["x"])
            self.assertIsNone(toy.ask(wait=5))
            self.assertEqual("COMPLETED", toy.state)
            self.assertEqual(max(one.parameters["x"] for one in toy.results()),
                             toy.best_trial.values[0])

    def test_sixteen_asked_at_once_differ(self):
        with study(budget=16, max_parallel=16) as (_, toy):
            asked = [toy.ask() for _ in range(16)]
            self.assertEqual(16, len({trial["x"] for trial in asked}))
            for trial in asked:
                toy.tell(trial.number, score=1.0)
            self.assertEqual(16, toy.refresh().counts["succeeded"])

    def test_a_missing_objective_changes_nothing(self):
        with study() as (_, toy):
            trial = toy.ask()
            with self.assertRaises(frostline.errors.NoMetric) as caught:
                toy.tell(trial, accuracy=1.0)
            self.assertIn("score", caught.exception.fix)
            toy.tell(trial, score=1.0)
            self.assertEqual(1, toy.refresh().counts["succeeded"])

    def test_an_unknown_parameter_is_named(self):
        with study() as (_, toy):
            with self.assertRaises(frostline.errors.UnknownName) as caught:
                toy.ask()["lr"]
            self.assertIn("it has: x", str(caught.exception))

    def test_an_ended_trial_cannot_be_used(self):
        with study() as (_, toy):
            trial = toy.ask()
            trial.complete(score=1)
            with self.assertRaises(frostline.errors.TrialEnded):
                trial.report(1, score=2)

    def test_what_was_asked_for_and_not_told_comes_back(self):
        with study() as (client, toy):
            number = toy.ask().number
            toy.close()
            again = client.study("toy").ask()
            self.assertEqual((number, 2), (again.number, again.attempt))
            self.assertEqual("ATTEMPT_STATE_PREEMPTED", attempts(client)[0]["state"])


class Loop(unittest.TestCase):
    def test_the_loop_ends_with_the_study(self):
        with study(budget=5) as (_, toy):
            for trial in toy.trials():
                with trial:
                    for step in range(3):
                        trial.report(step, score=trial["x"] + step)
            self.assertEqual(5, toy.refresh().counts["succeeded"])
            self.assertEqual("COMPLETED", toy.state)

    def test_a_lease_is_renewed_while_the_body_works(self):
        with study(budget=1, lease={"ttl": 1.5}) as (client, toy):
            for trial in toy.trials():
                with trial:
                    time.sleep(4)
                    trial.complete(score=1)
            self.assertEqual(1, len(attempts(client)))

    def test_an_exception_fails_the_attempt_and_the_loop_goes_on(self):
        with study(budget=2) as (client, toy):
            tries = 0
            for trial in toy.trials():
                with trial:
                    tries += 1
                    if tries == 1:
                        raise ValueError("no such label")
                    trial.complete(score=1)
            self.assertEqual(3, tries)
            self.assertIn("ValueError: no such label (loop_test.py:",
                          attempts(client)[0]["cause"])

    def test_the_third_exception_in_a_row_is_raised(self):
        with study(budget=9) as (_, toy):
            with self.assertRaisesRegex(RuntimeError, "no data"):
                for trial in toy.trials():
                    with trial:
                        raise RuntimeError("no data")

    def test_who_is_to_blame_decides(self):
        kinds = {MemoryError(): "OUT_OF_MEMORY", OSError(28, "disk full"): "INFRASTRUCTURE",
                 KeyError("a"): "TRIAL"}
        for error, kind in kinds.items():
            with self.subTest(kind), study(budget=1) as (client, toy):
                tries = 0
                for trial in toy.trials():
                    with trial:
                        tries += 1
                        if tries == 1:
                            raise error
                        trial.complete(score=1)
                self.assertEqual(f"FAILURE_CLASS_{kind}", attempts(client)[0]["failure"])

    def test_a_body_that_is_left_hands_the_trial_back(self):
        with study() as (client, toy):
            for trial in toy.trials():
                break
            del trial
            self.assertTrue(world.within(5, lambda: attempts(client)[0]["state"] ==
                                         "ATTEMPT_STATE_PREEMPTED"))

    def test_sigterm_is_heard_as_a_stop_and_the_trial_is_handed_back(self):
        with study(budget=1) as (client, _):
            child = subprocess.Popen([sys.executable, "-c", f"""
import frostline, time
for trial in frostline.connect("{client.address}").study("toy").trials():
    with trial:
        print("training", flush=True)
        step = 0
        while not trial.report(step, score=0):
            step += 1
            time.sleep(0.05)
print("left", flush=True)
"""], stdout=subprocess.PIPE, text=True)
            self.assertEqual("training\n", child.stdout.readline())
            child.send_signal(signal.SIGTERM)
            self.assertEqual("left\n", child.communicate(timeout=20)[0])
            self.assertEqual("ATTEMPT_STATE_PREEMPTED", attempts(client)[0]["state"])

    def test_a_killed_process_loses_its_lease_and_nothing_else(self):
        with study(budget=1, lease={"ttl": 1}) as (client, toy):
            run_python(f"""
                import frostline, os
                for trial in frostline.connect("{client.address}").study("toy").trials():
                    os._exit(9)
                """)
            for trial in toy.trials():
                with trial:
                    trial.complete(score=trial.attempt)
            self.assertEqual([2.0], toy.best_trial.values)

    def test_a_stop_of_the_coordinator_reaches_the_body(self):
        with study(budget=2, lease={"ttl": 2, "heartbeat_interval": 0.3}) as (client, toy):
            steps = 0
            for trial in toy.trials():
                with trial:
                    client.call("StudyService", "CancelTrial", name=trial.name,
                                request_id="cancel-cancel-cancel") if steps == 0 else None
                    while not trial.should_stop and steps < 100:
                        steps += 1
                        time.sleep(0.05)
                    if trial.number == 1:
                        trial.complete(score=1)
                if trial.number == 0:
                    self.assertLess(steps, 60)
                    steps = 100
            self.assertEqual("CANCELLED", next(toy.results()).state)

    def test_a_restart_of_the_coordinator_loses_nothing(self):
        with world.scratch() as folder:
            address = f"unix:{folder}/s"
            with coordinator(folder=folder / "data", listen=address) as (_, first):
                toy = frostline.connect(address).create_study(
                    "toy", maximize="score", budget=2, space=world.LINE)
                trial = toy.ask()
                trial.report(1, score=0.25)
                first.kill()
                first.wait()
                trial.report(2, score=0.5)  # waits here
                later = threading.Timer(1, lambda: None)
                later.start()
                with coordinator(folder=folder / "data", listen=address):
                    toy.tell(trial, score=0.75)
                    told = frostline.connect(address).call(
                        "StudyService", "ListMeasurements", name=trial.name)
            self.assertEqual([0.25, 0.5],
                             [one["metrics"]["score"] for one in told["measurements"]])


class Forks(unittest.TestCase):
    def test_children_of_a_used_channel_call_and_parents_go_on(self):
        with study(budget=1, lease={"ttl": 2, "heartbeat_interval": 0.02}) as (client, toy):
            trial = toy.ask()  # the heartbeat runs
            good = 0
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        # One call, without the patience that would hide a failure.
                        code = 0 if client.study("toy").state == "ACTIVE" else 2
                    finally:
                        os._exit(code)
                good += os.waitpid(child, 0)[1] == 0
            self.assertEqual(20, good)
            toy.tell(trial, score=1)

    def test_children_that_never_call_cost_the_parent_nothing(self):
        with study(budget=1, lease={"ttl": 1, "heartbeat_interval": 0.05}) as (client, toy):
            trial = toy.ask()
            for _ in range(40):
                child = os.fork()
                if child == 0:
                    os._exit(0)
                os.waitpid(child, 0)
                time.sleep(0.05)
            toy.tell(trial, score=1)
            self.assertEqual(1, len(attempts(client)))

    def test_a_leased_trial_in_a_child_is_an_error_that_says_so(self):
        with study() as (_, toy):
            trial = toy.ask()
            child = os.fork()
            if child == 0:
                try:
                    trial.report(1, score=1)
                except frostline.errors.WrongProcess as error:
                    os._exit(0 if str(os.getppid()) in error.cause else 2)
                os._exit(1)
            self.assertEqual(0, os.waitpid(child, 0)[1])
            toy.tell(trial, score=1)


class BadInput(unittest.TestCase):
    def test_a_coordinator_that_is_away_is_said_in_time(self):
        before = time.monotonic()
        with self.assertRaises(frostline.errors.Unavailable) as caught:
            frostline.connect("127.0.0.1:9").study("toy")
        self.assertLess(time.monotonic() - before, 10)
        self.assertEqual("FL-4003", caught.exception.id)
        self.assertIn("FROSTLINE_CONNECT", caught.exception.fix)

    def test_the_server_s_refusal_comes_with_id_cause_and_fix(self):
        with study() as (client, _):
            with self.assertRaises(frostline.errors.NotFound) as caught:
                client.study("none")
            self.assertEqual(("FL-2001", "STUDY_NOT_FOUND", "name"),
                             (caught.exception.id, caught.exception.reason,
                              caught.exception.field))
            self.assertIn("frostline study list", caught.exception.fix)

    def test_a_wrong_token_is_said(self):
        with coordinator("--require-tokens") as (address, _):
            with self.assertRaises(frostline.errors.Unauthenticated) as caught:
                frostline.connect(address, token="wrong").study("toy")
            self.assertRegex(caught.exception.id, "FL-40(09|10)")

    def test_a_misspelt_key_is_named_and_nothing_is_made(self):
        with study() as (client, _):
            with self.assertRaises(frostline.errors.InvalidArgument) as caught:
                client.create_study("two", budgett=3)
            self.assertEqual("budgett", caught.exception.field)
            self.assertEqual(1, len(client.studies()))

    def test_steps_rise(self):
        with study() as (_, toy):
            trial = toy.ask()
            trial.report(3, score=1)
            with self.assertRaises(frostline.errors.InvalidArgument):
                trial.report(2, score=1)
            trial.report(4, score=1)


class Manners(unittest.TestCase):
    def test_importing_takes_little_and_loads_nothing(self):
        best = 1e9
        for _ in range(5):
            run = subprocess.run([sys.executable, "-X", "importtime", "-c",
                                  "import frostline"], capture_output=True, text=True)
            names = [line.split("|")[-1].strip() for line in run.stderr.splitlines()]
            self.assertFalse({"grpc", "google.protobuf", "numpy", "torch"} & set(names))
            best = min(best, int(run.stderr.splitlines()[-1].split("|")[1]) / 1000)
        print(f"import frostline: {best:.1f} ms", file=sys.stderr)
        self.assertLess(best, 50)

    def test_the_interpreter_ends_with_a_trial_held(self):
        with study() as (client, _):
            before = time.monotonic()
            run = run_python(f"""
                import frostline
                frostline.connect("{client.address}").study("toy").ask()
                """)
            self.assertEqual((0, ""), (run.returncode, run.stderr))
            self.assertLess(time.monotonic() - before, 10)
            self.assertEqual("ATTEMPT_STATE_PREEMPTED", attempts(client)[0]["state"])

    def test_the_interpreter_ends_where_no_coordinator_answers_any_more(self):
        with study() as (client, _):
            child = subprocess.Popen([sys.executable, "-c", f"""
import frostline
trial = frostline.connect("{client.address}").study("toy").ask()
print("asked", flush=True)
input()
"""], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
            self.assertEqual("asked\n", child.stdout.readline())
        before = time.monotonic()
        child.communicate("go\n", timeout=60)
        self.assertEqual(0, child.returncode)
        self.assertLess(time.monotonic() - before, 10)


if __name__ == "__main__":
    sys.exit(run_and_count())
