#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keda_test.py PROGRAMS

A client in Go that asks as KEDA does (keda.go), by the contract that KEDA
publishes and not by our own copy, over mTLS, against a real coordinator with real
workers. Where `./dev setup deploy` has not fetched what it needs, all is skipped,
but never in CI."""
import contextlib
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tests/clients"), str(ROOT / "tests/style")]

import typed  # noqa: E402
from page import FOLDER  # noqa: E402
from totals import run_and_count  # noqa: E402
from world import go_environment, missing  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
PROTO = typed.cached("kubernetes-crds",
                     HERE / "crds.txt") / "externalscaler.proto"
PATIENCE = 60  # s, after which something hangs
METRIC = "s0-frostline-unclaimed-trials"
STUDY = """id: {id}
model: {{id: tiny, layers: 2, no_pooler: true}}
data: tiny
maximize: accuracy
budget: {budget}
sampler: random
space:
  modules:
    "layer.*": [0, 1e-5, 1e-4]
"""
# Trains until a file says that it may end.
TRAINER = """import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "exit":
        break
    if message["type"] != "trial":
        continue
    gate = os.path.join(sys.argv[1], message["trial"].rsplit("/", 1)[1])
    while not os.path.exists(gate):
        time.sleep(0.02)
    print(json.dumps({"type": "finish", "state": "succeeded",
                      "metrics": {"accuracy": 0.5}}), flush=True)
"""


def build(folder):
    """The client, of stubs made from KEDA's proto."""
    environment = {**os.environ, **go_environment(), "GOBIN": str(folder),
                   "PATH": f"{folder}:{os.environ['PATH']}"}
    (folder / "externalscaler").mkdir()
    for pin in ("go.mod", "go.sum", "tools.go"):
        shutil.copy(FOLDER / "go" / pin, folder)
    shutil.copy(HERE / "keda.go", folder)
    options = ("module=example.com/client,"
               f"M{PROTO.name}=example.com/client/externalscaler:{folder}")
    for command in (
            ["go", "install", "google.golang.org/protobuf/cmd/protoc-gen-go",
             "google.golang.org/grpc/cmd/protoc-gen-go-grpc"],
            ["protoc", "-I", PROTO.parent, f"--go_out={options}",
             f"--go-grpc_out={options}", PROTO.name],
            ["go", "build", "-o", "keda", "."]):
        made = subprocess.run(command, cwd=folder, env=environment, text=True,
                              capture_output=True)
        if made.returncode != 0:
            raise RuntimeError(f"{command}: {made.stdout}{made.stderr}")
    return folder / "keda"


class Keda:
    """The client as a process: what it says, in order, of each kind."""

    def __init__(self, program, address, files, metadata):
        self.process = subprocess.Popen(
            [program, address, *files, *metadata], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.heard = {kind: queue.Queue()
                      for kind in ("poll", "stream", "specs")}
        self.reader = threading.Thread(target=self._listen)
        self.reader.start()

    def _listen(self):
        for line in self.process.stdout:
            said = json.loads(line)
            kind, = set(said) & set(self.heard)
            self.heard[kind].put(said)

    def poll(self):
        self.process.stdin.write("poll\n")
        self.process.stdin.flush()
        return self.heard["poll"].get(timeout=PATIENCE)

    def next(self, kind):
        return self.heard[kind].get(timeout=PATIENCE)[kind]

    def end(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


class KedaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.once = pathlib.Path(scratch.name)
        (cls.once / "client").mkdir()
        cls.program = build(cls.once / "client")
        cls.tls = cls.once / "tls"
        cls.frostline("tls", "init", "--host", "localhost", "--host",
                      "127.0.0.1", "--folder", cls.tls)
        for role, name in (("viewer", "keda"), ("worker", "w")):
            cls.frostline("tls", "issue", "--role", role, "--name", name,
                          "--folder", cls.tls)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "gates").mkdir()
        (self.folder / "train.py").write_text(TRAINER)
        self.coordinator = None
        self.addCleanup(self.stop, signal.SIGKILL)
        self.listen = ["127.0.0.1:0", "tls:127.0.0.1:0"]
        self.start()

    @classmethod
    def frostline(cls, *arguments, check=True):
        return subprocess.run(
            [PROGRAMS / "frostline", *arguments], text=True, check=check,
            cwd=cls.once, stdout=subprocess.PIPE, timeout=PATIENCE).stdout

    def start(self):
        """The coordinator; after the first time at the same addresses."""
        log = open(self.folder / "coordinator.log", "a")
        with log:
            self.coordinator = subprocess.Popen(
                [PROGRAMS / "frostline-coordinator", "--data",
                 self.folder / "data", "--tls", self.tls,
                 *(f"--listen={at}" for at in self.listen)],
                stdout=subprocess.PIPE, stderr=log, text=True)
        plain, tls = (self.coordinator.stdout.readline().split()[-1]
                      for _ in self.listen)
        self.connect = ["--connect", plain]
        self.address = tls.removeprefix("tls:")
        self.listen = [plain, f"tls:{self.address}"]

    def stop(self, how):
        if self.coordinator is None:
            return
        self.coordinator.send_signal(how)
        self.coordinator.wait()
        self.coordinator.stdout.close()
        self.coordinator = None

    def keda(self, *metadata, owner="viewer-keda"):
        pair = ["-", "-"] if owner is None else [
            self.tls / f"{owner}.crt", self.tls / f"{owner}.key"]
        client = Keda(self.program, self.address,
                      [self.tls / "ca.crt", *pair], metadata)
        self.addCleanup(client.end)
        return client

    def create(self, study, budget):
        path = self.folder / f"{study}.yaml"
        path.write_text(STUDY.format(id=study, budget=budget))
        self.frostline("study", "create", path, *self.connect)

    @contextlib.contextmanager
    def worker(self, name):
        with open(self.folder / f"{name}.log", "w") as log:
            process = subprocess.Popen(
                [PROGRAMS / "frostline-worker", *self.connect, "--id", name,
                 "--run-dir", self.folder / name, "--label", "trainer=",
                 "--exec",
                 f"python3 {self.folder}/train.py {self.folder}/gates"],
                stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    def wait_for(self, study, **counts):
        """Until its counts are these."""
        until = time.monotonic() + PATIENCE
        while True:
            shown = json.loads(self.frostline("study", "show", study, "--json",
                                              *self.connect))["counts"]
            if all(int(shown.get(name, 0)) == count
                   for name, count in counts.items()):
                return
            self.assertLess(time.monotonic(), until, shown)
            time.sleep(0.05)

    def assert_poll(self, keda, unclaimed):
        self.assertEqual(keda.poll(), {
            "poll": "OK", "metric": METRIC, "target": 1, "value": unclaimed,
            "float": unclaimed, "active": unclaimed > 0, "connections": 1})

    def test_the_metric_follows_a_study_from_nothing_to_its_end(self):
        keda = self.keda()
        self.assertEqual(keda.next("specs"), "Unimplemented")
        self.assertIs(keda.next("stream"), False)
        self.assert_poll(keda, 0)
        self.create("a", 3)
        self.assertIs(keda.next("stream"), True)
        self.assert_poll(keda, 3)
        with self.worker("w1"), contextlib.ExitStack() as more:
            self.wait_for("a", running=1)
            self.assert_poll(keda, 2)
            self.frostline("study", "pause", "a", *self.connect)
            self.assertIs(keda.next("stream"), False)
            self.assert_poll(keda, 0)
            self.frostline("study", "resume", "a", *self.connect)
            self.assertIs(keda.next("stream"), True)
            self.assert_poll(keda, 2)
            more.enter_context(self.worker("w2"))
            self.wait_for("a", running=2)
            self.assert_poll(keda, 1)
            (self.folder / "gates" / "0").touch()
            self.wait_for("a", succeeded=1, running=2)
            self.assertIs(keda.next("stream"), False)
            self.assert_poll(keda, 0)
            for trial in ("1", "2"):
                (self.folder / "gates" / trial).touch()
            self.wait_for("a", succeeded=3, running=0)
            self.assert_poll(keda, 0)
        self.assertTrue(keda.heard["stream"].empty())  # nor between trials

    def test_it_comes_back_by_itself_when_the_coordinator_was_killed(self):
        self.create("a", 4)
        keda = self.keda("study=a")
        self.assertIs(keda.next("stream"), True)
        self.assert_poll(keda, 4)
        self.stop(signal.SIGKILL)
        self.assertEqual(keda.next("stream"), "Unavailable")
        self.assertEqual(keda.poll()["poll"], "Unavailable")
        self.start()
        while (news := keda.next("stream")) == "Unavailable":
            continue
        self.assertIs(news, True)
        self.assertEqual(keda.poll()["value"], 4)
        # Whoever was slow to ask did so while nobody was there.
        while (specs := keda.next("specs")) == "Unavailable":
            continue
        self.assertEqual(specs, "Unimplemented")
        self.assertTrue(keda.heard["specs"].empty())  # not asked again

    def test_a_stream_ends_cleanly_when_the_coordinator_is_stopped(self):
        keda = self.keda()
        self.assertIs(keda.next("stream"), False)
        self.stop(signal.SIGTERM)
        self.assertEqual(keda.next("stream"), "EOF")
        self.start()
        while (news := keda.next("stream")) == "Unavailable":
            continue
        self.assertIs(news, False)

    def test_several_trials_a_worker_are_the_target(self):
        self.create("a", 8)
        poll = self.keda("slots=4").poll()
        self.assertEqual((poll["value"], poll["target"]), (8, 4))

    def test_a_wrong_trigger_is_told_what_is_wrong(self):
        for metadata, code, said in (
                ("stduy=a", "InvalidArgument", "stduy"),
                ("slots=none", "InvalidArgument", "slots"),
                ("study=nowhere", "NotFound", "nowhere")):
            keda = self.keda(metadata)
            poll = keda.poll()
            self.assertEqual(poll["poll"], code)
            self.assertIn(said, poll["message"])
            self.assertEqual(keda.next("stream"), code)

    def test_who_shows_no_certificate_or_a_workers_is_refused(self):
        self.assertEqual(self.keda(owner=None).poll()["poll"],
                         "Unauthenticated")
        self.assertEqual(self.keda(owner="worker-w").poll()["poll"],
                         "PermissionDenied")


def main():
    lacks = missing("Go")
    if not lacks and not shutil.which("protoc"):
        lacks = "there is no protoc"
    if not lacks and not PROTO.is_file():
        lacks = f"there is no {PROTO}"
    in_ci = bool(os.environ.get("CI"))
    if not lacks:
        return run_and_count()
    print(f"{'FAILED' if in_ci else 'SKIPPED'}: {lacks}: run ./dev setup deploy")
    print(f"0 passed, {int(in_ci)} failed, {int(not in_ci)} skipped")
    return int(in_ci)


if __name__ == "__main__":
    sys.exit(main())
