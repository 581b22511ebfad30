#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom_test.py PROGRAMS: what scripts/sbom.py says of the programs of this build, beside
what they load and what the tree pins."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from totals import run_and_count

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "scripts"))

import sbom  # noqa: E402


class Materials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.told = sbom.materials(PROGRAMS)
        cls.parts = {one["bom-ref"]: one for one in cls.told["components"]}
        cls.needs = {one["ref"]: one["dependsOn"] for one in cls.told["dependencies"]}

    def test_each_part_is_there_once_and_each_need_is_a_part(self):
        self.assertEqual(len(self.parts), len(self.told["components"]))
        for ref, needed in self.needs.items():
            self.assertIn(ref, {"frostline", *self.parts})
            self.assertLessEqual(set(needed), set(self.parts), ref)
            self.assertNotIn("excluded", {self.parts[one]["scope"] for one in needed}, ref)

    def test_whatever_a_program_loads_is_a_part_of_it(self):
        seen = 0
        for path in sorted(PROGRAMS.iterdir()):
            if path.name not in self.parts:
                continue
            names = {self.parts[ref]["name"] for ref in self.needs[path.name]}
            for line in subprocess.run(["ldd", path], check=True, capture_output=True,
                                       text=True).stdout.splitlines():
                place = line.partition(" => ")[2].split(" (")[0]
                if not place or "libtorch-" in place:
                    continue
                package = sbom.package_of(place)
                self.assertIn(package[0], names, line)
                seen += 1
        self.assertGreater(seen, 20)

    def test_each_pin_has_its_sum(self):
        seen = 0
        for path in (ROOT / "scripts").glob("requirements-*.txt"):
            for line in path.read_text("utf-8").splitlines():
                if line.startswith("#") or "==" not in line:
                    continue
                name, version = re.split(r"(?:\[.*\])?==", line.split()[0])
                sha256 = line.partition("--hash=sha256:")[2].split()[0]
                part = self.parts[f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"]
                self.assertIn({"alg": "SHA-256", "content": sha256}, part["hashes"], line)
                seen += 1
        self.assertGreater(seen, 100)

    def test_the_page_bundles_nothing_that_the_list_leaves_out(self):
        imported = set()
        for path in (ROOT / "dashboard" / "src").rglob("*.ts*"):
            for module in re.findall(r"from '([^'.][^']*)'", path.read_text("utf-8")):
                imported.add(module.split("/")[0])
        self.assertEqual(imported, sbom.BUNDLED)

    def test_the_same_tree_gives_the_same_bytes(self):
        self.assertEqual(json.dumps(self.told), json.dumps(sbom.materials(PROGRAMS)))

    def test_a_folder_without_programs_is_refused(self):
        with tempfile.TemporaryDirectory() as empty:
            with self.assertRaisesRegex(SystemExit, "build first"):
                sbom.materials(pathlib.Path(empty))


if __name__ == "__main__":
    run_and_count()
