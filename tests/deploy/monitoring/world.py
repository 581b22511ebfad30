# SPDX-License-Identifier: Apache-2.0
"""A coordinator with a worker that has run a study, and a Prometheus beside
them: all real, on loopback, and ended by their ids."""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy" / "monitoring"
TRIALS = 12
PATIENCE_S = 60


def until(what, holds):
    """What `holds` answers, once that is true."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class World:
    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="frostline-"))
        self.running = []
        self.address = self.health = self.prometheus = ""

    def end(self):
        for child in reversed(self.running):
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def spawn(self, name, *command):
        """Returns where its output goes."""
        log = self.folder / f"{name}.log"
        with open(log, "wb") as out:
            self.running.append(subprocess.Popen(
                command, stdout=out, stderr=out, cwd=self.folder))
        return log

    def frostline(self, *arguments):
        done = subprocess.run(
            [self.programs / "frostline", *arguments], cwd=self.folder,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def start_coordinator(self):
        self.frostline("tls", "init", "--host", "127.0.0.1", "--folder", "tls")
        log = self.spawn(
            "coordinator", self.programs / "frostline-coordinator", "--data",
            "data", "--listen", "127.0.0.1:0", "--health-listen",
            "127.0.0.1:0", "--tls", "tls", "--log-format", "json",
            "--log-level", "debug", "--otlp",
            f"http://127.0.0.1:{free_port()}")  # where nobody listens
        said = until("the coordinator listens", lambda: re.search(
            r"listening on (\S+)\nhealth on (\S+)", log.read_text()))
        self.address, self.health = said.groups()

    def run_study(self):
        connect = ("--connect", self.address)
        study = str(ROOT / "recipes" / "demo" / "study.yaml")
        for name in ("demo", "open"):
            self.frostline("study", "create", *connect, "--id", name,
                           "--trials", str(TRIALS), study)
        self.spawn("worker", self.programs / "frostline-worker", *connect,
                   "--log-format", "json", "--study", "demo",
                   "--exec", str(self.programs / "frostline-demo-trainer"))
        self.frostline("study", "watch", *connect, "demo", "--until-done")
        self.frostline("importance", *connect, "demo")

    def log_of(self, name):
        """Its lines that are events; others were printed for people."""
        text = (self.folder / f"{name}.log").read_text()
        return [json.loads(line) for line in text.splitlines()
                if line.startswith("{")]

    def scrape(self):
        with urllib.request.urlopen(f"http://{self.health}/metrics",
                                    timeout=20) as answer:
            return answer.read().decode()

    def start_prometheus(self):
        """It scrapes once a second, and knows the rules."""
        shutil.copy(DEPLOY / "frostline.rules.yaml", self.folder)
        config = (DEPLOY / "prometheus.yaml").read_text()
        config = config.replace("127.0.0.1:7072", self.health)
        config = config.replace("15s", "1s")
        (self.folder / "prometheus.yaml").write_text(config)
        self.prometheus = f"127.0.0.1:{free_port()}"
        self.spawn("prometheus", "prometheus", "--config.file=prometheus.yaml",
                   "--storage.tsdb.path=tsdb",
                   f"--web.listen-address={self.prometheus}")

    def ask_prometheus(self, path, **parameters):
        """Its answer's data; None while there is none."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(
                    f"http://{self.prometheus}/api/v1/{path}?{query}",
                    timeout=20) as answer:
                said = json.load(answer)
        except OSError:
            return None
        return said["data"] if said["status"] == "success" else None
