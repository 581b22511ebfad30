#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package_test.py PROGRAMS: the wheels as pip installs them, without a network."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv

from world import PACKAGE, PROGRAMS, ROOT, scratch, study

import build_server_wheel  # noqa: E402
import wheel  # noqa: E402
from totals import run_and_count


def pip(folder, *arguments):
    return subprocess.run(
        [folder / "bin/python", "-m", "pip", "--isolated", "install", "--quiet",
         "--disable-pip-version-check", "--no-index", "--no-deps", *arguments],
        capture_output=True, text=True, timeout=120)


def glibc_of(tag):
    return tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", tag).groups()))


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

    def test_the_oldest_and_the_newest_protobuf_carry_a_study(self):
        for folder in os.environ["FROSTLINE_TEST_PROTOBUFS"].split(os.pathsep):
            paths = os.pathsep.join([folder, os.environ["PYTHONPATH"]])
            version = subprocess.run(
                [sys.executable, "-c", "import google.protobuf as p; print(p.__version__)"],
                capture_output=True, text=True, check=True,
                env={**os.environ, "PYTHONPATH": paths}).stdout
            with self.subTest(version.strip()):
                self.assertEqual(pathlib.Path(folder).name[8], version[0])
                done = subprocess.run(
                    [sys.executable, "-B", ROOT / "tests/python/loop_test.py", PROGRAMS, "AskAndTell"],
                    capture_output=True, text=True, timeout=120,
                    env={**os.environ, "PYTHONPATH": paths})
                self.assertEqual(0, done.returncode, done.stderr)

    def test_versions_are_one(self):
        cmake = (ROOT / "CMakeLists.txt").read_text()
        self.assertIn(f"VERSION {wheel.version()} ", cmake)


class Server(unittest.TestCase):
    """The server's wheel, in an environment that has it and Python."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(scratch())
        cls.env = cls.folder / "env"
        venv.create(cls.env, with_pip=True)
        cls.wheel = build_server_wheel.build(PROGRAMS.parent, cls.folder)
        done = pip(cls.env, cls.wheel)
        assert not done.stderr, done.stderr

    def run_it(self, *words, **options):
        return subprocess.run([self.env / "bin/frostline", *words], capture_output=True,
                              text=True, timeout=60, **options)

    def test_it_brings_the_programs(self):
        print(f"{self.wheel.name}: {self.wheel.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
        self.assertLess(self.wheel.stat().st_size, 20e6)
        said = self.run_it("--version", env={"PATH": "/usr/bin:/bin"})
        self.assertIn(wheel.version(), said.stdout)
        there = self.folder / "there"
        ours = self.folder / wheel.build_wheel(self.folder)
        self.assertEqual("", pip(self.env, "--target", there, self.wheel, ours).stderr)
        found = subprocess.run(
            [self.env / "bin/python", "-c",
             "import frostline; print(frostline.bin_path('coordinator'))"],
            capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(there)})
        self.assertEqual(there / "frostline_server/bin/frostline-coordinator",
                         pathlib.Path(found.stdout.strip()))

    def test_its_programs_load_the_libraries_beside_them(self):
        inside = next(self.env.rglob("frostline_server"))
        for program in build_server_wheel.PROGRAMS:
            loaded = build_server_wheel.libraries([inside / "bin" / program])
            for name, path in loaded.items():
                if path:
                    self.assertEqual(inside / "lib" / name, pathlib.Path(path).resolve())

    def test_it_brings_pages_and_says_what_it_loads(self):
        for page in ("man/man1/frostline.1.gz", "bash-completion/completions/frostline",
                     "zsh/site-functions/_frostline-worker",
                     "fish/vendor_completions.d/frostline.fish"):
            self.assertTrue((self.env / "share" / page).stat().st_size > 100, page)
        sboms = next((self.env / "lib").rglob("*.dist-info/sboms"))
        told = json.loads((sboms / "frostline-server.cdx.json").read_text())
        scopes = {one["name"]: one["scope"] for one in told["components"]}
        self.assertEqual("excluded", scopes["libc.so.6"])
        inside = next(self.env.rglob("frostline_server"))
        self.assertEqual({path.name for path in (inside / "lib").iterdir()},
                         {name for name, scope in scopes.items() if scope == "required"})

    def test_a_command_is_run_by_the_wheel_alone(self):
        """No package `frostline`, no python3 on the path."""
        with study(budget=1) as (client, toy):
            done = self.run_it(
                "worker", "--connect", client.address, "--command", "/bin/echo {x}",
                "--metrics", "regex:(?P<score>.+)", "--study", "toy", "--exit-when-done",
                "--run-dir", self.folder / "runs", env={"PATH": "/nowhere"})
            trial = next(toy.results())
            self.assertEqual([trial.parameters["x"]], trial.values, done.stderr)

    def test_no_trainer_is_said_with_what_to_do(self):
        registry = self.folder / "registry"
        registry.mkdir()
        entry = "m:\n  path: m\n  sha256: " + "a" * 64 + "\n"
        (registry / "models.yaml").write_text(entry)
        (registry / "datasets.yaml").write_text(
            "d:\n  splits:\n    train:\n      path: d\n      sha256: " + "a" * 64 + "\n")
        done = self.run_it("worker", "--registry", registry)
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertRegex(done.stderr, "needs frostline-trainer, which is not in (.|\n)*"
                                      "--command 'python train.py'")

    def test_the_tag_is_what_the_programs_ask_for(self):
        system = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
        if "VERSION_CODENAME=bookworm" not in system:
            self.skipTest("other libraries ask for other versions: this is no Debian 12")
        programs = [PROGRAMS / name for name in build_server_wheel.PROGRAMS]
        loaded = build_server_wheel.libraries(programs)
        paths = [path for path in loaded.values() if path]
        with tempfile.TemporaryDirectory() as copies:
            beside = [build_server_wheel.rebound(path, copies) for path in paths]
            programs = [build_server_wheel.rebound(path, copies) for path in programs]
            self.assertEqual((2, 34),
                             glibc_of(build_server_wheel.tag([*programs, *beside])))
            # cpp-httplib, as Debian has it, waits as libstdc++ does since g++ 12.
            changed = [pathlib.Path(path).name for path in beside if path not in paths]
            self.assertEqual(["libcpp-httplib.so.0.11"], changed)
            # Every symbol of the changed copy is still found where it is asked for.
            done = subprocess.run(
                ["ldd", "-r", beside[paths.index(next(
                    path for path in paths if "cpp-httplib" in path))]],
                capture_output=True, text=True, check=True)
            self.assertNotRegex(done.stdout + done.stderr, "not found|undefined")


if __name__ == "__main__":
    sys.exit(run_and_count())
