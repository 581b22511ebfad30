#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clients_test.py PROGRAMS Python|Go|C++

Runs the commands of docs/how-to/grpc-client.md for one language, in a copy of
the folder that they speak of, against a real coordinator. Where `./dev setup`
has not fetched what they need, all is skipped, but never in CI."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from page import FOLDER, ROOT, blocks, commands, section
from world import (broken_once, coordinator, go_environment, missing,
                   python_environment)

sys.path.insert(0, str(ROOT / "tests" / "style"))

from totals import run_and_count  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
LANGUAGE = sys.argv.pop(1)
HERE = pathlib.Path(__file__).resolve().parent
PLACE = "127.0.0.1:7070"  # as the page has it


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name, "my-client")
        shutil.copytree(FOLDER, cls.folder)
        (cls.folder / "proto").symlink_to(ROOT / "proto")
        cls.environment = dict(os.environ)
        if LANGUAGE == "Python":
            cls.environment.update(python_environment(cls.folder))
        if LANGUAGE == "Go":
            cls.environment.update(go_environment())
        *build, cls.client = commands(LANGUAGE)
        if LANGUAGE == "C++":  # CMake has built it, of the same stubs
            (cls.folder / "bin").mkdir()
            shutil.copy(PROGRAMS.parent / "tests" / "client-cc",
                        cls.folder / "bin")
        else:
            cls.shell("set -e\n" + "\n".join(build)).check_returncode()

    @classmethod
    def shell(cls, script, config=None):
        """Runs it where the page does; `config` instead of the page's own."""
        if config is not None:
            (cls.folder / "service_config.json").write_text(config)
        run = subprocess.run(
            ["bash", "-c", script], cwd=cls.folder, env=cls.environment,
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != 0:
            print(run.stdout, flush=True)
        if config is not None:
            shutil.copy(FOLDER / "service_config.json", cls.folder)
        return run

    def run_client(self, address, config=None):
        return self.shell(self.client.replace(PLACE, address), config)

    def test_it_creates_watches_imports_and_reads_the_report(self):
        with coordinator(PROGRAMS) as address:
            run = self.run_client(address)
            self.assertEqual(run.returncode, 0, run.stdout)
            shown, = blocks(section("Python"), "text")
            *shares, verdict = shown.splitlines()
            self.assertEqual(run.stdout.splitlines()[-1], verdict)
            for share, line in zip(shares, run.stdout.splitlines(),
                                   strict=False):
                name, value = share.split()[:2]
                self.assertEqual(line.split()[0], name)
                self.assertAlmostEqual(float(line.split()[1]), float(value),
                                       delta=0.011)
            # With the same request ids nothing happens twice: were the trials
            # there twice, the report would be surer.
            self.assertEqual(self.run_client(address).stdout, run.stdout)

    def test_a_connection_that_breaks_is_tried_again(self):
        with coordinator(PROGRAMS) as real:
            with broken_once(real) as (address, made):
                run = self.run_client(address)
                self.assertEqual(run.returncode, 0, run.stdout)
                self.assertGreaterEqual(len(made), 2)

    def test_without_the_service_config_it_is_not(self):
        with coordinator(PROGRAMS) as real:
            with broken_once(real) as (address, made):
                run = self.run_client(address, config="{}")
                self.assertNotEqual(run.returncode, 0, run.stdout)
                self.assertGreaterEqual(len(made), 1)


# What only Python shows.
if LANGUAGE == "Python":
    class PythonClient(Client):
        def test_an_error_has_its_id_and_what_mends_it(self):
            with coordinator(PROGRAMS) as address:
                run = self.shell(commands("Errors")[0].replace(PLACE, address))
                self.assertEqual(run.stdout,
                                 blocks(section("Errors"), "text")[0])

        def test_who_knows_nothing_finds_every_method_and_calls_one(self):
            with coordinator(PROGRAMS) as address:
                run = self.shell(f"python3 -B {HERE}/reflection.py {address}")
                self.assertEqual(run.returncode, 0, run.stdout)

        def test_the_errors_that_the_reference_lists_are_those_that_come(self):
            with coordinator(PROGRAMS) as address:
                self.run_client(address)
                run = self.shell(f"python3 -B {HERE}/errors.py {address}")
                self.assertEqual(run.returncode, 0, run.stdout)

    del Client  # its cases have been inherited


def main():
    lacks, in_ci = missing(LANGUAGE), bool(os.environ.get("CI"))
    if not lacks:
        return run_and_count()
    print(f"{'FAILED' if in_ci else 'SKIPPED'}: {lacks}: run ./dev setup")
    print(f"0 passed, {int(in_ci)} failed, {int(not in_ci)} skipped")
    return int(in_ci)


if __name__ == "__main__":
    sys.exit(main())
