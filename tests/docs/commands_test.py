#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands_test.py BIN: every command that README and docs/ show is one.

A line of a fenced block, or code within a sentence, that begins with
`frostline ` is held against the program's own table (`frostline help --json`):
its verbs and flags are there, and in a block its words are neither too few nor
too many. Lines without placeholders are given to the program's parser, too. The
same is done to the fixes that errors name.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

from doc_commands import (PLACEHOLDER, ROOT, commands_in, examples, fixes_in,
                          pages, sources, words_of)

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
BECOMES = {"serve": "frostline-coordinator", "worker": "frostline-worker"}
sys.path.insert(0, str(ROOT / "scripts"))
import pages as man_pages  # noqa: E402


def said(program, *words):
    return subprocess.run([BIN / program, *words], check=True, timeout=60,
                          capture_output=True, text=True).stdout


def parses(words):
    """What the program's parser says against the words; "" for nothing."""
    ran = subprocess.run([BIN / "frostline", "__parse", "--", *words],
                         timeout=60, capture_output=True, text=True)
    return "" if ran.returncode == 0 else ran.stderr or str(ran.returncode)


class Tree:
    """The commands of all programs, as they tell them."""

    def __init__(self):
        self.root = json.loads(said("frostline", "help", "--json"))
        self.others = {verb: json.loads(said(program, "--help=json"))
                       for verb, program in BECOMES.items()}

    def walk(self, words):
        """(page, words after its path): how far the verbs reach."""
        page = self.root
        for count, word in enumerate(words):
            below = [c for c in page["commands"] if c["name"] == word]
            if not below:
                if page is not self.root and page["name"] in self.others and (
                        page["name"] == "serve" or word.startswith("-")):
                    return self.others[page["name"]], words[count:]
                return page, words[count:]
            page = below[0]
        return page, []

    def flag(self, page, name):
        for flag in page["flags"] + self.root["flags"]:
            if name in flag["name"].split(", "):
                return flag
        return None

    def wrong(self, words, is_whole, is_usage=False):
        """What is wrong with the words behind `frostline`; "" if nothing."""
        lead = []
        while words and words[0].startswith("-"):  # --connect before the verb
            flag = self.flag(self.root, words[0].split("=")[0])
            if flag is None:
                return f"no flag {words[0]}"
            taken = 2 if flag["value"] and "=" not in words[0] else 1
            lead, words = lead + words[:taken], words[taken:]
        page, rest = self.walk(words)
        if page is self.root and words:
            return f"no command '{words[0]}'"
        positionals, skip = 0, False
        for word in rest:
            if skip:
                skip = False
            elif re.match(r"--?[a-z]", word):
                flag = self.flag(page, word.split("=")[0])
                if flag is None:
                    return f"{page['name']} has no flag {word}"
                skip = bool(flag["value"]) and "=" not in word
            else:
                positionals += 1
                if page["commands"]:
                    return f"{page['name']} has no command '{word}'"
        many = any(word["repeats"] for word in page["words"])
        least = sum(not w["name"].startswith("[") for w in page["words"])
        if is_whole and positionals < least and "--help" not in rest:
            return f"{page['name']} takes {least} words, not {positionals}"
        if not many and not is_usage and positionals > len(page["words"]):
            return f"{page['name']} takes fewer words"
        return ""


def pages_below(page, path=()):
    yield " ".join(path) or "frostline", path, page
    for command in page["commands"]:
        yield from pages_below(command, path + (command["name"],))


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = Tree()

    def mistakes_in(self, name, lines):
        for line, is_whole in lines:
            words, is_usage = words_of(line)
            wrong = self.tree.wrong(words, is_whole and not is_usage,
                                    is_usage)
            if not wrong and is_whole and not is_usage and words and \
                    not PLACEHOLDER.search(line) and \
                    words[0] not in BECOMES and "--help" not in words:
                wrong = parses(words)
            if wrong:
                yield f"{name}: {line}\n    {wrong}"

    def test_every_command_in_the_docs_is_one(self):
        count, wrong = 0, []
        for page in pages():
            lines = list(commands_in(page.read_text()))
            count += len(lines)
            wrong += self.mistakes_in(page.relative_to(ROOT), lines)
        self.assertGreater(count, 150)
        self.assertEqual([], wrong, "\n" + "\n".join(wrong))

    def test_every_command_in_an_error_s_fix_is_one(self):
        count, wrong = 0, []
        for source in sources():
            lines = [(line, False) for line in fixes_in(source.read_text())]
            count += len(lines)
            wrong += self.mistakes_in(source.relative_to(ROOT), lines)
        self.assertGreater(count, 40)
        self.assertEqual([], wrong, "\n" + "\n".join(wrong))

    def test_every_command_has_examples_that_are_commands(self):
        table = examples()
        paths = [name for name, *_ in pages_below(self.tree.root)]
        self.assertEqual([], [name for name in paths if not table.get(name)])
        self.assertEqual([], sorted(set(table) - set(paths)),
                         "examples of commands that are not there")
        lines = [(re.sub(r"^source <\((.*)\)$", r"\1", line), True)
                 for below in table.values() for line in below]
        wrong = list(self.mistakes_in("examples.txt", lines))
        self.assertEqual([], wrong, "\n" + "\n".join(wrong))

    def test_help_begins_with_the_examples_and_has_every_flag(self):
        for name, path, page in pages_below(self.tree.root):
            if name in BECOMES:  # the other program's own
                continue
            text = said("frostline", *path, "--help")
            lines = "".join(f"  {line}\n" for line in examples()[name])
            self.assertTrue(text.startswith("Examples:\n" + lines), text)
            self.assertIn(page["summary"], text)
            self.assertEqual(1, len(re.findall("^Examples?:", text, re.M)),
                             f"{name}: examples belong in examples.txt")
            for flag in page["flags"] + self.tree.root["flags"]:
                if path and flag["name"] == "--version":
                    continue
                self.assertIn(flag["name"].split(", ")[-1], text, name)

    def test_completion_has_every_command_and_flag(self):
        for name, path, page in pages_below(self.tree.root):
            # What becomes another program has that one's flags: below.
            flags = self.offered(*path, "-") if name not in BECOMES else ()
            for flag in page["flags"] + self.tree.root["flags"]:
                if name not in BECOMES and not (
                        path and flag["name"] == "--version"):
                    self.assertIn(flag["name"].split(", ")[-1], flags, name)
            for command in page["commands"]:
                self.assertIn(command["name"], self.offered(*path, ""), name)
        for verb, other in self.tree.others.items():
            flags = self.offered(verb, "--")
            for flag in other["flags"]:
                self.assertIn(flag["name"].split(", ")[-1], flags, verb)

    @staticmethod
    def offered(*words):
        lines = said("frostline", "__complete", "--", *words).splitlines()
        return {line.split("\t")[0] for line in lines}

    def test_man_pages_have_every_flag(self):
        page = man_pages.man_page(self.tree.root, [])
        for name, path, below in pages_below(self.tree.root):
            for flag in below["flags"]:
                name_of_flag = flag["name"].split(", ")[-1]
                self.assertIn(man_pages.roff(name_of_flag), page, name)
            for line in examples()[name]:
                self.assertIn(man_pages.roff("  " + line), page)


if __name__ == "__main__":
    unittest.main()
