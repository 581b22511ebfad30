# SPDX-License-Identifier: Apache-2.0
"""What is run of the docs, in which order, and as which words of a shell."""
import dataclasses
import functools
import re

import doc_tables as tables
from doc_commands import (ELSEWHERE, ROOT, blocks_in, examples, fixes_in,
                          named_in, pages, scripts_of, sources)

COMMENT = re.compile(r"\s+#\s.*$")
OPTIONAL = re.compile(r" \[[^]]*\](…)?(?= |$)|\[/N\]")


@dataclasses.dataclass(frozen=True)
class Command:
    text: str
    stays: bool = False  # in the background, while what follows it is run

    @classmethod
    def read(cls, line):
        text = COMMENT.sub("", line).rstrip()
        return cls(text.removesuffix("&").rstrip(), text.endswith("&"))

    def stages(self):
        """(which of STANDS_FOR fitted or None, the words so far)."""
        script = OPTIONAL.sub("", self.text)
        script += " " + tables.ENDS_WITH.get(self.text, "")
        yield None, script.rstrip()
        for pattern, words in tables.STANDS_FOR:
            script, count = re.subn(pattern, words, script.rstrip())
            yield pattern if count else None, script

    @functools.cached_property
    def script(self):
        """What a shell is given."""
        return list(self.stages())[-1][1]

    @property
    def excuse(self):
        """Why it is not run, and what runs it instead."""
        return next((f"{why}: {test}" for pattern, why, test in tables.EXCEPTED
                     if re.search(pattern, self.text)), None)

    @functools.cached_property
    def before(self):
        """What has to be done first."""
        return [preparation for pattern, preparation in tables.BEFORE
                if re.search(pattern, self.script)]

    @property
    def serves(self):
        return self.stays and self.script.startswith("frostline serve")

    @property
    def is_endless(self):
        return bool(tables.ENDLESS.search(self.script))

    @property
    def code(self):
        return next((code for pattern, code, _ in tables.CODES
                     if re.search(pattern, self.script)), 0)

    def does(self, pattern):
        return any(map(pattern.search, [self.script, *self.before]))


@dataclasses.dataclass
class Group:
    """The commands of a block of a page, one after the other in one world; a
    command that changes something; or all that change nothing."""
    title: str
    commands: list

    @property
    def changes(self):
        """Others would see it: it takes a coordinator of its own."""
        return not any(c.serves for c in self.commands) and any(
            c.does(tables.CHANGES) or c.does(tables.TAKES_WORKERS)
            for c in self.commands)

    @property
    def takes_workers(self):
        return any(c.does(tables.TAKES_WORKERS) for c in self.commands)


def blocks():
    """Without those whose every line another one has, too."""
    seen = set()
    for page in pages():
        for block in blocks_in(page.read_text()):
            commands = [Command.read(line) for line in scripts_of(block)]
            if set(commands) - seen:
                seen |= set(commands)
                yield Group(str(page.relative_to(ROOT)), commands)


def lines_elsewhere():
    """(line, where it stands) of those that are not lines of a block."""
    for page in pages():
        for line in [*named_in(page.read_text()),
                     *ELSEWHERE.findall(page.read_text())]:
            yield line, page.relative_to(ROOT)
    for name, lines in examples().items():
        yield from ((line, f"example of {name}") for line in lines)
    for source in sources():
        for line in fixes_in(source.read_text()):
            yield line, source.relative_to(ROOT)


def groups():
    found = list(blocks())
    seen = {command.text for group in found for command in group.commands}
    reads = Group("what changes nothing", [])
    for line, place in lines_elsewhere():
        command = Command.read(line)
        if command.text in seen:
            continue
        seen.add(command.text)
        if command.does(tables.CHANGES) or command.does(tables.WRITES) or \
                command.does(tables.TAKES_WORKERS):
            found.append(Group(str(place), [command]))
        else:
            reads.commands.append(command)
    return [*found, reads]
