# SPDX-License-Identifier: Apache-2.0
"""A coordinator of this user's own, started when it is needed.

Everybody who uses it holds a shared lock on one file. A keeper process starts the
coordinator and waits for the same lock alone: it gets it when the last user is gone,
however that ended, and then stops the coordinator. So two processes at once share one,
and a killed notebook leaves nothing behind but the studies on disk.

    DIR/users       the lock      DIR/start     held by who starts a keeper
    DIR/address     where it listens, once it does
    DIR/data/       its database  DIR/log       what coordinator and keeper say"""
from __future__ import annotations

import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any, Optional

from . import errors
from .programs import bin_path

_START = 30.0  # seconds, for a coordinator to answer
_LONGEST_SOCKET = 100  # of 107 bytes that a socket's path may have


def local(folder: Any = None, *, keep: bool = False) -> Any:
    """A client of this user's own coordinator in `folder`, which is started if none runs
    there. It stops with its last user; with keep=True it goes on until it is killed.

        study = frostline.local().create_study("toy", …)
    """
    from ._wire import Channel
    from .study import Client

    use = _Use(folder)
    try:
        address = use.address() or use.start(keep)
        return Client(Channel(address), use)
    except BaseException:
        use.close()
        raise


def client(connect: str = "") -> Any:
    """Of the coordinator that is named, here or by FROSTLINE_CONNECT; else local()."""
    from . import study
    if connect or os.environ.get("FROSTLINE_CONNECT"):
        return study.connect(connect)
    return local()


def home() -> pathlib.Path:
    """Where local() keeps its studies unless told."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return pathlib.Path(data, "frostline", "local")


class _Use:
    """One user's hold on the coordinator of a folder."""

    def __init__(self, folder: Any) -> None:
        self.folder = pathlib.Path(folder).absolute() if folder else home()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock: Optional[int] = os.open(
                self.folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise errors.FailedPrecondition(
                f"{self.folder} cannot be used: {error}",
                "name another folder: frostline.local(FOLDER)", id="PY-1018") from None
        # While a coordinator stops, its keeper has the lock alone.
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def address(self) -> str:
        """Where the running coordinator listens; empty: none runs."""
        try:
            address = (self.folder / "address").read_text(encoding="utf-8").strip()
        except OSError:
            return ""
        return address if _answers(address) else ""

    def start(self, keep: bool) -> str:
        with open(self.folder / "start", "w", encoding="utf-8") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            found = self.address()  # somebody else was faster
            if found:
                return found
            (self.folder / "address").unlink(missing_ok=True)
            log = open(self.folder / "log", "w", encoding="utf-8")
            keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", pathlib.Path(__file__).with_name("_keeper.py"),
                 str(self.folder), str(bin_path("coordinator")), self._socket(),
                 "keep" if keep else ""],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            log.close()
            end = time.monotonic() + _START
            while time.monotonic() < end and keeper.poll() is None:
                found = self.address()
                if found:
                    keeper.returncode = 0  # it outlives us, and is nobody's zombie
                    return found
                time.sleep(0.02)
            said = (self.folder / "log").read_text(encoding="utf-8").strip().splitlines()
            raise errors.Unavailable(
                f"the coordinator in {self.folder} did not start: "
                f"{said[-1] if said else 'it said nothing'}",
                f"see {self.folder / 'log'}", id="PY-1019")

    def _socket(self) -> str:
        """A path that is short enough for a socket, closed to other users."""
        path = self.folder / "socket"
        if len(os.fsencode(path)) > _LONGEST_SOCKET:
            path = pathlib.Path(tempfile.mkdtemp(prefix="frostline-"), "socket")
        return str(path)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _answers(address: str) -> bool:
    import socket
    with socket.socket(socket.AF_UNIX) as caller:
        try:
            caller.connect(address[len("unix:"):])
        except OSError:
            return False
    return True
