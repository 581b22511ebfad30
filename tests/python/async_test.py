#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""async_test.py PROGRAMS: asking, telling and the loop under asyncio; what is cancelled
leaves no lease behind."""
import asyncio
import sys
import threading
import time
import unittest

from world import attempts, coordinator, run_python, study, within

import frostline
from totals import run_and_count


class Asyncio(unittest.TestCase):
    def test_sixteen_asked_at_once_differ_and_the_loop_goes_on(self):
        async def sixteen(toy):
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0.001)
            ticking = asyncio.create_task(tick())
            asked = await asyncio.gather(*(toy.ask_async() for _ in range(16)))
            for trial in asked:
                await toy.tell_async(trial, score=trial["x"])
            ticking.cancel()
            return asked, ticks

        with study(budget=16, max_parallel=16) as (_, toy):
            asked, ticks = asyncio.run(sixteen(toy))
            self.assertEqual(16, len({trial["x"] for trial in asked}))
            self.assertGreater(ticks, 10)
            self.assertEqual(16, toy.refresh().counts["succeeded"])

    def test_three_loops_train_a_study_side_by_side(self):
        async def train(toy, done):
            async for trial in toy.atrials():
                async with trial:
                    for step in range(2):
                        await trial.report_async(step, score=trial["x"])
                        await asyncio.sleep(0.05)
                    done.append(trial.number)

        async def all_of(toy, done):
            await asyncio.gather(*(train(toy, done) for _ in range(3)))

        with study(budget=9, max_parallel=3) as (_, toy):
            done = []
            asyncio.run(all_of(toy, done))
            self.assertEqual(list(range(9)), sorted(done))
            self.assertEqual((9, "COMPLETED"), (toy.refresh().counts["succeeded"], toy.state))

    def test_an_exception_fails_the_attempt_and_the_loop_goes_on(self):
        async def train(toy):
            tries = 0
            async for trial in toy.atrials():
                async with trial:
                    tries += 1
                    if tries == 1:
                        raise ValueError("no such label")
                    trial.complete(score=1)
            return tries

        with study(budget=1) as (client, toy):
            self.assertEqual(2, asyncio.run(train(toy)))
            self.assertIn("no such label", attempts(client)[0]["cause"])

    def test_a_cancelled_loop_hands_its_trial_back(self):
        async def cancelled(toy):
            began = asyncio.Event()

            async def train():
                async for trial in toy.atrials():
                    async with trial:
                        began.set()
                        await asyncio.sleep(60)
            task = asyncio.create_task(train())
            await began.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        with study(budget=1) as (client, toy):
            asyncio.run(cancelled(toy))
            self.assertEqual("ATTEMPT_STATE_PREEMPTED", attempts(client)[0]["state"])

    def test_a_cancelled_question_leaves_no_lease_behind(self):
        async def cancelled(toy, ask):
            task = asyncio.create_task(ask())
            await asyncio.sleep(0.5)
            task.cancel()
            started = time.monotonic()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertLess(time.monotonic() - started, 0.5)
            other.tell(held, score=1)  # and now the question gets its answer
            await asyncio.sleep(1)

        async def first(toy):
            async for trial in toy.atrials():
                return trial

        for ask in (lambda: toy.ask_async(), lambda: first(toy)):
            with study(budget=2, max_parallel=1) as (client, toy):
                other = client.study("toy")
                held = other.ask()
                asyncio.run(cancelled(toy, ask))
                self.assertTrue(within(10, lambda: toy.refresh().counts["running"] == 0))
                again = other.ask(wait=10)
                self.assertEqual(1, again.number)
                other.tell(again, score=1)

    def test_a_deadline_is_kept(self):
        async def asked(toy):
            await asyncio.wait_for(toy.ask_async(), 0.5)

        with study(budget=2, max_parallel=1) as (_, toy):
            held = toy.ask()
            started = time.monotonic()
            with self.assertRaises(asyncio.TimeoutError):
                asyncio.run(asked(toy))
            self.assertLess(time.monotonic() - started, 2)
            self.assertIsNone(asyncio.run(toy.ask_async(wait=0.2)))
            toy.tell(held, score=1)

    def test_two_loops_in_two_threads_use_one_client(self):
        with study(budget=8, max_parallel=2) as (client, toy):
            async def train():
                async for trial in client.study("toy").atrials():
                    async with trial:
                        await trial.report_async(0, score=1)
            threads = [threading.Thread(target=asyncio.run, args=(train(),)) for _ in range(2)]
            for one in threads:
                one.start()
            for one in threads:
                one.join(60)
            self.assertEqual(8, toy.refresh().counts["succeeded"])

    def test_an_interpreter_ends_while_a_question_is_open(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            client.create_study("toy", budget=1, maximize="score",
                                space={"parameters": {"x": {"float": [0, 1]}}}).ask()
            started = time.monotonic()
            done = run_python(f"""
                import asyncio, frostline
                async def main():
                    toy = frostline.connect({address!r}).study("toy")
                    asyncio.create_task(toy.ask_async())
                    await asyncio.sleep(0.5)
                asyncio.run(main())
                """)
            self.assertEqual(("", 0), (done.stderr, done.returncode))
            self.assertLess(time.monotonic() - started, 8)


if __name__ == "__main__":
    sys.exit(run_and_count())
