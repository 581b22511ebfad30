#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prove_wheels.py BUILD OUT: makes both wheels of a build and proves that they install
and work without a network, each time with a study of two trials that a command trains:

  auditwheel    grants the tag of the server's wheel
  venv          pip, in a fresh environment
  target        pip install --target
  uv            the same by uv
  debian 12     a fresh root without compilers (as root, with mmdebstrap)
  debian 11     whose glibc is too old: pip refuses

What the wheels depend on, auditwheel and uv are fetched once, into OUT. A proof whose
tools cannot be had is left out, and said."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

import build_server_wheel  # noqa: E402
import wheel  # noqa: E402

MOST_BYTES = 20_000_000
NEWEST_GLIBC = (2, 34)
SMOKE = '''
import shutil, subprocess, sys, tempfile
import frostline
folder = tempfile.mkdtemp()
with frostline.local(folder) as client:
    study = client.create_study("toy", maximize="score", budget=2, seed=1,
                                space={"parameters": {"x": {"float": [0, 1]}}})
    subprocess.run([frostline.bin_path("worker"), "--connect", client.address,
                    "--command", "echo {x}", "--metrics", "regex:(?P<score>.+)",
                    "--study", "toy", "--exit-when-done", "--run-dir", folder + "/runs"],
                   check=True, capture_output=True, timeout=60)
    best = study.refresh().best_trial
    assert best.values == [best.parameters["x"]], best
    print(study.state, study.counts["succeeded"])
shutil.rmtree(folder, ignore_errors=True)  # the coordinator may be leaving it yet
'''


class LeftOut(Exception):
    """A proof whose tools are not here."""


def run(*words, **options):
    options.setdefault("env", {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=900, **options)
    if done.returncode:
        raise AssertionError(f"{words[0]} ended with {done.returncode}: "
                             f"{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def smoke(python, **environment):
    begun = time.monotonic()
    said = run(python, "-c", SMOKE, env={"PATH": "/usr/bin:/bin", **environment})
    assert said == "COMPLETED 2\n", said
    return f"{time.monotonic() - begun:.1f} s from the import to the study's end"


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="frostline-prove-") as folder:
        yield pathlib.Path(folder)


class Proofs:
    def __init__(self, build, out):
        self.out, self.others = out, out / "others"
        self.others.mkdir(parents=True, exist_ok=True)
        for old in out.glob("frostline*.whl"):
            old.unlink()
        self.server = build_server_wheel.build(build, out)
        self.package = pathlib.Path(out, wheel.build_wheel(out))
        self.offline = ("--no-index", "--find-links", out, "--find-links", self.others)

    def fetch(self, *names):
        try:
            run(sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:",
                "--disable-pip-version-check", "--dest", self.others, *names)
        except AssertionError as error:
            raise LeftOut(f"could not fetch {', '.join(names)}: {error}") from None

    def environment(self, folder, *packages):
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/python", "-m", "pip", "--isolated", "install", "--quiet",
            "--disable-pip-version-check", *self.offline, *packages)
        return folder / "bin"

    def sizes(self):
        size = self.server.stat().st_size
        assert size <= MOST_BYTES, f"{self.server.name} has {size:,} bytes"
        return f"{self.server.name} {size / 1e6:.1f} MB, {self.package.name} " \
               f"{self.package.stat().st_size / 1e3:.0f} kB"

    def auditwheel(self):
        self.fetch("auditwheel")
        with scratch() as folder:
            programs = self.environment(folder / "env", "auditwheel")
            said = " ".join(run(programs / "auditwheel", "show", self.server).split())
        granted = re.search(r'following platform tag: "manylinux_(\d+)_(\d+)', said)
        assert granted, said
        glibc = tuple(map(int, granted.groups()))
        assert glibc <= NEWEST_GLIBC, said
        ours = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)", self.server.name).groups()))
        assert ours >= glibc, f"{self.server.name} promises more than {said}"
        return "manylinux_{}_{}".format(*glibc)

    def venv(self):
        self.fetch("protobuf<8", "grpcio>=1.76")
        with scratch() as folder:
            begun = time.monotonic()
            programs = self.environment(folder / "env", "frostline[server]")
            took = time.monotonic() - begun
            assert (folder / "env/share/man/man1/frostline.1.gz").is_file()
            return f"installed in {took:.1f} s; {smoke(programs / 'python')}"

    def target(self):
        with scratch() as folder:
            run(sys.executable, "-m", "pip", "--isolated", "install", "--quiet",
                "--disable-pip-version-check", "--target", folder / "there",
                *self.offline, "frostline[server]")
            said = run(folder / "there/bin/frostline", "--version",
                       env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder / "there")})
            assert wheel.version() in said, said
            return smoke(sys.executable, PYTHONPATH=str(folder / "there"))

    def uv(self):
        self.fetch("uv")
        with scratch() as folder:
            uv = self.environment(folder / "tool", "uv") / "uv"
            run(uv, "venv", "--quiet", "--offline", "--python", sys.executable,
                folder / "env")
            run(uv, "pip", "install", "--quiet", "--offline", "--python", folder / "env",
                *self.offline, "frostline[server]")
            return smoke(folder / "env/bin/python")

    @contextlib.contextmanager
    def root(self, suite):
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            raise LeftOut("it needs root and mmdebstrap")
        with scratch() as folder:
            try:
                run("mmdebstrap", "--variant=minbase", "--include=python3-venv", suite,
                    folder / "root")
            except AssertionError as error:
                raise LeftOut(str(error)) from None
            shutil.copytree(self.out, folder / "root/wheels")
            self.within(folder / "root", "python3", "-m", "venv", "/env")
            yield folder / "root"

    def within(self, root, *words):
        """With /proc, by which a program knows where its libraries are."""
        return run("unshare", "--mount", "sh", "-c", 'root=$1; shift; mount -t proc proc '
                   '"$root/proc" && exec chroot "$root" "$@"', "sh", root, *words)

    def install_in(self, root):
        self.within(root, "/env/bin/python", "-m", "pip", "--isolated", "install", "--quiet",
                    "--disable-pip-version-check", "--no-index", "--find-links", "/wheels",
                    "--find-links", "/wheels/others", "frostline[server]")

    def debian_12(self):
        with self.root("bookworm") as root:
            assert not list(root.glob("usr/bin/*g++*")), "a compiler is there"
            self.install_in(root)
            said = self.within(root, "/env/bin/python", "-c", SMOKE)
            assert said == "COMPLETED 2\n", said
            return "a root without compilers"

    def debian_11(self):
        with self.root("bullseye") as root:
            try:
                self.install_in(root)
            except AssertionError as error:
                assert "frostline" in str(error), error
                return "refused, as it should be"
            raise AssertionError("pip installed it there")


def main(build, out):
    proofs = Proofs(pathlib.Path(build), pathlib.Path(out))
    failed = 0
    for name in ("sizes", "auditwheel", "venv", "target", "uv", "debian_12", "debian_11"):
        try:
            print(f"ok        {name:11} {getattr(proofs, name)()}", flush=True)
        except LeftOut as why:
            print(f"left out  {name:11} {why}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"FAILED    {name:11} {error}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
