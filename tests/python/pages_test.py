#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py PROGRAMS: what the pages about Python show, run in a folder as a reader
would run it."""
import os
import re
import subprocess
import sys
import textwrap
import unittest

from world import PROGRAMS, ROOT, coordinator, scratch

from totals import run_and_count


def blocks(page, kind="python"):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def run(folder, *words, **variables):
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True,
                          text=True, timeout=120, env={**os.environ, **variables})


class Pages(unittest.TestCase):
    def test_the_tutorial(self):
        _, script, search = blocks("tutorials/python.md")
        with scratch() as folder:
            (folder / "train.py").write_text(script)
            (folder / "search.py").write_text(search)
            alone = run(folder, "train.py")
            self.assertEqual("accuracy 0.8999999999999999\n", alone.stdout, alone.stderr)
            said = run(folder, "search.py")
        self.assertEqual("", said.stderr)
        lines = said.stdout.splitlines()
        self.assertRegex(lines[0], r"COMPLETED \[0\.(9|8999)")
        self.assertTrue(lines[1].startswith("layer.2 "), said.stdout)

    def test_the_four_doors(self):
        said = []
        with scratch() as folder:
            for block in blocks("how-to/your-trainer.md"):
                if re.match("import .*frostline", block):  # the others want a model
                    done = run(folder, "-c", block)
                    self.assertEqual("", done.stderr)
                    said.append(done.stdout)
        self.assertEqual(["trained with 2e-05\n", "COMPLETED 8\n", "SUCCEEDED 3\n", "9\n"], said)

    def test_coming_from_elsewhere(self):
        page = (ROOT / "docs/how-to/coming-from.md").read_text()
        with scratch() as folder:
            ours = [one for one in blocks("how-to/coming-from.md")
                    if one.startswith("import frostline") and "old.db" not in one]
            said = [run(folder, "-c", block) for block in ours]
            self.assertEqual([("1\n", ""), ("8\n", "")],
                             [(one.stdout, one.stderr) for one in said])
            files = re.findall(r"```yaml\n(# (from-\w+)\.yaml\n.*?)```", page, re.DOTALL)
            self.assertEqual(["from-wandb", "from-katib"], [name for _, name in files])
            with coordinator() as (address, _):
                for text, name in files:
                    (folder / f"{name}.yaml").write_text(text)
                    done = subprocess.run(
                        [PROGRAMS / "frostline", "study", "create", f"{name}.yaml",
                         "--dry-run", "--connect", address],
                        cwd=folder, capture_output=True, text=True, timeout=60)
                    self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_a_study_of_optunas_is_explained(self):
        block, = [one for one in blocks("how-to/coming-from.md") if "old.db" in one]
        with scratch() as folder:
            made = run(folder, "-c", textwrap.dedent("""
                import optuna
                def objective(trial):
                    rates = [trial.suggest_categorical(f"lr_layer_{k}", [0, 1e-4]) for k in (0, 1)]
                    return rates[1] * 1000 + trial.number % 3 / 100
                optuna.create_study(storage="sqlite:///old.db", direction="maximize").optimize(
                    objective, n_trials=30)
                """))
            self.assertEqual(0, made.returncode, made.stderr)
            done = run(folder, "-c", block)
        self.assertEqual("", done.stderr)
        self.assertTrue(done.stdout.startswith("layer.1 "), done.stdout)

    def test_ours_inside_optuna(self):
        block, = [one for one in blocks("how-to/coming-from.md")
                  if "FrostlineImportanceEvaluator" in one]
        with scratch() as folder:
            done = run(folder, "-c", block, XDG_DATA_HOME=str(folder), FROSTLINE_CONNECT="")
        self.assertEqual(0, done.returncode, done.stderr)
        shares, twin = done.stdout.splitlines()
        self.assertEqual("{'x': 1.0}", shares)
        self.assertTrue(twin.startswith("no-name-"), twin)

    def test_ids_of_errors_are_on_the_page(self):
        page = "".join((ROOT / "docs/how-to" / name).read_text(encoding="utf-8")
                       for name in ("your-trainer.md", "coming-from.md", "agents.md",
                                    "hydra.md", "kubeflow.md"))
        package = "".join(path.read_text(encoding="utf-8")
                          for path in (ROOT / "python/frostline").glob("*.py"))
        for number in {int(n) for n in re.findall(r'"PY-(\d+)"', package)} - {1000}:
            self.assertTrue(f"PY-{number}" in page or 1011 <= number <= 1022, number)


if __name__ == "__main__":
    sys.exit(run_and_count())
