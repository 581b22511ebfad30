#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference of the API, which is made and not kept, can be made, and says
what the contract and the table of roles do; that of Python is what docstrings say."""
import ast
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "style"), str(ROOT / "scripts")]

import python_reference  # noqa: E402
from links_test import LINK, anchors  # noqa: E402
from totals import run_and_count  # noqa: E402

PROTOS = ROOT / "proto" / "frostline" / "v1"


class PythonReference(unittest.TestCase):
    def test_the_page_says_what_the_docstrings_say(self):
        made, lost = python_reference.page()
        self.assertEqual([], lost)
        self.assertEqual(made, python_reference.PAGE.read_text(encoding="utf-8"),
                         "run scripts/python_reference.py")

    def test_a_public_name_without_a_docstring_is_named(self):
        lost = []
        node = ast.parse("class Study:\n def stop(self): pass\n def _hidden(self): pass").body[0]
        python_reference.entry(node, lost)
        self.assertEqual(["Study", "Study.stop"], lost)


class ApiReference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="frostline-api-")
        cls.addClassCleanup(scratch.cleanup)
        cls.file = pathlib.Path(scratch.name).resolve() / "new" / "api.md"
        subprocess.run([sys.executable, "-B", ROOT / "scripts/api_reference.py",
                        cls.file], check=True, stdout=subprocess.DEVNULL)
        cls.page = cls.file.read_text()
        lines = (line for p in PROTOS.glob("*.proto")
                 for line in p.read_text().splitlines())
        cls.protos = "\n".join(re.sub("//.*", "", line) for line in lines)

    def test_every_link_leads_somewhere_from_where_the_page_lies(self):
        lost, headings = [], {}
        for target in LINK.findall(self.page):
            path, _, anchor = target.partition("#")
            file = (self.file.parent / path).resolve() if path else self.file
            if file not in headings:
                headings[file] = set(anchors(file.read_text())) \
                    if file.is_file() else set()
            if not file.is_file() or anchor and anchor not in headings[file]:
                lost.append(target)
        self.assertGreater(len(headings), 3)
        self.assertEqual(lost, [])

    # Found without the script's own eyes.
    def test_every_method_message_and_enum_has_a_heading(self):
        declared = re.findall(r"^ *(?:rpc|message|enum) (\w+)", self.protos,
                              re.MULTILINE)
        headings = set(re.findall(r"^### (?:[\w.]+\.)?(\w+)$", self.page,
                                  re.MULTILINE))
        self.assertGreater(len(declared), 150)
        self.assertEqual(set(declared) - headings, set())

    def test_what_is_not_served_says_so(self):
        marks = re.findall(r"\((?:method_)?not_served\) =", self.protos)
        self.assertEqual(self.page.count("**Not served yet**"), len(marks))

    def test_errors_that_a_comment_names_are_linked(self):
        method = self.page.split("### StudyService.WatchStudy")[1]
        self.assertRegex(
            method.split("### StudyService.")[0],
            r"\[HISTORY_GONE\]\([./\w-]*/errors\.md#fl-")

    # server/verbs/roles.txt, which the table of verbs was written to.
    def test_every_served_method_says_who_may_call_it(self):
        said = dict(re.findall(r"^### (\w+\.\w+)\n(?:(?!###)[^\n]*\n)*?"
                               r"[^\n]* Roles: (.*?)\.(?: |\n)", self.page,
                               re.MULTILINE))
        held = {line.split()[0] for line in
                (ROOT / "server/verbs/roles.txt").read_text().splitlines()
                if not line.startswith(("#", "ExternalScaler."))}
        self.assertEqual(set(said), held)
        self.assertEqual(said["AdminService.GetInfo"],
                         "VIEWER, RESEARCHER, ADMIN")
        self.assertEqual(said["WorkerService.Join"],
                         "whoever shows an invitation")
        self.assertEqual(said["WorkerService.RenewCertificate"],
                         "WORKER with a certificate")

    def test_no_field_is_without_a_type(self):
        self.assertEqual(re.findall(r"^\| \d+ \| `[a-z0-9_]+` \|  \|", self.page,
                                    re.MULTILINE), [])


if __name__ == "__main__":
    sys.exit(run_and_count())
