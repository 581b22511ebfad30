# SPDX-License-Identifier: Apache-2.0
"""Where ./dev setup has put the wheels that tests import, and a Python for them."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cached(name, pins):
    """The folder that scripts/setup.sh has filled from these pins."""
    cache = os.environ.get("FROSTLINE_CACHE") or pathlib.Path(
        os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
        "frostline")
    key = hashlib.sha256(pins.read_bytes()).hexdigest()[:12]
    return pathlib.Path(cache, f"{name}-{key}")


def wheels(name="clients"):
    return cached(name, ROOT / f"scripts/requirements-{name}.txt")


def python():
    """A Python for which the wheels are, or None."""
    for name in (sys.executable, "python3.11", "/usr/bin/python3"):
        found = shutil.which(name)
        if found and subprocess.run(
                [found, "-c", "import sys; sys.exit(sys.version_info[:2] != "
                 "(3, 11))"]).returncode == 0:
            return found
    return None
