#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page on clients shows the files that are run, and these are short."""
import json
import re
import sys
import unittest

from page import BLOCK, FOLDER, PAGE, ROOT, section

sys.path.insert(0, str(ROOT / "tests" / "style"))

from totals import run_and_count  # noqa: E402

CLIENTS = ["python/client.py", "go/client.go", "cpp/client.cc"]
SHOWN = [*CLIENTS, "python/errors.py", "study.json", "service_config.json"]
MAX_LINES = 30
# Where the code begins behind licence and imports, which an editor writes.
BEGINNING = re.compile(r"^(retries|func|std::string) ?", re.MULTILINE)
LICENCE = re.compile(r"\A(#|//) SPDX[^\n]*\n\n?")


class Page(unittest.TestCase):
    def test_it_shows_every_file_as_it_is(self):
        shown = [body for _, body in BLOCK.findall(PAGE.read_text())]
        for name in SHOWN:
            code = LICENCE.sub("", (FOLDER / name).read_text())
            self.assertIn(code, shown, name)

    def test_the_beginning_of_the_trials_is_theirs(self):
        trials = (FOLDER / "trials.json").read_text()
        shown = [body for _, body in BLOCK.findall(PAGE.read_text())
                 if trials.startswith(body)]
        self.assertEqual(len(shown), 1)

    def test_each_client_is_short(self):
        for name in CLIENTS:
            text = (FOLDER / name).read_text()
            code = text[BEGINNING.search(text).start():]
            lines = [line for line in code.splitlines() if line.strip()]
            self.assertLessEqual(len(lines), MAX_LINES, name)

    # The coordinator has limits of its own, and messages fit the usual ones.
    def test_no_client_sets_a_deadline_or_a_limit(self):
        for name in CLIENTS:
            text = (FOLDER / name).read_text()
            self.assertIsNone(re.search(
                r"(?i)deadline|timeout|max_\w*message|MaxCall", text), name)

    def test_the_service_config_tries_unavailable_again(self):
        config = json.loads((FOLDER / "service_config.json").read_text())
        policy = config["methodConfig"][0]["retryPolicy"]
        self.assertEqual(policy["retryableStatusCodes"], ["UNAVAILABLE"])

    def test_every_section_says_how_to_run_it(self):
        for title in ("Python", "Errors", "Go", "C++"):
            self.assertIn("127.0.0.1:7070\n```", section(title))


if __name__ == "__main__":
    sys.exit(run_and_count())
