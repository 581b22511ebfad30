#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_server_wheel.py PROGRAMS OUT: the wheel frostline-server of built programs.

Coordinator, command line and agent lie inside the package `frostline_server`, and
console scripts become them: what lies among a Python's scripts is not found under
`pip install --target` and in overlays. The trainer stays out, for its LibTorch. The tag
is this machine's own (`linux_x86_64`), since the programs are linked to its libraries;
what they need is listed in the wheel's dist-info/sboms."""
import json
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

import wheel

PROGRAMS = ("frostline", "frostline-coordinator", "frostline-worker")
_LAUNCH = '''# SPDX-License-Identifier: Apache-2.0
"""Frostline's programs, and the console scripts that become them."""
import os
import sys

BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def _run(name):
    os.environ["PATH"] = BIN + os.pathsep + os.environ.get("PATH", "")
    path = os.path.join(BIN, name)
    os.execv(path, [path, *sys.argv[1:]])


def cli():
    _run("frostline")


def coordinator():
    _run("frostline-coordinator")


def worker():
    _run("frostline-worker")
'''
SCRIPTS = {"frostline": "frostline_server:cli",
           "frostline-coordinator": "frostline_server:coordinator",
           "frostline-worker": "frostline_server:worker"}


def stripped(program):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["strip", "-o", out.name, program], check=True)
        return pathlib.Path(out.name).read_bytes()


def materials(programs):
    """A CycloneDX list of the shared libraries that the programs load."""
    needed = set()
    for program in programs:
        said = subprocess.run(["readelf", "-dW", program], check=True,
                              capture_output=True, text=True).stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(.+)\]", said))
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "frostline-server",
                                   "version": wheel.version()}},
        "components": [{"type": "library", "name": name, "scope": "required"}
                       for name in sorted(needed)]}, indent=1).encode()


def build(folder, out):
    """Returns the wheel's path."""
    programs = [pathlib.Path(folder, name) for name in PROGRAMS]
    lost = [program.name for program in programs if not program.is_file()]
    if lost:
        raise SystemExit(f"build_server_wheel: {folder} has no {', '.join(lost)}: "
                         "build first (./dev build)")
    files = {"frostline_server/__init__.py": _LAUNCH.encode()}
    files.update({f"frostline_server/bin/{p.name}": stripped(p) for p in programs})
    executable = set(files) - {"frostline_server/__init__.py"}
    info = f"frostline_server-{wheel.version()}.dist-info"
    files[f"{info}/sboms/frostline-server.cdx.json"] = materials(programs)
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    about = wheel.metadata("frostline-server",
                           "Coordinator, command line and agent of Frostline.")
    return pathlib.Path(out, wheel.write_wheel(
        out, "frostline-server", f"py3-none-{platform}", files, about, SCRIPTS, executable))


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    print(build(*sys.argv[1:3]))
