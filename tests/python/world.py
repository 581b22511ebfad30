# SPDX-License-Identifier: Apache-2.0
"""Real programs, and a Python that has the package: what the tests of python/ need.

PROGRAMS is the folder of the built programs, the first argument of each test."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
sys.path[:0] = [str(PACKAGE), str(ROOT / "tests" / "style")]
PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
os.environ["FROSTLINE_BIN_DIR"] = str(PROGRAMS)
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])])

import frostline  # noqa: E402

LINE = {"parameters": {"x": {"float": [0, 1]}}}  # a space of one number


@contextlib.contextmanager
def coordinator(*flags, folder=None, listen="127.0.0.1:0"):
    """Yields its address and its process."""
    where = ["--data", str(folder)] if folder else ["--ephemeral"]
    process = subprocess.Popen(
        [PROGRAMS / "frostline-coordinator", *where, "--listen", listen, *flags],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline().split()[-1], process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def study(budget=3, space=LINE, flags=(), **keys):
    """Yields a client and a study of it on a coordinator of its own."""
    if "minimize" not in keys:
        keys.setdefault("maximize", "score")
    with coordinator(*flags) as (address, _), frostline.connect(address) as client:
        yield client, client.create_study("toy", budget=budget, space=space, **keys)


def script(folder, text, name="train.py"):
    path = pathlib.Path(folder, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def run_python(text, **options):
    """A Python of its own, with the package."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)],
                          capture_output=True, text=True, timeout=60, **options)


def work(client, command, folder, *flags, study="toy", by="--exec", **options):
    """An agent that runs `command` until the study has ended."""
    return subprocess.run(
        [PROGRAMS / "frostline-worker", "--connect", client.address, by, command,
         "--study", study, "--exit-when-done", "--run-dir", str(folder), *flags],
        capture_output=True, text=True, timeout=300, **options)


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="frostline-") as folder:
        yield pathlib.Path(folder)


def free_port():
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def within(seconds, holds):
    """Waits until `holds()` is true, and says whether it became so."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return bool(holds())


def attempts(client, number=0, study="toy"):
    told = client.call("StudyService", "GetTrial", view="TRIAL_VIEW_FULL",
                       name=f"studies/{study}/trials/{number}")
    return told.get("attempts", [])


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
