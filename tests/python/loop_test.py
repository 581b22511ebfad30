#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loop_test.py PROGRAMS: ask and tell, the loop over trials, and what they survive."""
import contextlib
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import unittest.mock

import world
from world import attempts, coordinator, run_python, study

import frostline  # noqa: E402
from frostline._wire import contract
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

    def test_a_whole_number_is_an_int_as_in_a_trainer_s_spec(self):
        space = {"parameters": {"epochs": {"int": [2, 9]}, "x": {"float": [0.25, 0.5]}}}
        with study(space=space) as (_, toy):
            trial = toy.ask()
            self.assertEqual([int, float], [type(trial[name]) for name in ("epochs", "x")])
            toy.tell(trial, score=len(range(trial["epochs"])))
            one = next(toy.results())
            self.assertIs(int, type(one.parameters["epochs"]))

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

    def test_an_objective_that_is_never_reported_ends_the_loop_and_says_so(self):
        with study(budget=9) as (client, toy):
            said = io.StringIO()
            with self.assertRaises(frostline.errors.NoMetric), contextlib.redirect_stderr(said):
                for trial in toy.trials():
                    with trial:
                        trial.report(numpy_like(1), loss=0.5)
            self.assertEqual(1, len(attempts(client)))
            self.assertIn("the study wants 'score', which was never reported", said.getvalue())

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

    def test_a_process_that_slept_longer_than_its_lease_is_told_so(self):
        with study(budget=1, lease={"ttl": 1}) as (client, toy):
            sleeper = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(f"""
                    import frostline, sys
                    trial = frostline.connect("{client.address}").study("toy").ask()
                    print("leased", flush=True)
                    sys.stdin.readline()
                    try:
                        trial.report(1, score=0.5)
                    except frostline.errors.LeaseLost as lost:
                        print(lost)
                """)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual("leased\n", sleeper.stdout.readline())
            os.kill(sleeper.pid, signal.SIGSTOP)
            again = toy.ask(wait=20)  # another has it now
            os.kill(sleeper.pid, signal.SIGCONT)
            said, _ = sleeper.communicate("go on\n", timeout=30)
            self.assertIn("error[FL-2031]", said)
            self.assertIn("fix:", said)
            toy.tell(again, score=1.0)
            self.assertEqual([1.0], toy.best_trial.values)

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
    def children_that_can_call(self, client, forks):
        good = 0
        for _ in range(forks):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    # A call that hangs ends at its deadline, far beyond its patience.
                    code = 0 if client.study("toy").state == "ACTIVE" else 2
                finally:
                    os._exit(code)
            good += os.waitpid(child, 0)[1] == 0
        return good

    def test_children_of_a_used_channel_call_and_parents_go_on(self):
        with study(budget=1, lease={"ttl": 2, "heartbeat_interval": 0.02}) as (client, toy):
            trial = toy.ask()  # the heartbeat runs
            self.assertEqual(20, self.children_that_can_call(client, 20))
            toy.tell(trial, score=1)

    def test_a_fork_waits_until_no_thread_is_in_a_call(self):
        with study(budget=1) as (client, _):
            over, calls = threading.Event(), []

            def call_on_and_on():
                while not over.is_set():
                    client.study("toy")
                    calls.append(1)

            threads = [threading.Thread(target=call_on_and_on) for _ in range(3)]
            for thread in threads:
                thread.start()
            self.assertEqual(30, self.children_that_can_call(client, 30))
            before = len(calls)
            time.sleep(0.2)
            over.set()
            for thread in threads:
                thread.join()
            self.assertGreater(len(calls), before)

    # What gRPC's variable does to a child that calls: by it, unset is best.
    def test_gRPC_s_variable_for_forks_is_heeded(self):
        with study(budget=1) as (client, _):
            said = {}
            for value in ("0", "false", "1", "true"):
                run = run_python(f"""
                    import os, frostline
                    client = frostline.connect("{client.address}")
                    client.study("toy")
                    if os.fork() == 0:
                        try:
                            print(client.study("toy").state, flush=True)
                        except frostline.errors.WrongProcess as error:
                            print(error.id, flush=True)
                        os._exit(0)
                    os.wait()
                    client.study("toy")
                    """, env={**os.environ, "GRPC_ENABLE_FORK_SUPPORT": value})
                self.assertEqual("", run.stderr)
                said[value] = run.stdout.strip()
            self.assertEqual({"0": "PY-1001", "false": "PY-1001", "1": "ACTIVE",
                              "true": "ACTIVE"}, said)

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


class numpy_like:
    """A whole number that is no int, as numpy's are."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


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
            with self.assertRaises(frostline.errors.InvalidArgument) as caught:
                client.create_study("two", maximize="score", budget=3, space={
                    "parameters": {"x": {"float": [0, 1], "log": True}}})
            self.assertEqual("log", caught.exception.field)
            self.assertIn("log_uniform", caught.exception.cause)
            self.assertEqual(1, len(client.studies()))

    def test_a_key_that_is_none_is_as_if_it_were_not_there(self):
        with study(minimize="score", maximize=None, purpose=None) as (_, toy):
            self.assertEqual(["score"], toy.objectives)

    def test_steps_rise(self):
        with study() as (_, toy):
            trial = toy.ask()
            trial.report(3, score=1)
            with self.assertRaises(frostline.errors.InvalidArgument):
                trial.report(2, score=1)
            trial.report(4, score=1)


class Versions(unittest.TestCase):
    def test_a_worker_older_or_newer_by_one_is_served(self):
        for version in ("0.0.9", "0.2.0"):
            with self.subTest(version), study(budget=1) as (_, toy), \
                    unittest.mock.patch("frostline._lease.VERSION", version):
                toy.tell(toy.ask(), score=1.0)
                self.assertEqual([1.0], toy.best_trial.values)

    def test_a_coordinator_without_a_call_is_said_to_be_older(self):
        with study() as (client, toy):
            path, *rest = contract().method("StudyService", "PauseStudy")
            newer = {**contract()._methods, "StudyService/PauseStudy": (path + "V2", *rest)}
            with unittest.mock.patch.object(contract(), "_methods", newer), \
                    self.assertRaises(frostline.Error) as caught:
                toy.pause()
            self.assertIn("is older than this package", caught.exception.cause)
            self.assertIn("frostline-server", caught.exception.fix)

    def test_words_of_a_newer_coordinator_are_shown_as_they_are(self):
        newer = contract().message("Trial")(name="studies/a/trials/0", number=3)
        wire = newer.SerializeToString() + b"\x18\x63" + b"\xba\x3e\x01x"  # state 99, field 999
        one = frostline.Result(contract().message("Trial").FromString(wire))
        self.assertEqual((3, "99"), (one.number, one.state))


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
