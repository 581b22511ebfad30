# SPDX-License-Identifier: Apache-2.0
"""The `frostline …` commands that pages, error fixes and examples show."""
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.M | re.S)
INLINE = re.compile(r'`(frostline [^`"]+)`')
INDENTED = re.compile(r"^(?: {4,}[^\n]*\n)+", re.M)
# What ends a command in a shell.
ENDS = re.compile(r"^(\||\|\||&|&&|;|>|>>|<|2>|\))$")
# Notation of a reference: [--flag X], A|B, "…".
USAGE = re.compile(r"(^| )\[|\]( |$)|[{}|]|(^| )(…|\.\.\.)")
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]*\b|<\w+>")
# A command within a substitution or a loop: the shell gets the whole line.
INSIDE = re.compile(r"^(source|\(|for ).*[(;] *(do )?frostline [a-z]")
# A program of another machine runs it there.
ELSEWHERE = re.compile(r"(?:kubectl|podman) [^`\n]*(?:-- |--entrypoint )"
                       r"frostline [^`\n]*")
ROOMS_WITH_ERRORS = ("base", "cli", "server", "storage", "study", "tls",
                     "worker", "proto")


def pages():
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")),
            *sorted(ROOT.glob("recipes/**/README.md"))]


def sources():
    return [path for room in ROOMS_WITH_ERRORS
            for path in sorted((ROOT / room).rglob("*.cc"))]


def cut(line):
    """The words of one command, without what a shell takes for itself."""
    line = re.sub(r"(^|\s)#\s.*", "", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    for word in lexer:
        if ENDS.match(word):
            break
        words.append(word)
    return words


def blocks_in(text):
    """The blocks of code of a page, as lists of lines."""
    blocks = [block for _, _, block in FENCE.findall(text)]
    for block in blocks + INDENTED.findall(FENCE.sub("", text)):
        lines = re.sub(r"\\\n\s*", "", block).splitlines()
        yield [line.strip() for line in lines]


def commands_of(block):
    for line in block:
        line = re.sub(r"^[\w=./:-]*(?<==)\S+ ", "", line)
        line = re.sub(r"^(\$ |sudo |exec |time )+", "", line)
        if re.match("frostline [a-z-]", line):
            yield line


def scripts_of(block):
    """The same, and lines of a shell that has them inside."""
    for line in block:
        yield from [line] if INSIDE.search(line) else commands_of([line])


def named_in(text):
    """Commands within sentences."""
    for line in INLINE.findall(FENCE.sub("", text)):
        yield line.replace("\n", " ")


def commands_in(text):
    """(line, is whole) of each command a page shows."""
    for block in blocks_in(text):
        yield from ((line, True) for line in commands_of(block))
    yield from ((line, False) for line in named_in(text))


def fixes_in(source):
    """Commands between backticks of a source's texts. A text that is made of
    pieces has X where a value stands."""
    code = re.sub(r"(^\s*|  )//.*$", "", source, flags=re.M)
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
