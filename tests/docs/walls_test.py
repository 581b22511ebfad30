#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people read is no wall: a paragraph has at most 120 words, a cell of a
table at most 25. What does not fit becomes a section, a list or an example."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "style"))

from totals import run_and_count  # noqa: E402
from tree import read_tree  # noqa: E402

MOST_IN_PARAGRAPH = 120
MOST_IN_CELL = 25
# For those who work on Frostline itself, and what programs wrote.
OTHERS = re.compile(r"docs/(adr|measured|recipes/[\w-]+)/|docs/contributing.md"
                    r"|docs/README.md|docs/architecture.md"
                    r"|docs/reference/benchmarks.md")
READ = re.compile(r"README\.md$|docs/.*\.md$|recipes/.*\.md$")
ITEM = re.compile(r"\s*([-*>]|\d+\.) ")


def is_read(path):
    return READ.match(path) and not OTHERS.match(path)


def parts(text):
    """(line, "paragraph" or "cell", its text) of each; code is passed over."""
    paragraph, begun, in_code = [], 0, False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fence = line.lstrip().startswith("```")
        row = line.startswith("|") and not in_code
        ends = fence or row or not line.strip() or line.startswith("#") \
            or ITEM.match(line)
        if paragraph and ends:
            yield begun, "paragraph", " ".join(paragraph)
            paragraph = []
        in_code ^= fence
        if row:
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield number, "cell", cell
        if in_code or fence or row or not line.strip() \
                or line.startswith("#"):
            continue
        if not paragraph:
            if line.startswith("    ") and not ITEM.match(line):
                continue  # code by its indent
            begun = number
        paragraph.append(line)


def walls(path, text):
    most = {"paragraph": MOST_IN_PARAGRAPH, "cell": MOST_IN_CELL}
    for line, kind, words in parts(text):
        count = len(words.split())
        if count > most[kind]:
            yield f"{path}:{line}: a {kind} of {count} words"


class Walls(unittest.TestCase):
    def test_no_page_that_people_read_has_one(self):
        pages = [page for page in read_tree(ROOT) if is_read(page.path)]
        self.assertGreater(len(pages), 40)
        self.assertEqual([wall for page in pages
                          for wall in walls(page.path, page.text)], [])

    def test_a_wall_is_found(self):
        words = "word " * 61
        page = (f"# A page\n\n{words}\n{words}\n\n| key | {words} |\n\n"
                f"- {words}\n- {words}\n\n```\n{words * 3}\n```\n")
        self.assertEqual(list(walls("p.md", page)),
                         ["p.md:3: a paragraph of 122 words",
                          "p.md:6: a cell of 61 words"])


if __name__ == "__main__":
    sys.exit(run_and_count())
