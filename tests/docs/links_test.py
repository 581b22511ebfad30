#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every page can be reached, and every link to a file of ours leads to it."""
import pathlib
import posixpath
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "style"))

from totals import run_and_count  # noqa: E402
from tree import read_tree  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(text):
    """The names by which a page's headings are linked."""
    for heading in re.findall(r"^#+ +(.*)$", FENCE.sub("", text),
                              re.MULTILINE):
        kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        yield kept.replace(" ", "-")


def links(page):
    """(path from the root, anchor or "") of each link to a file of ours."""
    for target in LINK.findall(FENCE.sub("", page.text)):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        whole = posixpath.join(page.folder, path) if path else page.path
        yield posixpath.normpath(whole), anchor


class Links(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {f.path: f for f in read_tree(ROOT) if f.suffix == ".md"}

    def test_every_link_leads_to_a_file_and_a_heading(self):
        lost = []
        for page in self.pages.values():
            for path, anchor in links(page):
                found = self.pages.get(path)
                if not (ROOT / path).exists():
                    lost.append(f"{page.path}: there is no {path}")
                elif anchor and found and \
                        anchor not in set(anchors(found.text)):
                    lost.append(f"{page.path}: {path} has no #{anchor}")
        self.assertEqual(lost, [])

    def test_every_page_of_the_documentation_is_linked(self):
        linked = {path for page in self.pages.values()
                  for path, _ in links(page)}
        linked |= {"docs/" + name for name in ("README.md", "index.md")}
        alone = [p for p in self.pages
                 if p.startswith("docs/") and p not in linked
                 and not p.endswith("/README.md")]
        self.assertEqual(alone, [])


if __name__ == "__main__":
    sys.exit(run_and_count())
