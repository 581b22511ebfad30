#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package_test.py PROGRAMS: the wheels as pip installs them, without a network."""
import ast
import pathlib
import shutil
import subprocess
import sys
import unittest
import venv

from world import PACKAGE, PROGRAMS, ROOT, scratch

import build_server_wheel  # noqa: E402
import wheel  # noqa: E402
from totals import run_and_count


def pip(folder, *arguments):
    return subprocess.run(
        [folder / "bin/python", "-m", "pip", "--isolated", "install", "--quiet",
         "--disable-pip-version-check", "--no-index", "--no-deps", *arguments],
        capture_output=True, text=True, timeout=120)


class Wheels(unittest.TestCase):
    def test_equal_sources_make_equal_bytes(self):
        with scratch() as folder:
            (folder / "a").mkdir(), (folder / "b").mkdir()
            made = [folder / name / wheel.build_wheel(folder / name) for name in "ab"]
            self.assertEqual(made[0].read_bytes(), made[1].read_bytes())
            print(f"{made[0].name}: {made[0].stat().st_size:,} bytes", file=sys.stderr)

    def test_pip_builds_and_installs_from_the_folder(self):
        with scratch() as folder:
            venv.create(folder / "env", with_pip=True)
            done = pip(folder / "env", "--no-build-isolation", PACKAGE)
            self.assertEqual("", done.stderr)
            said = subprocess.run(
                [folder / "env/bin/python", "-I", "-c",
                 "import frostline, pathlib; p = pathlib.Path(frostline.__file__).parent; "
                 "print(p.parent.name, (p / 'py.typed').exists(), "
                 "(p / 'frostline.v1.binpb').stat().st_size > 60000, frostline.__version__)"],
                capture_output=True, text=True)
            self.assertEqual(f"site-packages True True {wheel.version()}\n", said.stdout)
            help_ = subprocess.run([folder / "env/bin/frostline-command", "--help"],
                                   capture_output=True, text=True)
            self.assertIn("--metrics", help_.stdout)

    def test_the_server_s_wheel_brings_the_programs(self):
        with scratch() as folder:
            venv.create(folder / "env", with_pip=True)
            made = build_server_wheel.build(PROGRAMS, folder)
            print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
            ours = folder / wheel.build_wheel(folder)
            self.assertEqual("", pip(folder / "env", made, ours).stderr)
            pip(folder / "env", "--target", folder / "there", made, ours)
            clean = {"PATH": "/usr/bin:/bin"}
            said = subprocess.run([folder / "env/bin/frostline", "--version"],
                                  capture_output=True, text=True, env=clean)
            self.assertIn(wheel.version(), said.stdout)
            found = subprocess.run(
                [folder / "env/bin/python", "-c",
                 "import frostline; print(frostline.bin_path('coordinator'))"],
                capture_output=True, text=True,
                env={**clean, "PYTHONPATH": str(folder / "there")})
            self.assertEqual(folder / "there/frostline_server/bin/frostline-coordinator",
                             pathlib.Path(found.stdout.strip()))

    def test_sources_are_python_3_10(self):
        for path in sorted((PACKAGE / "frostline").glob("*.py")):
            with self.subTest(path.name):
                ast.parse(path.read_text(), feature_version=(3, 10))

    def test_every_python_that_is_here_imports_every_module(self):
        alone = ["_ranks", "_keeper", "_live", "_aio", "_metrics", "_template", "command",
                 "errors", "hub", "layers", "programs", "study"]
        code = "import importlib\n" + "".join(
            f"importlib.import_module('frostline.{name}')\n" for name in alone)
        found = []
        for minor in range(10, 15):
            python = shutil.which(f"python3.{minor}")
            asked = python and subprocess.run([python, "--version"], capture_output=True)
            if not asked or asked.returncode:
                continue
            found.append(minor)
            done = subprocess.run([python, "-W", "error", "-c", code], capture_output=True,
                                  text=True, env={"PYTHONPATH": str(PACKAGE)})
            self.assertEqual("", done.stderr, python)
        print("imported by Python 3." + ", 3.".join(map(str, found)), file=sys.stderr)
        self.assertTrue(found)

    def test_versions_are_one(self):
        cmake = (ROOT / "CMakeLists.txt").read_text()
        self.assertIn(f"VERSION {wheel.version()} ", cmake)


if __name__ == "__main__":
    sys.exit(run_and_count())
