#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every error of the catalogue is made somewhere, and some test knows it."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENTRY = re.compile(r'X\((\w+),\s*(\d+),\s*\w+,\s*"(\w+)"')
ROOMS = ("base", "cli", "importance", "proto", "sampler", "server", "spans",
         "statistics", "storage", "study", "surrogate", "tls", "worker")
CODE = (".cc", ".h", ".in")
TESTS = CODE + (".py", ".bats", ".bash", ".sh")
WORD = re.compile(r"ErrorId::k\w+|\bk[A-Z]\w+|FL-\d{4}|= \d{4};|\b[A-Z_]{6,}\b")
NOT_READ = ("error.h", pathlib.Path(__file__).name)
# A number stays in the catalogue when nothing makes its error any more.
RETIRED = {
    "WorkerQuarantined": "a quarantine is told with the work, not as an error",
}


def words_below(folders, endings):
    """All that could name an error in the files of some folders."""
    words = set()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in endings and path.name not in NOT_READ:
                words.update(WORD.findall(path.read_text(errors="replace")))
    return words


class ErrorIds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        catalogue = (ROOT / "base/error.h").read_text()
        cls.entries = ENTRY.findall(catalogue)
        cls.made_words = words_below(ROOMS, CODE)
        cls.known_words = words_below(("tests",), TESTS)

    def made(self, name, number):
        # The trainer has no errors of the API: it names them by number.
        return {f"ErrorId::k{name}", f"= {number};", f"FL-{number}"} & \
            self.made_words

    def test_the_catalogue_is_read(self):
        self.assertGreater(len(self.entries), 90)

    def test_every_error_is_made_somewhere(self):
        self.assertEqual([], [f"FL-{number} {name}"
                              for name, number, _ in self.entries
                              if not self.made(name, number)
                              and name not in RETIRED])

    def test_no_retired_error_is_made(self):
        self.assertEqual([], [name for name, number, _ in self.entries
                              if name in RETIRED and self.made(name, number)])

    def test_every_error_is_known_to_a_test(self):
        self.assertEqual([], [
            f"FL-{number} {name}" for name, number, reason in self.entries
            if name not in RETIRED and not self.known_words &
            {f"ErrorId::k{name}", f"k{name}", f"FL-{number}", reason}])


if __name__ == "__main__":
    unittest.main()
