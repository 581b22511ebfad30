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
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(sys.argv.pop(1)).resolve()
BECOMES = {"serve": "frostline-coordinator", "worker": "frostline-worker"}
sys.path.insert(0, str(ROOT / "scripts"))
import pages  # noqa: E402

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.M | re.S)
INLINE = re.compile(r'`(frostline [^`"]+)`')
INDENTED = re.compile(r"^(?: {4,}[^\n]*\n)+", re.M)
# What ends a command in a shell.
ENDS = re.compile(r"^(\||\|\||&|&&|;|>|>>|<|2>|#.*|\))$")
# Notation of a reference: [--flag X], A|B, "…".
USAGE = re.compile(r"(^| )\[|\]( |$)|[{}|]|(^| )(…|\.\.\.)")
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]*\b|<\w+>")


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


def cut(line):
    """The words of one command, without what a shell takes for itself."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = []
    for word in lexer:
        if ENDS.match(word):
            break
        words.append(word)
    return words


def commands_in(text):
    """(line, is whole) of each command a page shows."""
    blocks = [block for _, _, block in FENCE.findall(text)]
    for block in blocks + INDENTED.findall(text):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = re.sub(r"^[\w=./:-]*(?<==)\S+ ", "", line.strip())
            line = re.sub(r"^(\$ |sudo |exec |time )+", "", line)
            if re.match("frostline [a-z-]", line):
                yield line, True
    for line in INLINE.findall(FENCE.sub("", text)):
        yield line.replace("\n", " "), False


def fixes_in(source):
    """Commands between backticks of a source's texts. A text that is made of
    pieces has X where a value stands."""
    code = re.sub(r"^\s*//.*$", "", source, flags=re.M)
    code = re.sub(r'"\s*\n\s*"', "", code)
    code = re.sub(r'",\s*[^";{}]+?,\s*"', "X", code)
    return INLINE.findall(re.sub(r'"[^"`]*$', '"', code))


def words_of(line):
    """The words, and whether they are a usage with its notation."""
    is_usage = USAGE.search(re.sub(r"'[^']*'|\"[^\"]*\"|\| .*", "", line))
    if is_usage:
        line = re.sub(r"(^| )\[", " ", re.sub(r"\](?= |$)", " ", line))
        line = re.sub(r"\.\.\.|…| \\?\| ", " ", line)
    try:
        return cut(line)[1:], bool(is_usage)
    except ValueError:  # a quotation that ends on another line
        return line.split("'")[0].split('"')[0].split()[1:], True


def examples():
    """path -> its lines, of the file that is built into the program."""
    table, below = {}, None
    for line in (ROOT / "cli/help/examples.txt").read_text().splitlines():
        if line.startswith(" "):
            below.append(line.strip())
        elif line and not line.startswith("#"):
            below = table.setdefault(line, [])
    return table


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
        pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
        count, wrong = 0, []
        for page in pages:
            lines = list(commands_in(page.read_text()))
            count += len(lines)
            wrong += self.mistakes_in(page.relative_to(ROOT), lines)
        self.assertGreater(count, 150)
        self.assertEqual([], wrong, "\n" + "\n".join(wrong))

    def test_every_command_in_an_error_s_fix_is_one(self):
        sources = [path for room in ("base", "cli", "server", "storage",
                                     "study", "tls", "worker", "proto")
                   for path in sorted((ROOT / room).rglob("*.cc"))]
        count, wrong = 0, []
        for source in sources:
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
        page = pages.man_page(self.tree.root, [])
        for name, path, below in pages_below(self.tree.root):
            for flag in below["flags"]:
                self.assertIn(pages.roff(flag["name"].split(", ")[-1]), page,
                              name)
            for line in examples()[name]:
                self.assertIn(pages.roff("  " + line), page)


if __name__ == "__main__":
    unittest.main()
