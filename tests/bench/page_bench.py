#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_bench.py PROGRAMS LOAD [--quick]: figures of the page: what its first load and
its views send, what a change costs, what an open page takes of the coordinator, and
what 20 of them cost the workers. Pages are played: the calls that dashboard/src makes,
as often, with ETags and gzip."""
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PROGRAMS, LOAD = map(pathlib.Path, sys.argv[1:3])
QUICK = "--quick" in sys.argv
MODULES = ["embeddings", *(f"layer.{i}" for i in range(12)), "head"]
LEVELS = [0, 2e-7, 2e-6, 2e-5]
ROUNDS = 3 if QUICK else 7
COLUMNS = ["number", "state", "origin", "attempt", "worker", "create_time", "start_time",
           "end_time", "cause", "values", "parameters", "rates", "metrics", "usage",
           "labels"]


def say(**figures):
    print(json.dumps({f"page.{name.replace('__', '.')}": round(value, 4)
                      for name, value in figures.items()}), flush=True)


class Coordinator:
    """A coordinator on a folder of its own."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [PROGRAMS / "frostline-coordinator", "--data", f"{folder}/data", "--listen",
             "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--allow-ui-writes"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.address = line.split()[-1]
            found = re.search(r"page on http://(\S+)/", line)
            if found:
                self.host = found[1]
                break
        else:
            raise SystemExit("page_bench: the coordinator did not start")

    def seconds(self):
        """Of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)
        fields = fields[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        self.process.wait()


class Browser:
    """A kept connection that takes gzip and has the last answer's ETag."""

    def __init__(self, host):
        self.host = host
        self.connection = http.client.HTTPConnection(host, timeout=120)
        self.etags = {}

    def ask(self, path, body=None):
        """(status, bytes as sent, seconds); the connection is opened anew where the
        other side has closed it."""
        headers = {"Accept-Encoding": "gzip", "Content-Type": "application/json"}
        if path in self.etags:
            headers["If-None-Match"] = self.etags[path]
        began = time.perf_counter()
        for again in (True, False):
            try:
                self.connection.request("POST" if body else "GET", path, body, headers)
                answer = self.connection.getresponse()
                break
            except (http.client.RemoteDisconnected, ConnectionError,
                    http.client.CannotSendRequest):
                self.connection.close()
                if not again:
                    raise
        sent = answer.read()
        took = time.perf_counter() - began
        if answer.status == 200 and not body:
            self.etags[path] = answer.headers["ETag"]
        self.packed = answer.headers.get("Content-Encoding") == "gzip"
        self.sent = sent
        return answer.status, len(sent), took

    def json(self):
        return json.loads(gzip.decompress(self.sent) if self.packed else self.sent)

    def get(self, verb, **message):
        text = urllib.parse.quote(json.dumps(message))
        return self.ask(f"/frostline.v1.{verb}?message={text}")

    def change(self, verb, **message):
        status, _, _ = self.ask(f"/frostline.v1.{verb}", json.dumps(
            {"request_id": secrets.token_hex(16), **message}))
        if status != 200:
            raise SystemExit(f"page_bench: {verb}: {self.sent.decode()}")
        return self.json()


def points(count, chance):
    for _ in range(count):
        point = [chance.choice(LEVELS) for _ in MODULES]
        score = 0.7 + sum(0.01 * (rate > 0) * k for k, rate in enumerate(point)) / 5
        yield {"state": "TRIAL_STATE_SUCCEEDED",
               "parameters": dict(zip(MODULES, point)),
               "metrics": {"accuracy": score + chance.gauss(0, 0.01),
                           "loss": chance.random()},
               "usage": {"train_seconds": 1 + chance.random(), "total_seconds": 3,
                         "trained_parameters": "85000000", "steps": "300"}}


def fill(browser, study, count):
    chance = random.Random(1)
    browser.change("StudyService/CreateStudy", study_id=study, spec={
        "model": {"id": "bert", "layers": 12}, "seed": 1,
        "objectives": [{"metric": "accuracy", "direction": "DIRECTION_MAXIMIZE"}],
        "space": {"modules": [{"select": name, "levels": {"rates": LEVELS}}
                              for name in MODULES]},
        "sampler": {"name": "random"}}, settings={"budget": {"trials": "1000000"}})
    for _ in range(count // 1000):
        browser.change("StudyService/ImportTrials", name=f"studies/{study}",
                       trials=list(points(1000, chance)))


def table(browser, study):
    """(bytes, seconds, revision) of all pages of a study's table."""
    size, seconds, token = 0, 0.0, ""
    while True:
        status, sent, took = browser.get("StudyService/GetTrialTable",
                                         parent=f"studies/{study}", columns=COLUMNS,
                                         page_token=token)
        assert status == 200, browser.sent
        answer = browser.json()
        size, seconds = size + sent, seconds + took
        token = answer.get("nextPageToken", "")
        if not token:
            return size, seconds, int(answer["table"]["revision"])


def first_load(coordinator):
    """What a browser that has nothing yet is sent before it asks for a study."""
    times = []
    for _ in range(ROUNDS):
        browser = Browser(coordinator.host)
        _, size, took = browser.ask("/")
        page = gzip.decompress(browser.sent).decode()
        for name in re.findall(r'(?:src|href)="\./?([^"#]+\.(?:js|css))"', page) or \
                re.findall(r'(?:src|href)="([^"#]+\.(?:js|css))"', page):
            _, more, longer = browser.ask(f"/{name}")
            size, took = size + more, took + longer
        _, more, longer = browser.get("StudyService/ListStudies", page_size=1000)
        times.append(took + longer)
    say(first_load_kb=(size + more) / 1e3, first_load_ms=1e3 * statistics.median(times))


def views(coordinator, study, count):
    name = f"studies/{study}"
    sizes, times = [], []
    for _ in range(ROUNDS):
        size, took, revision = table(Browser(coordinator.host), study)
        sizes.append(size)
        times.append(took)
    say(**{f"table_kb_{count}": sizes[0] / 1e3,
           f"table_ms_{count}": 1e3 * statistics.median(times)})
    for call, message in {
            "GetStudy": ("StudyService/GetStudy", {"name": name}),
            "ExplainStudy": ("StudyService/ExplainStudy", {"name": name}),
            "GetReport": ("ImportanceService/GetReport",
                          {"study": name, "watching": True}),
            "GetFrontier": ("ImportanceService/GetFrontier", {"study": name}),
            "GetPlan": ("ImportanceService/GetPlan", {"study": name})}.items():
        took = []
        for _ in range(ROUNDS):
            browser = Browser(coordinator.host)
            status, size, seconds = browser.get(message[0], **message[1])
            assert status == 200, browser.sent
            took.append(seconds)
        say(**{f"view_ms_{count}__{call}": 1e3 * statistics.median(took[1:]),
               f"view_ms_{count}__{call}_first": 1e3 * took[0],
               f"view_kb__{call}": size / 1e3})
    browser = Browser(coordinator.host)
    took = []
    for k in range(ROUNDS):
        browser.change("StudyService/UpdateTrial", name=f"{name}/trials/{k}",
                       labels={"k": secrets.token_hex(4)}, update_mask="labels")
        _, size, seconds = browser.get(
            "StudyService/GetStudyDelta", name=name, after_revision=revision,
            max_trials=1000, view="TRIAL_VIEW_FULL")
        delta = browser.json()
        assert len(delta["trials"]) == 1
        revision = int(delta["revision"])
        took.append(seconds)
    plain = len(json.dumps(delta, separators=(",", ":")))
    say(**{f"delta_ms_{count}": 1e3 * statistics.median(took), "delta_kb": size / 1e3,
           "delta_plain_kb": plain / 1e3})


class OpenPage(threading.Thread):
    """The calls of a study's page while it is seen, until it is told to end."""

    def __init__(self, host, study, answers=True):
        super().__init__(daemon=True)
        self.host, self.study, self.answers = host, study, answers
        self.over = threading.Event()
        self.calls = 0

    def run(self):
        browser = Browser(self.host)
        name = f"studies/{self.study}"
        due = {"study": 0.0, "reasons": 0.0}
        answers = {verb: [0.0, -1] for verb in ("GetReport", "GetFrontier")}
        known = seen = explained = -1
        while not self.over.wait(0.05 + 0.05 * random.random()):
            now = time.monotonic()
            if now >= due["study"]:
                due["study"] = now + 2
                status, _, _ = browser.get("StudyService/GetStudy", name=name)
                self.calls += 1
                if status == 200:
                    seen = int(browser.json()["revision"])
                if known < 0:
                    known = seen
                status, _, _ = browser.get(
                    "StudyService/GetStudyDelta", name=name, after_revision=known,
                    max_trials=50, view="TRIAL_VIEW_FULL")
                if status == 200:
                    known = int(browser.json()["revision"])
                self.calls += 1
            if now >= due["reasons"] and explained < seen:
                due["reasons"], explained = now + 3, seen
                browser.get("StudyService/ExplainStudy", name=name)
                self.calls += 1
            for verb, (when, asked) in answers.items():
                if not self.answers or now < when or asked >= seen:
                    continue
                message = {"watching": True} if verb == "GetReport" else {}
                _, _, took = browser.get(f"ImportanceService/{verb}", study=name, **message)
                # As dashboard/src/pages/revision.ts does.
                answers[verb] = [now + max(15, 80 * took), seen]
                self.calls += 1


def while_open(coordinator, study, count, work, answers=True):
    """What `work` returns while `count` pages are open."""
    pages = [OpenPage(coordinator.host, study, answers) for _ in range(count)]
    for page in pages:
        page.start()
    time.sleep(3 if pages else 0)  # what a page asks for when it is opened
    try:
        return work()
    finally:
        for page in pages:
            page.over.set()
        for page in pages:
            page.join()


def open_page(coordinator, study):
    """The coordinator's processor time with one page on a study that nobody changes, and
    on one that a trial is added to each second."""
    seconds = 10 if QUICK else 40
    browser = Browser(coordinator.host)
    chance = random.Random(2)

    def idle():
        before = coordinator.seconds()
        time.sleep(seconds)
        return (coordinator.seconds() - before) / seconds

    def busy():
        before = coordinator.seconds()
        for _ in range(seconds):
            browser.change("StudyService/ImportTrials", name=f"studies/{study}",
                           trials=list(points(1, chance)))
            time.sleep(1)
        return (coordinator.seconds() - before) / seconds

    say(open_core_percent__quiet=100 * (while_open(coordinator, study, 1, idle) - idle()),
        open_core_percent__running=100 * (
            while_open(coordinator, study, 1, busy) - busy()),
        open_core_percent__running_no_answers=100 * (
            while_open(coordinator, study, 1, busy, answers=False) - busy()))


def twenty_pages(coordinator):
    """Cycles a second of 100 workers with 20 pages open on their study, beside without;
    the rounds take turns, so that what else the machine does falls on both."""
    seconds = 4 if QUICK else 8
    cycles, costs = {0: [], 20: []}, {0: [], 20: []}
    for turn in range(3 if QUICK else 5):
        for count in (0, 20) if turn % 2 else (20, 0):
            study = f"cycles-{turn}-{count}"
            Browser(coordinator.host).change(
                "StudyService/CreateStudy", study_id=study, spec={
                    "seed": 1, "objectives": [{"metric": "accuracy",
                                               "direction": "DIRECTION_MAXIMIZE"}],
                    "space": {"parameters": [{"name": f"p{k}", "float":
                                              {"lo": 1e-5, "hi": 1, "log": True}}
                                             for k in range(4)]},
                    "sampler": {"name": "random"}},
                settings={"budget": {"trials": "1000000"}})

            def work(study=study):
                before = coordinator.seconds()
                ran = subprocess.run(
                    [LOAD, "--connect", coordinator.address, "--study", study,
                     "--workers", "100", "--seconds", str(seconds), "--warm-up", "1",
                     "--prefix", study],
                    capture_output=True, text=True, check=True)
                spent = coordinator.seconds() - before
                found = float(re.search(r"([0-9.]+) cycles/s", ran.stdout)[1])
                costs[count].append(1e6 * spent / (found * (seconds + 1)))
                return found

            cycles[count].append(while_open(coordinator, study, count, work))
            Browser(coordinator.host).change("StudyService/StopStudy",
                                             name=f"studies/{study}")
    ratios = [b / a for a, b in zip(cycles[0], cycles[20])]
    say(cycles_per_s__alone=statistics.median(cycles[0]),
        cycles_per_s__20_pages=statistics.median(cycles[20]),
        cycles_ratio__20_pages=statistics.median(ratios),
        cycle_cpu_us__alone=statistics.median(costs[0]),
        cycle_cpu_us__20_pages=statistics.median(costs[20]))


def many_studies(coordinator):
    """10,000 studies, made eight at a time, and the list of them as the page asks."""
    count = 2000 if QUICK else 10_000

    def make(first):
        browser = Browser(coordinator.host)
        for k in range(first, count, 8):
            browser.change("StudyService/CreateStudy", study_id=f"many-{k}", spec={
                "model": {"layers": 2}, "sampler": {"name": "random"}, "seed": 1,
                "objectives": [{"metric": "accuracy",
                                "direction": "DIRECTION_MAXIMIZE"}],
                "space": {"modules": [{"select": "layer.*",
                                       "levels": {"rates": [0, 1e-3]}}]}},
                settings={"budget": {"trials": "1"}})

    began = time.perf_counter()
    makers = [threading.Thread(target=make, args=(k,)) for k in range(8)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    made = time.perf_counter() - began
    browser = Browser(coordinator.host)
    size, seconds, token, listed = 0, 0.0, "", 0
    while True:
        status, sent, took = browser.get("StudyService/ListStudies", page_size=1000,
                                         page_token=token)
        assert status == 200, browser.sent
        answer = browser.json()
        size, seconds = size + sent, seconds + took
        listed += len(answer["studies"])
        token = answer.get("nextPageToken", "")
        if not token:
            break
    assert listed >= count, listed
    say(**{f"studies_made_s_{count}": made, f"studies_list_ms_{count}": 1e3 * seconds,
           f"studies_list_kb_{count}": size / 1e3})


def main():
    only = os.environ.get("FROSTLINE_BENCH_CHAPTER", "")
    with tempfile.TemporaryDirectory() as folder:
        coordinator = Coordinator(folder)
        try:
            if only in ("", "views", "open"):
                fill(Browser(coordinator.host), "five", 5000)
            if only in ("", "views"):
                first_load(coordinator)
                views(coordinator, "five", 5000)
            if only in ("", "open"):
                open_page(coordinator, "five")
            if only in ("", "cycles"):
                twenty_pages(coordinator)
            if only in ("", "studies"):
                many_studies(coordinator)
            if only in ("", "large"):
                began = time.perf_counter()
                fill(Browser(coordinator.host), "large", 100_000)
                say(import_s_100000=time.perf_counter() - began)
                views(coordinator, "large", 100_000)
        finally:
            coordinator.end()


if __name__ == "__main__":
    main()
