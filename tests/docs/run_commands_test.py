#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_commands_test.py BIN: every command that pages, examples and error fixes
show can be run.

Each is given to a shell as it is printed, in a copy of a world that has what
the docs speak of (doc_world.py), and has to end with code 0. What a reader
knows and a shell does not is in doc_tables.py. A block of a page is run from
its first line to its last, in one world. Trials are run by a trainer that
answers at once: how well models train is for others to say (tests/flow).

  -k WORDS   runs those whose page or command has the words"""
import pathlib
import re
import sys
import tempfile
import unittest

import doc_tables as tables
from doc_commands import ROOT
from doc_steps import groups
from doc_world import Worlds

sys.path.insert(0, str(ROOT / "tests/style"))
from totals import run_and_count  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
TRAINER = BIN / "frostline-trainer"
WORLDS = None
SHARED = None


def setUpModule():
    global WORLDS, SHARED
    scratch = tempfile.TemporaryDirectory(prefix="frostline-docs-")
    unittest.addModuleCleanup(scratch.cleanup)
    WORLDS = Worlds(pathlib.Path(scratch.name), BIN)
    SHARED = WORLDS.make()
    unittest.addModuleCleanup(SHARED.end)


class OneGroup(unittest.TestCase):
    """A class of its own is made of it for each group of commands."""
    group = None

    @classmethod
    def setUpClass(cls):
        cls.world = WORLDS.make(beside=None if cls.group.changes else SHARED,
                                works=cls.group.takes_workers)
        cls.addClassCleanup(cls.world.end)

    def run_one(self, command):
        if command.excuse:
            self.skipTest(command.excuse)
        if command.does(tables.TAKES_TRAINER) and not TRAINER.exists():
            self.skipTest("this build has no trainer: tests/flow/predict.bats")
        for script in filter(None, command.before):
            self.world.must(script)
        if command.stays:
            self.world.keep(command.script)
            return
        code, said = self.answer(command)
        self.assertEqual(code, command.code,
                         f"{command.text}\n{command.script}\n{said}")

    def answer(self, command):
        if not command.is_endless:
            return self.world.run(command.script)
        beside = next((script for pattern, script in tables.BESIDE
                       if re.search(pattern, command.script)), "")
        begun = self.world.begin(command.script, beside)
        return begun.end(), begun.said()


class Tables(unittest.TestCase):
    """Nothing in them is about commands that are gone."""

    @classmethod
    def setUpClass(cls):
        cls.commands = {command.text: command for group in groups()
                        for command in group.commands}.values()
        cls.scripts = [command.script for command in cls.commands]

    def fit(self, pattern):
        return any(re.search(pattern, script) for script in self.scripts)

    def test_every_entry_is_of_some_command(self):
        texts = {command.text for command in self.commands}
        stages = {pattern for command in self.commands
                  for pattern, _ in command.stages()}
        self.assertEqual([], sorted(tables.ENDS_WITH.keys() - texts))
        self.assertEqual([], [pattern for pattern, _ in tables.STANDS_FOR
                              if pattern not in stages])
        for table in tables.BEFORE, tables.BESIDE, tables.CODES:
            self.assertEqual([], [pattern for pattern, *_ in table
                                  if not self.fit(pattern)])

    def test_what_is_not_run_here_is_run_elsewhere(self):
        for pattern, why, test in tables.EXCEPTED:
            self.assertTrue(self.fit(pattern), pattern)
            self.assertTrue(why)
            self.assertTrue((ROOT / test).is_file(), test)

    def test_nearly_all_are_run(self):
        excused = [c.text for c in self.commands if c.excuse]
        self.assertGreater(len(self.scripts), 330)
        self.assertLess(len(excused), len(self.scripts) / 20, excused)

    def test_nothing_listens_to_other_machines(self):
        serving = [script for script in self.scripts
                   if re.match(tables.SERVES, script)]
        self.assertTrue(all("--listen 1" in script or "--listen tls" in script
                            for script in serving), serving)
        addresses = re.findall(r"listen[ =](\S+)", " ".join(serving))
        self.assertEqual([], [address for address in addresses if not re.match(
            r"(tls:)?127\.0\.0\.1:0$", address)])


def class_of(number, group):
    """Named after its place; its tests after their commands."""
    def test_of(command):
        def test(self):
            self.run_one(command)
        test.__doc__ = command.text
        return test
    tests = {f"test_{place:03} {command.text}": test_of(command)
             for place, command in enumerate(group.commands)}
    return type(f"{number:03} {group.title}", (OneGroup,),
                {"group": group, **tests})


def load_tests(loader, _, __):
    suite = loader.loadTestsFromTestCase(Tables)
    for number, group in enumerate(groups()):
        suite.addTests(loader.loadTestsFromTestCase(class_of(number, group)))
    return suite


if __name__ == "__main__":
    sys.exit(run_and_count())
