# SPDX-License-Identifier: Apache-2.0
"""A world in which the commands of the docs make sense: a folder with the files
that they name, a coordinator on the loopback address that has the studies, and
a worker. Its trainer is stand_in_trainer.py; Slurm's programs and the Hub's are played."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import doc_files
from doc_commands import ROOT

HERE = pathlib.Path(__file__).resolve().parent
COPIED = ("frostline", "frostline-coordinator", "frostline-worker")
STOOD_IN_FOR = ("frostline-trainer", "frostline-demo-trainer")
# Seconds.
SPEAKS_WITHIN = ENDS_WITHIN = 30
SPEAKS_FOR = 0.15
STUDIES = """
frostline study create told.yaml --id imdb --trials 30
frostline trial enqueue imdb paired.jsonl
frostline study create told.yaml --id sst2 --trials 30
frostline study create recipes/demo/study.yaml
for way in joined pcgrad; do
  frostline study create told.yaml --id multitask-small-ways-$way --trials 3
  head -n 3 paired.jsonl >three.jsonl
  frostline trial enqueue multitask-small-ways-$way three.jsonl
done
"""
# So that imdb goes on: much of what is shown is done to a study at work.
TRAINED = """
frostline study wait imdb
frostline study wait sst2
frostline study wait demo
frostline study clone demo example --with-trials
frostline study clone demo demo-next --with-trials
frostline recipe run elsa --scale tiny
frostline study update imdb --budget 200
"""
# One task waits from `sbatch` to `scancel`.
SLURM = {
    "sbatch": "touch ~/waits; echo 123",
    "squeue": "[ ! -e ~/waits ] || echo '123|0|PENDING||Priority|/tmp'",
    "scontrol": "echo ClusterName = lab",
    "scancel": "rm -f ~/waits",
}
# There is no Hub: what is here stands for what it has, and is really added. The program
# itself, with a Hub on this machine: tests/python/hub_test.py.
HUB = """
case $1 in
  --model) exec frostline registry add model ./minilm ;;
  --data) exec frostline registry add dataset reviews.csv ;;
esac
exit 2
"""
# Programs of the Python package, which are led to the coordinator and given what the
# command line was; themselves: tests/python/history_test.py and mcp_test.py.
PACKAGE = {
    "frostline-optuna": "[ -n \"$FROSTLINE_CONNECT\" ] && [ $# -gt 0 ]",
    "frostline-mcp": "[ -n \"$FROSTLINE_CONNECT\" ]",
}


def shell(script):
    return f"#!/bin/sh\n{script}\n"


def write_programs(folder, programs):
    """Copies, since a program looks for the others in its own folder."""
    folder.mkdir()
    for name in COPIED:
        shutil.copy(programs / name, folder)
    for name in STOOD_IN_FOR:
        (folder / name).write_text(shell(
            f'exec python3 -B {HERE}/stand_in_trainer.py "$@"'))
    for name, script in {**SLURM, **PACKAGE, "frostline-hub": HUB}.items():
        (folder / name).write_text(shell(script))
    for path in folder.iterdir():
        path.chmod(0o755)


def write_told_study(lab):
    """imdb.yaml of README, whose trials tell and leave all that can be asked
    for. Trials of one seed are set against each other: their points are
    enqueued."""
    text = (lab / "imdb.yaml").read_text()
    text = text.replace("train_rows: 2400",
                        "train_rows: 2400, test_split: test")
    (lab / "told.yaml").write_text(text.replace(
        "training: {", "training: {report_example_outcomes: true, "
        "predictions: [validation, test], extra: {export: all}, "))
    seeds = [1, 2, 3, 1, 2, 3] + list(range(10, 16)) + [1, 2, 3]
    (lab / "paired.jsonl").write_text("".join(
        f'{{"values": {{"embeddings": 0}}, "seed": {seed}}}\n'
        for seed in seeds))


class Begun:
    """A program in the background, which does not end by itself."""

    def __init__(self, world, script):
        self.log = world.folder / f"begun-{len(world.processes)}.log"
        with self.log.open("w") as out:
            self.process = subprocess.Popen(
                ["bash", "-c", "exec " + script], cwd=world.lab,
                env=world.environment, stdout=out, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, start_new_session=True)

    def said(self):
        return self.log.read_text()

    def hear(self, words="", count=1):
        """Waits for so many lines that begin so, or for its end."""
        until = time.monotonic() + SPEAKS_WITHIN
        line = re.compile("^" + words, re.M)
        while self.process.poll() is None and time.monotonic() < until:
            if self.said() and len(line.findall(self.said())) >= count:
                return
            time.sleep(0.02)

    def end(self):
        """Its exit code: 0 of one that went on till here without an error."""
        if self.process.poll() is not None:
            return self.process.returncode
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=ENDS_WITHIN)
        return 0 if self.said() and "error[" not in self.said() else -1


class World:
    def __init__(self, folder, environment):
        self.folder, self.lab = folder, folder / "home/lab"
        self.environment = {**environment, "HOME": str(folder / "home"),
                            "TMPDIR": str(folder / "tmp")}
        (folder / "tmp").mkdir()
        self.processes, self.plain, self.tls = [], "", ""

    def knows(self, plain, tls):
        """The addresses of the coordinator that commands speak with."""
        self.plain, self.tls = plain, tls
        self.environment["FROSTLINE_CONNECT"] = plain

    def words(self, script):
        return script.replace("{plain}", self.plain).replace(
            "{tls}", "localhost:" + self.tls.rpartition(":")[2])

    def run(self, script, limit=60):
        """(exit code, what it said) of a script in the folder."""
        ran = subprocess.run(
            ["bash", "-o", "pipefail", "-c", self.words(script)], cwd=self.lab,
            env=self.environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
        return ran.returncode, ran.stdout

    def must(self, script):
        code, said = self.run("set -e\n" + script)
        if code != 0:
            raise RuntimeError(f"{script}\n{said}")

    def begin(self, script, beside=""):
        """What goes on for ever, when it has said something."""
        begun = Begun(self, self.words(script))
        if beside:
            time.sleep(SPEAKS_FOR)
            self.must(beside)
        begun.hear()
        time.sleep(SPEAKS_FOR)
        return begun

    def keep(self, script):
        """Until this world ends; commands find a coordinator that it begins."""
        begun = Begun(self, self.words(script))
        self.processes.append(begun)
        serves = script.startswith("frostline serve")
        begun.hear("listening on " if serves else "", script.count("--listen"))
        if begun.process.poll():
            raise RuntimeError(f"{script}\n{begun.said()}")
        if serves:
            addresses = re.findall(r"^listening on (\S+)", begun.said(), re.M)
            self.knows(addresses[0], addresses[-1])

    def serve(self):
        """Two addresses: in plaintext, and with TLS for other machines."""
        self.keep("frostline serve --data ~/../data --tls $FIRST/tls "
                  "--listen 127.0.0.1:0 --listen tls:127.0.0.1:0")

    def work(self):
        self.keep("frostline worker --exec frostline-trainer --id gpu03 "
                  "--label trainer= --run-dir ~/../runs")
        self.processes[-1].hear(".* registered ")

    def stop(self):
        failed = [begun.said() for begun in reversed(self.processes)
                  if begun.end() != 0]
        self.processes = []
        if failed:
            raise RuntimeError("\n".join(failed))

    def end(self):
        """Its folder goes at once: a coordinator takes 64 MiB in advance."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder)


class Worlds:
    """All are copies of one that is made first."""

    def __init__(self, folder, programs):
        self.folder, self.count = folder, 0
        write_programs(folder / "bin", programs)
        (folder / "home/.zfunc").mkdir(parents=True)
        (folder / "home/.config/fish/completions").mkdir(parents=True)
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "LANG": "C.UTF-8", "XDG_CACHE_HOME": str(folder / "cache"),
            "FROSTLINE_REAL_TRAINER": str(programs / "frostline-trainer"),
            "OMP_NUM_THREADS": "1", "FIRST": str(folder)}
        self.make_first()

    def make_first(self):
        lab = self.folder / "home/lab"
        doc_files.write_lab(lab)
        doc_files.write_cached_model(self.folder / "cache/frostline")
        write_told_study(lab)
        first = World(self.folder, self.environment)
        first.must("frostline tls init --host localhost --folder ~/../tls")
        first.serve()
        try:
            first.must(STUDIES)
            first.must("frostline worker --exec frostline-demo-trainer "
                       "--id gpu03 --study demo --exit-when-done "
                       "--run-dir ~/../runs")
            first.work()
            first.must(TRAINED)
        finally:
            first.stop()

    def copy(self, *names):
        self.count += 1
        folder = self.folder / f"world-{self.count}"
        folder.mkdir()
        for name in names:
            shutil.copytree(self.folder / name, folder / name, symlinks=True,
                            ignore=shutil.ignore_patterns("*.ballast"))
        return folder

    def make(self, beside=None, works=False):
        """A copy with a coordinator of its own, or beside that of another."""
        names = ["home"] + ([] if beside else ["data"]) + (
            ["runs"] if works else [])
        world = World(self.copy(*names), self.environment)
        if beside:
            world.knows(beside.plain, beside.tls)
        else:
            world.serve()
        if works:
            world.work()
            world.must("frostline study pause imdb")
        return world
