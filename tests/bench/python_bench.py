#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_bench.py PROGRAMS [--quick]: figures of the package in python/, run by
tests/python/environment.py with what its tests have."""
import datetime
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
QUICK = "--quick" in sys.argv
sys.argv[1:] = [one for one in sys.argv[1:] if one != "--quick"]

import show_test  # noqa: E402  takes PROGRAMS from the arguments
import world  # noqa: E402
from world import PROGRAMS, scratch  # noqa: E402

import build_server_wheel  # noqa: E402
import frostline  # noqa: E402
import wheel  # noqa: E402

FIRST = """
import frostline
with frostline.local("frost") as client:
    study = client.create_study("toy", maximize="score", budget=1,
                                space={"parameters": {"x": {"float": [0, 1]}}})
    study.tell(study.ask(), score=1)
    print(study.refresh().state)
"""
REPORTS = """
import frostline, time
trial = frostline.trial()
count = 2000
began = time.perf_counter()
for step in range(count):
    trial.report(step, score=step)
open("reports_s", "w").write(str((time.perf_counter() - began) / count))
"""
SECONDS = """
import frostline, time
trial = frostline.trial()
end = time.monotonic() + {seconds}
for step in range(20):
    trial.report(step, score=step)
    time.sleep({seconds} / 20)
"""


def say(**figures):
    print(json.dumps({f"python.{name}": round(value, 4) for name, value in figures.items()}),
          flush=True)


def imports(rounds):
    code = ("import time; began = time.perf_counter(); import frostline; "
            "print(time.perf_counter() - began)")
    took = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                 check=True).stdout) for _ in range(rounds)]
    say(import_ms=1000 * min(took))


def install():
    with scratch() as folder:
        server = build_server_wheel.build(PROGRAMS.parent, folder)
        ours = folder / wheel.build_wheel(folder)
        say(wheel_kb=ours.stat().st_size / 1e3, server_wheel_mb=server.stat().st_size / 1e6)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env/bin/python"
        # grpcio and protobuf lie on PYTHONPATH, where no network is needed for them.
        others = [one for one in os.environ["PYTHONPATH"].split(os.pathsep)
                  if one != str(world.PACKAGE)]
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(folder),
                 "PYTHONPATH": os.pathsep.join(others)}
        began = time.monotonic()
        subprocess.run([python, "-m", "pip", "--isolated", "install", "--quiet", "--no-index",
                        "--no-deps", "--disable-pip-version-check", server, ours], check=True)
        installed = time.monotonic()
        done = subprocess.run([python, "-c", FIRST], cwd=folder, env=clean, text=True,
                              capture_output=True, timeout=120)
        if done.stdout != "COMPLETED\n":
            raise SystemExit(done.stderr)
        say(install_s=installed - began, install_to_first_trial_s=time.monotonic() - began)


def under_an_agent(text, trials, folder):
    """Seconds from each trial's start to the next one's, and from the agent's start to the
    first trial's."""
    train = world.script(folder, text)
    with world.study(budget=trials) as (client, toy):
        began = datetime.datetime.now(datetime.timezone.utc)
        world.work(client, f"{sys.executable} {train}", folder / "runs", cwd=folder)
        if toy.refresh().counts["succeeded"] != trials:
            raise SystemExit("python_bench: a trial failed")
        starts = sorted(datetime.datetime.fromisoformat(one["start_time"])
                        for n in range(trials) for one in world.attempts(client, n))
    times = [(after - before).total_seconds()
             for before, after in zip([began, *starts], starts, strict=False)]
    return times[1:], times[0], train


def agent(seconds):
    """A trial in a search against the same script by hand, each the best of three, as other
    work of the machine only adds; and what the agent takes once, to start."""
    with scratch() as folder:
        under_an_agent(REPORTS.replace('"reports_s"', repr(str(folder / "reports_s"))), 1, folder)
        say(report_us=1e6 * float((folder / "reports_s").read_text()))
        took, start, train = under_an_agent(
            SECONDS.replace("{seconds}", str(seconds)), 4, folder)
        alone = []
        for _ in range(3):
            began = time.monotonic()
            subprocess.run([sys.executable, train], check=True)
            alone.append(time.monotonic() - began)
        say(**{f"agent_overhead_percent_{seconds}s": 100 * (min(took) / min(alone) - 1)},
            agent_start_s=start)


def frames():
    with world.coordinator() as (address, _), frostline.connect(address) as client:
        toy = show_test.imported(client, 10_000)
        importlib.import_module("pandas")
        began = time.monotonic()
        toy.to_pandas()
        say(to_pandas_s_10000=time.monotonic() - began)


def optuna_study(count, storage=None):
    """Ended trials of a study of layers, with attributes and a curve of two steps."""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rates = optuna.distributions.CategoricalDistribution([0.0, 1e-5, 1e-4])
    domains = {f"lr_layer_{k}": rates for k in range(6)}
    domains["dropout"] = optuna.distributions.FloatDistribution(0, 0.5)
    made = optuna.create_study(storage=storage, study_name="old", direction="maximize")
    made.add_trials([optuna.create_trial(
        value=k % 97 / 97, distributions=domains, user_attrs={"host": "gpu03"},
        intermediate_values={0: 0.1, 1: 0.2}, params={
            **{f"lr_layer_{n}": rates.choices[(k * (n + 7) + k // 3) % 3] for n in range(6)},
            "dropout": k % 50 / 100}) for k in range(count)])
    return made


def timed(body):
    began = time.monotonic()
    body()
    return time.monotonic() - began


def optunas():
    """Imports, and what Optuna's own client of our facade takes beside a SQLite file."""
    import optuna
    from frostline import optuna_storage
    with scratch() as folder, world.coordinator() as (address, _), \
            frostline.connect(address) as client:
        old = optuna_study(10_000)
        say(optuna_import_s_10000=timed(lambda: client.import_optuna(old, id="memory")))
        url = f"sqlite:///{folder / 'old.db'}"
        optuna_study(10_000, url)

        def load(storage, name):
            return optuna.load_study(study_name=name, storage=storage).trials

        say(optuna_import_sqlite_s_10000=timed(
                lambda: client.import_optuna(folder / "old.db", id="file")),
            optuna_sqlite_load_s_10000=timed(lambda: load(url, "old")),
            optuna_facade_load_s_10000=timed(
                lambda: load(optuna_storage.Storage(client), "file")))
        if not QUICK:
            old = optuna_study(100_000)
            say(optuna_import_s_100000=timed(lambda: client.import_optuna(old, id="many")))


if __name__ == "__main__":
    imports(3 if QUICK else 10)
    install()
    agent(2 if QUICK else 10)
    frames()
    optunas()
