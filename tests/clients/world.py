# SPDX-License-Identifier: Apache-2.0
"""A real coordinator, a network that breaks once, and the tools that
`./dev setup` has fetched."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading

from page import FOLDER, ROOT

sys.path.append(str(ROOT / "tests/support"))

from fetched import cached, python, wheels  # noqa: E402


@contextlib.contextmanager
def coordinator(programs):
    """Yields its address; it keeps nothing on disk."""
    process = subprocess.Popen(
        [programs / "frostline-coordinator", "--ephemeral", "--listen",
         "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True)
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _pass_on(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _end(source)
    _end(target)


def _end(connection):
    """Wakes whoever reads or accepts there."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def broken_once(address):
    """Yields an address that leads to `address`, and a list of the connections
    made. The first one is cut at once."""
    host, port = address.rsplit(":", 1)
    made, threads = [], []

    def relay(near):
        with near, socket.create_connection((host, int(port))) as far:
            back = threading.Thread(target=_pass_on, args=(far, near))
            back.start()
            _pass_on(near, far)
            back.join()

    def serve():
        with contextlib.suppress(OSError):  # the listener has ended
            while True:
                near, _ = listener.accept()
                made.append(near)
                if len(made) == 1:
                    near.close()
                else:
                    threads.append(threading.Thread(target=relay, args=(near,)))
                    threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads.append(threading.Thread(target=serve))
        threads[0].start()
        try:
            yield "127.0.0.1:%d" % listener.getsockname()[1], made
        finally:
            _end(listener)
            for thread in threads:
                thread.join()


def python_environment(folder):
    """With the wheels instead of what pip would have installed, and with that
    Python as python3. The generated stubs lie beside the client."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "python3").symlink_to(python())
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": f"{wheels()}:{folder / 'python'}"}


def go_environment():
    """Nothing but what go.sum pins, from the cache alone."""
    modules = cached("go-modules", FOLDER / "go/go.sum")
    return {"GOMODCACHE": str(modules), "GOPROXY": "off",
            "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}


def missing(language):
    """What this machine lacks for a client in `language`, or None."""
    if language == "Python" and not wheels().is_dir():
        return f"there is no {wheels()}"
    if language == "Python" and python() is None:
        return "there is no Python 3.11"
    if language == "Go" and not shutil.which("go"):
        return "there is no go"
    modules = go_environment()["GOMODCACHE"]
    if language == "Go" and not pathlib.Path(modules).is_dir():
        return f"there is no {modules}"
    return None
