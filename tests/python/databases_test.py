#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""databases_test.py PROGRAMS: studies that Optuna keeps in a real PostgreSQL and a real
MariaDB, imported by their URLs and written back there."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import unittest
import warnings

import optuna
import world
from world import coordinator, scratch

sys.path.append(str(world.ROOT / "tests" / "support"))

import fetched  # noqa: E402
import frostline  # noqa: E402
from frostline import errors  # noqa: E402
from totals import run_and_count  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")
RATES = [0.0, 1e-4, 1e-3]


def as_nobody():
    """Of a process that refuses to be root's."""
    return {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid} if os.getuid() == 0 else {}


@contextlib.contextmanager
def running(command, answers, stops_by=signal.SIGTERM, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               **options)
    try:
        if not world.within(60, answers) or process.poll() is not None:
            raise AssertionError(f"{command[0]} does not answer")
        yield
    finally:
        process.send_signal(stops_by)
        process.wait(timeout=60)


@contextlib.contextmanager
def postgresql():
    import psycopg2
    with scratch() as folder:
        folder.chmod(0o755)
        # A copy, since a cache of root's is closed to others.
        wheels = fetched.wheels("optuna")
        for part in ("pgserver/pginstall/bin", "pgserver/pginstall/lib",
                     "pgserver/pginstall/share", "pgserver.libs"):
            shutil.copytree(wheels / part, folder / part)
        programs, port = folder / "pgserver/pginstall/bin", world.free_port()
        data = folder / "data"
        data.mkdir(mode=0o700)
        if os.getuid() == 0:
            shutil.chown(data, "nobody")
        subprocess.run([programs / "initdb", "-D", data, "-U", "optuna", "-A", "trust",
                        "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/", **as_nobody())
        place = {"host": "127.0.0.1", "port": port, "user": "optuna", "dbname": "postgres"}

        def answers():
            with contextlib.suppress(psycopg2.OperationalError):
                psycopg2.connect(**place).close()
                return True

        with running([programs / "postgres", "-D", data, "-p", str(port), "-k", data, "-F",
                      "-c", "listen_addresses=127.0.0.1"], answers,
                     stops_by=signal.SIGINT,  # whoever is connected
                     cwd="/", **as_nobody()):
            yield f"postgresql+psycopg2://optuna:secret@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def mariadb():
    import pymysql
    server = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin")
    if not server:
        raise (AssertionError if os.environ.get("CI") else unittest.SkipTest)(
            "there is no mariadbd: ./dev setup python installs it")
    with scratch() as folder:
        port, data = world.free_port(), folder / "data"
        user = f"--user={pwd.getpwuid(os.getuid()).pw_name}"
        first = folder / "first.sql"
        first.write_text("CREATE DATABASE optuna CHARACTER SET utf8mb4;\n"
                         "CREATE USER ana@'127.0.0.1' IDENTIFIED BY 'secret';\n"
                         "GRANT ALL ON optuna.* TO ana@'127.0.0.1';\n")
        subprocess.run(["mariadb-install-db", "--no-defaults", user, "--skip-test-db",
                        "--skip-name-resolve", f"--datadir={data}"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            with contextlib.suppress(pymysql.err.OperationalError):
                pymysql.connect(host="127.0.0.1", port=port, user="ana", password="secret",
                                database="optuna").close()
                return True

        with running([server, "--no-defaults", user, f"--datadir={data}",
                      "--skip-name-resolve", f"--init-file={first}", f"--port={port}", "--bind-address=127.0.0.1",
                      f"--socket={folder / 'socket'}", f"--pid-file={folder / 'pid'}",
                      "--innodb-flush-log-at-trx-commit=0"], answers):
            yield f"mysql+pymysql://ana:secret@127.0.0.1:{port}/optuna"


def layers(trial):
    rates = [trial.suggest_categorical(f"lr_layer_{k}", RATES) for k in range(2)]
    dropout = trial.suggest_float("dropout", 0.0, 0.3)
    trial.report(0.25, 1)
    trial.set_user_attr("wirt", "Überall, 学习率")
    if trial.number == 3:
        raise optuna.TrialPruned()
    if trial.number == 4:
        raise ValueError
    return RATES.index(rates[1]) - dropout


class Databases(unittest.TestCase):
    def comes_whole_and_goes_back(self, url):
        old = optuna.create_study(storage=url, study_name="old", direction="maximize",
                                  sampler=optuna.samplers.RandomSampler(seed=1))
        old.optimize(layers, n_trials=10, catch=(ValueError,))
        with coordinator() as (address, _), frostline.connect(address) as client:
            ours = client.import_optuna(url)
            found = sorted(ours.results(rates=True), key=lambda one: one.number)
            self.assertEqual(["SUCCEEDED"] * 3 + ["PRUNED", "FAILED"] + ["SUCCEEDED"] * 5,
                             [one.state for one in found])
            for theirs, one in zip(old.trials, found, strict=True):
                self.assertEqual([theirs.params[f"lr_layer_{k}"] for k in range(2)],
                                 [one.rates[f"layer.{k}"] for k in range(2)])
                self.assertEqual(theirs.params["dropout"], one.parameters["dropout"])
            self.assertEqual(old.best_value, ours.best_trial.values[0])
            back = ours.to_optuna(url, study_name="back")
        self.assertEqual(2, len(optuna.get_all_study_summaries(url)))
        self.assertEqual([one.state for one in old.trials], [one.state for one in back.trials])
        self.assertEqual(old.best_value, back.best_value)
        self.assertEqual("Überall, 学习率", back.trials[0].user_attrs["wirt"])
        self.assertEqual({1: 0.25}, back.trials[3].intermediate_values)
        self.assertEqual(old.trials[0].datetime_start.replace(microsecond=0),
                         back.trials[0].datetime_start.replace(microsecond=0))

    def test_postgresql(self):
        with postgresql() as url:
            self.comes_whole_and_goes_back(url)

    def test_mariadb(self):
        with mariadb() as url:
            self.comes_whole_and_goes_back(url)

    def test_one_that_does_not_answer_is_said_without_its_password(self):
        url = f"postgresql+psycopg2://ana:hunter2@127.0.0.1:{world.free_port()}/studies"
        with coordinator() as (address, _), frostline.connect(address) as client:
            with self.assertRaises(errors.BadFile) as caught:
                client.import_optuna(url)
            self.assertEqual([], client.studies())
        self.assertIn("postgresql+psycopg2://ana:***@127.0.0.1", str(caught.exception))
        self.assertNotIn("hunter2", str(caught.exception))


if __name__ == "__main__":
    sys.exit(run_and_count())
