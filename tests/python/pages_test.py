#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py PROGRAMS: what the pages about Python show, run in a folder as a reader
would run it."""
import re
import subprocess
import sys
import unittest

from world import PROGRAMS, ROOT, coordinator, scratch

from totals import run_and_count


def blocks(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run(folder, *words):
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True,
                          text=True, timeout=120)


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
                    if one.startswith("import frostline")]
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

    def test_ids_of_errors_are_on_the_page(self):
        page = (ROOT / "docs/how-to/your-trainer.md").read_text(encoding="utf-8")
        package = "".join(path.read_text(encoding="utf-8")
                          for path in (ROOT / "python/frostline").glob("*.py"))
        for number in {int(n) for n in re.findall(r'"PY-(\d+)"', package)} - {1000}:
            self.assertTrue(f"PY-{number}" in page or 1011 <= number <= 1022, number)


if __name__ == "__main__":
    sys.exit(run_and_count())
