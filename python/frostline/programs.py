# SPDX-License-Identifier: Apache-2.0
"""Where Frostline's programs are on this machine.

They lie in the package frostline-server, inside it and not among a Python's scripts,
so that they are found under `pip install --target` and in overlays too; in the tree of
a build; or on PATH."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import sys
from typing import Iterator

from . import errors

_NAMES = {"cli": "frostline", "frostline": "frostline"}


def bin_path(program: str) -> pathlib.Path:
    """bin_path("coordinator"): the file of a program, else ProgramMissing."""
    name = _NAMES.get(program) or (
        program if program.startswith("frostline-") else f"frostline-{program}")
    for folder in _folders():
        if os.access(folder / name, os.X_OK):
            return (folder / name).absolute()
    found = shutil.which(name)
    if found and not _is_script(found):
        return pathlib.Path(found).absolute()
    if name == "frostline-trainer":
        fix = ("it needs LibTorch and is built from source (./dev build); a trainer of "
               "your own needs none: frostline-worker --exec")
    else:
        fix = ("pip install 'frostline[server]', or name the folder of a build with "
               "FROSTLINE_BIN_DIR")
    raise errors.ProgramMissing(f"{name} is not on this machine", fix)


def _folders() -> Iterator[pathlib.Path]:
    named = os.environ.get("FROSTLINE_BIN_DIR")
    if named:
        yield pathlib.Path(named)
    found = importlib.util.find_spec("frostline_server")
    if found and found.origin:
        yield pathlib.Path(found.origin).parent / "bin"


def _is_script(path: str) -> bool:
    """A console script that would come back here."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def run(program: str) -> None:
    """Becomes a program, with the arguments of this process: a console script."""
    try:
        path = str(bin_path(program))
    except errors.ProgramMissing as error:
        print(error, file=sys.stderr)
        raise SystemExit(127) from None
    # The programs look for each other beside themselves and on PATH.
    os.environ["PATH"] = os.path.dirname(path) + os.pathsep + os.environ.get("PATH", "")
    os.execv(path, [path, *sys.argv[1:]])
