#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""local_test.py PROGRAMS: a coordinator that starts by itself and leaves nothing."""
import os
import pathlib
import signal
import subprocess
import sys
import unittest
from unittest import mock

import world
from world import scratch, within

import frostline  # noqa: E402
from totals import run_and_count


def running(folder):
    """Processes that name this folder on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if "-c" not in words and any(str(folder) in word for word in words):
                found.append(words[0])
    return found


def user(folder, then="input()"):
    """Another process that uses it."""
    process = subprocess.Popen([sys.executable, "-c", f"""
import frostline
client = frostline.local({str(folder)!r})
print(client.address, len(client.studies()), flush=True)
{then}
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process


class Local(unittest.TestCase):
    def test_two_at_once_share_one_and_the_last_one_ends_it(self):
        with scratch() as folder:
            both = [user(folder), user(folder)]
            said = [one.stdout.readline() for one in both]
            self.assertEqual(said[0], said[1])
            self.assertEqual(2, len(running(folder)))  # a keeper and a coordinator
            both[0].communicate("\n", timeout=20)
            self.assertEqual(2, len(running(folder)))
            both[1].communicate("\n", timeout=20)
            self.assertTrue(within(10, lambda: not running(folder)), running(folder))

    def test_a_killed_notebook_leaves_nothing_but_its_studies(self):
        with scratch() as folder:
            killed = user(folder, """
client.create_study("toy", maximize="score", budget=1,
                    space={"parameters": {"x": {"float": [0, 1]}}})
print("made", flush=True)
input()""")
            killed.stdout.readline(), killed.stdout.readline()
            killed.kill()
            killed.communicate()
            self.assertTrue(within(10, lambda: not running(folder)), running(folder))
            with frostline.local(folder) as client:
                self.assertEqual("toy", client.studies()[0].id)

    def test_a_killed_keeper_takes_its_coordinator_along(self):
        with scratch() as folder, frostline.local(folder):
            keeper = next(int(p.name) for p in pathlib.Path("/proc").iterdir()
                          if p.name.isdigit() and b"_keeper.py" in _command(p)
                          and str(folder).encode() in _command(p))
            os.kill(keeper, signal.SIGKILL)
            self.assertTrue(within(10, lambda: not running(folder)), running(folder))
            with frostline.local(folder) as again:
                self.assertEqual([], again.studies())

    def test_other_users_cannot_reach_it(self):
        with scratch() as folder, frostline.local(folder / "mine") as client:
            self.assertTrue(client.address.startswith("unix:"))
            self.assertEqual(0o700, (folder / "mine").stat().st_mode & 0o777)

    def test_a_long_path_is_no_hindrance(self):
        with scratch() as folder, frostline.local(folder / ("x" * 120)) as client:
            self.assertEqual([], client.studies())

    def test_the_programs_work_with_it(self):
        with scratch() as folder, frostline.local(folder / "f") as client:
            client.create_study("toy", maximize="score", budget=2, space=world.LINE)
            train = world.script(folder, "import frostline\n"
                                 "t = frostline.trial()\nt.report(1, score=t['x'])\n")
            world.work(client, f"{sys.executable} {train}", folder / "runs")
            self.assertEqual("COMPLETED", client.study("toy").state)

    def test_a_folder_that_cannot_be_used_is_said(self):
        with self.assertRaises(frostline.Error) as caught:
            frostline.local("/proc/frostline")
        self.assertIn("name another folder", caught.exception.fix)


class Programs(unittest.TestCase):
    def test_a_program_is_found_by_its_short_name(self):
        self.assertEqual(world.PROGRAMS / "frostline-coordinator",
                         frostline.bin_path("coordinator"))

    def test_a_missing_program_says_what_to_install(self):
        with scratch() as folder, mock.patch.dict(
                os.environ, FROSTLINE_BIN_DIR=str(folder), PATH=str(folder)):
            with self.assertRaises(frostline.errors.ProgramMissing) as caught:
                frostline.bin_path("coordinator")
            self.assertIn("frostline[server]", caught.exception.fix)
            with self.assertRaises(frostline.errors.ProgramMissing) as caught:
                frostline.bin_path("trainer")
            self.assertIn("LibTorch", caught.exception.fix)


def _command(entry):
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(run_and_count())
