#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""minilm_test.py PROGRAMS: the tutorial's fifteen lines with MiniLM's real weights, as
they stand there but for where the weights are and how long it takes."""
import os
import pathlib
import subprocess
import sys
import unittest

from pages_test import blocks
from world import ROOT, scratch

import frostline
from totals import run_and_count

MINILM = os.environ.get("FROSTLINE_TEST_MINILM", "")
TRIALS = 8  # the least of which importance is told


@unittest.skipUnless(pathlib.Path(MINILM, "model.safetensors").is_file(),
                     "MiniLM is not here: ./dev setup demo fetches it")
class FifteenLines(unittest.TestCase):
    def test_from_nothing_to_which_layers_matter(self):
        text = blocks("tutorials/python.md")[0]
        self.assertIn("# layers.py", text)
        text = text.replace("sentence-transformers/all-MiniLM-L6-v2", MINILM).replace(
            "budget=12", f"budget={TRIALS}").replace("[-100:]", "[-40:]").replace(
            "[:-100]", "[:-40]")
        with scratch() as folder:
            table = (ROOT / "recipes/demo/reviews/train.tsv").read_text()
            (folder / "reviews.tsv").write_text("\n".join(table.split("\n")[:121]))
            (folder / "layers.py").write_text(text)
            done = subprocess.run(
                [sys.executable, "layers.py"], cwd=folder, capture_output=True, text=True,
                timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1",
                                  "TOKENIZERS_PARALLELISM": "false"})
            self.assertEqual(0, done.returncode, done.stderr)
            with frostline.local(folder / "frost") as client:
                study = client.study("reviews")
                results = list(study.results(rates=True))
        self.assertEqual(["SUCCEEDED"] * TRIALS, [one.state for one in results])
        self.assertTrue(all(0.2 < one.values[0] <= 1 for one in results), results)
        self.assertIn("layer.5 ", done.stdout)
        self.assertIn(f"{TRIALS} trials:", done.stdout)
        frozen = {r for one in results for r in one.rates.items()
                  if r[0].startswith("layer.") and r[1] == 0}
        self.assertGreater(len(frozen), 2, "layers were frozen")


if __name__ == "__main__":
    sys.exit(run_and_count())
