# SPDX-License-Identifier: Apache-2.0
"""_keeper.py FOLDER COORDINATOR SOCKET [keep]: runs a coordinator until nobody uses it.

It is started by frostline.local() in a session of its own, with the standard library
alone. Whoever uses the coordinator holds a shared lock on FOLDER/users, which the
kernel takes away with the process; the lock alone means that nobody is left."""
import ctypes
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import threading

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def main(folder: str, program: str, socket: str, keep: str) -> int:
    place = pathlib.Path(folder)
    libc = ctypes.CDLL(None, use_errno=True)

    def end_with_the_keeper() -> None:
        libc.prctl(_DIE_WITH_PARENT, signal.SIGTERM, 0, 0, 0)

    coordinator = subprocess.Popen(
        [program, "--data", str(place / "data"), "--listen", f"unix:{socket}",
         "--ready-file", str(place / "address")],
        stdin=subprocess.DEVNULL, preexec_fn=end_with_the_keeper)

    def wait_for_the_last_user() -> None:
        users = os.open(place / "users", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(users, fcntl.LOCK_EX)
        # Held until this process has ended: who comes now waits, then starts anew.
        coordinator.terminate()

    signal.signal(signal.SIGTERM, lambda *_: coordinator.terminate())
    if not keep:
        threading.Thread(target=wait_for_the_last_user, daemon=True).start()
    code = coordinator.wait()
    (place / "address").unlink(missing_ok=True)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
