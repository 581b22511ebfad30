#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py BIN OUT: makes man pages and completions of what the programs say.

BIN has frostline, frostline-coordinator and frostline-worker. Their own tables
of commands and flags (`frostline help --json`, `--help=json` of the others) are
all that is read, so a page can name no flag that is not there and leave out
none. OUT gets man1/*.1, bash/*, zsh/_* and fish/*.fish. frostline prints its
own completions, which ask it again while a person types; those of the others
are made here.
"""
import json
import pathlib
import subprocess
import sys

PROGRAMS = ("frostline", "frostline-coordinator", "frostline-worker")
# `frostline serve` and `frostline worker` become another program.
BECOMES = {"serve": "frostline-coordinator", "worker": "frostline-worker"}


def ask(program, *words):
    return subprocess.run([program, *words], check=True, timeout=60,
                          capture_output=True, text=True).stdout


def names(flag):
    """("-o", "--out") of "-o, --out"."""
    return flag["name"].split(", ")


def kind(flag):
    """What completes a flag's value: files, dirs, a list of words, "" for what
    nobody can know, None for a switch."""
    value = flag["value"]
    if not value:
        return None
    if value in ("DIR", "FOLDER"):
        return "dirs"
    if value in ("FILE", "PATH"):
        return "files"
    words = [word for word in value.replace(",", "|").strip("{}[]").split("|")
             if word and not word.isupper()]
    return words if "|" in value else ""


def tree(page, path=(), around=()):
    """(path, commands, flags, takes files) of a page and all below it. `around`
    are flags of the program that any command takes."""
    flags = page["flags"] + [flag for flag in around
                             if not named(page["flags"], names(flag)[-1])]
    files = any(kind({"value": word["name"].strip("[]")}) or
                kind(word) in ("files", "dirs") for word in page["words"])
    yield path, page["commands"], flags, files
    inherited = around or page["flags"]
    for command in page["commands"]:
        yield from tree(command, path + (command["name"],), inherited)


def named(flags, name):
    return any(name in names(flag) for flag in flags)


def levels(program, pages):
    """All places of a program: (path, commands, flags, takes files)."""
    yield from tree(pages[program])


# Man pages.

def roff(text):
    """Text as roff takes it: no line may begin as a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line
                     for line in text.split("\n"))


def verbatim(text):
    return ".nf\n" + roff(text.rstrip("\n")) + "\n.fi\n"


def flag_entry(flag):
    head = "\\fB" + roff(flag["name"]).replace(", ", "\\fR, \\fB") + "\\fR"
    if flag["value"]:
        head += " \\fI" + roff(flag["value"]) + "\\fR"
    notes = []
    if flag["default"]:
        notes.append("Default: " + flag["default"] + ".")
    if flag["variable"]:
        notes.append("Else $" + flag["variable"] + ".")
    if flag["repeats"]:
        notes.append("May be repeated.")
    help_text = flag["help"]
    if notes and help_text and help_text[-1] not in ".!?":
        help_text += "."
    return ".TP\n" + head + "\n" + \
        roff(" ".join([help_text, *notes]).strip() or "\u2013") + "\n"


def examples(page):
    """What a page's text begins with."""
    return verbatim(page["footer"]) + ".PP\n" if page["footer"] else ""


def command_entry(page, path, common):
    """A command with its words and flags, and what is below it."""
    line = " ".join(("frostline",) + path)
    usage = " ".join([line] + [word["name"] for word in page["words"]])
    text = ".SS " + roff(usage) + "\n" + examples(page) + \
        roff(page["summary"]) + ".\n"
    if path[-1] in BECOMES and len(path) == 1:
        text += ".PP\nAll that \\fB" + roff(BECOMES[path[0]]) + \
            "\\fR(1) takes may follow.\n"
    for flag in page["words"] + page["flags"]:
        if flag["name"] != "-h, --help" and flag not in common:
            text += flag_entry(flag)
    for command in page["commands"]:
        text += command_entry(command, path + (command["name"],), common)
    return text


def man_page(page, extra):
    title = page["name"].upper()
    text = f'.TH {roff(title)} 1 "" "Frostline {page["version"]}" "Frostline"\n'
    text += ".SH NAME\n" + roff(page["name"]) + " \\- " + \
        roff(page["summary"].rstrip(".")) + "\n.SH SYNOPSIS\n.B " + \
        roff(page["name"]) + "\n"
    text += "[\\fIflags\\fR] \\fIcommand\\fR ...\n" if page["commands"] \
        else "[\\fIflags\\fR]\n"
    if page["footer"]:
        text += ".SH EXAMPLES\n" + verbatim(page["footer"])
    text += ".SH DESCRIPTION\n" + roff(page["summary"]) + "\n"
    text += ".SH OPTIONS\n" + "".join(flag_entry(f) for f in page["flags"])
    if page["commands"]:
        text += ".SH COMMANDS\n" + "".join(
            command_entry(command, (command["name"],), page["flags"])
            for command in page["commands"])
    for heading, body in extra:
        text += f".SH {heading}\n" + verbatim(body)
    others = [name for name in PROGRAMS if name != page["name"]]
    text += ".SH SEE ALSO\n" + ",\n".join(
        f"\\fB{roff(name)}\\fR(1)" for name in others) + "\n"
    return text


# Completions. Each shell walks down the commands that were typed, and offers
# what the place it reached has.

def words_of(commands, flags):
    return [command["name"] for command in commands] + \
        [name for flag in flags for name in names(flag)]


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


BASH = """# Completes {program}. Made by scripts/pages.py of the program's own tables.
_{function}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local at={program} word i skip=''
  local -A offers=() takes=()
{tables}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    if [ -n "$skip" ]; then skip=''; continue; fi
    if [ -n "${{takes["$at $word"]+x}}" ]; then skip=1; continue; fi
    [ -z "${{offers["$at $word"]+x}}" ] || at="$at $word"
  done
  if [ -n "${{takes["$at $prev"]+x}}" ]; then
    case ${{takes["$at $prev"]}} in
      files) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
      dirs) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
      *) mapfile -t COMPREPLY < <(compgen -W "${{takes["$at $prev"]}}" -- "$cur") ;;
    esac
    compopt -o filenames 2>/dev/null || true
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "${{offers["$at"]}}" -- "$cur")
  [ "${{#COMPREPLY[@]}}" -gt 0 ] || [[ $cur == -* ]] ||
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}}
complete -F _{function} {program}
"""

ZSH = """#compdef {program}
# Completes {program}. Made by scripts/pages.py of the program's own tables.
_{function}() {{
  local at={program} word skip='' key i
  local -A offers takes
{tables}
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $skip ]]; then skip=''; continue; fi
    key="$at $word"
    if (( $+takes[$key] )); then skip=$key; continue; fi
    if (( $+offers[$key] )); then at=$key; fi
  done
  local -a entries
  if [[ -n $skip ]]; then
    case $takes[$skip] in
      files) _files ;;
      dirs) _files -/ ;;
      ?*) entries=(${{=takes[$skip]}}); compadd -a entries ;;
    esac
    return
  fi
  entries=("${{(@f)offers[$at]}}")
  _describe {program} entries || _files
}}
_{function} "$@"
"""

FISH_HEAD = """# Completes {program}. Made by scripts/pages.py of the program's own tables.
function __{function}_at
    set -l at {program}
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
        else if contains -- "$at $word" $__{function}_takes
            set skip 1
        else if contains -- "$at $word" $__{function}_places
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
"""


def place(program, path):
    return " ".join((program, *path))


def completion_tables(program, pages):
    """What is offered at each place: [(place, commands, flags)]; what completes
    a flag's value there: [("place --flag", words)]."""
    offers, takes = [], []
    for path, commands, flags, _ in levels(program, pages):
        at = place(program, path)
        offers.append((at, commands, flags))
        for flag in flags:
            value = kind(flag)
            if value is not None:
                text = " ".join(value) if isinstance(value, list) else value
                takes += [(f"{at} {name}", text) for name in names(flag)]
    return offers, takes


def bash_completion(program, pages):
    offers, takes = completion_tables(program, pages)
    lines = [f"  offers[{quoted(at)}]="
             f"{quoted(' '.join(words_of(commands, flags)))}"
             for at, commands, flags in offers]
    lines += [f"  takes[{quoted(at)}]={quoted(text)}" for at, text in takes]
    return BASH.format(program=program, tables="\n".join(lines),
                       function=program.replace("-", "_"))


def zsh_completion(program, pages):
    offers, takes = completion_tables(program, pages)
    lines = ["  offers=("]
    for at, commands, flags in offers:
        entries = [(c["name"], c["summary"]) for c in commands] + \
            [(name, flag["help"]) for flag in flags for name in names(flag)]
        text = "\n".join(name + ":" + text.replace("\\", "\\\\")
                         .replace(":", "\\:").replace("\n", " ")
                         for name, text in entries)
        lines.append(f"    {quoted(at)} {quoted(text)}")
    lines.append("  )\n  takes=(")
    lines += [f"    {quoted(at)} {quoted(text)}" for at, text in takes]
    lines.append("  )")
    return ZSH.format(program=program, tables="\n".join(lines),
                      function=program.replace("-", "_"))


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_completion(program, pages):
    function = program.replace("-", "_")
    places, takes, lines = [], [], [f"complete -c {program} -f"]
    for path, commands, flags, files in levels(program, pages):
        at = place(program, path)
        places.append(fish_quoted(at))
        here = f"complete -c {program} -n " + \
            fish_quoted(f"__{function}_at {fish_quoted(at)}")
        for command in commands:
            lines.append(f"{here} -a {command['name']} "
                         f"-d {fish_quoted(command['summary'])}")
        if files:
            lines.append(f"{here} -F")
        for flag in flags:
            value, line = kind(flag), here
            for name in names(flag):
                line += f" -l {name[2:]}" if name.startswith("--") \
                    else f" -s {name[1:]}"
                if value is not None:
                    takes.append(fish_quoted(at + " " + name))
            line += f" -d {fish_quoted(flag['help'])}"
            if value in ("files", "dirs"):
                line += " -r -F"
            elif value is not None:
                line += " -x"
                if isinstance(value, list):
                    line += " -a " + fish_quoted(" ".join(value))
            lines.append(line)
    return (FISH_HEAD.format(program=program, function=function) +
            f"set -g __{function}_places {' '.join(places)}\n" +
            f"set -g __{function}_takes {' '.join(takes)}\n" +
            "\n".join(lines) + "\n")


def extras(bin_folder, program):
    """Sections that are text already: (heading, text)."""
    frostline = str(bin_folder / "frostline")
    sections = [("EXIT STATUS", ask(frostline, "help", "exit-codes"))]
    if program == "frostline":
        sections.append(("ENVIRONMENT", ask(frostline, "help", "environment")))
    return sections


SHELLS = (("bash", "{}", bash_completion), ("zsh", "_{}", zsh_completion),
          ("fish", "{}.fish", fish_completion))


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    bin_folder, out = (pathlib.Path(word) for word in arguments)
    pages = {}
    for program in PROGRAMS:
        words = ("help", "--json") if program == "frostline" \
            else ("--help=json",)
        pages[program] = json.loads(ask(str(bin_folder / program), *words))
    made = {}
    for program, page in pages.items():
        made[f"man1/{program}.1"] = man_page(page, extras(bin_folder, program))
        for shell, name, make in SHELLS:
            made[f"{shell}/{name.format(program)}"] = \
                ask(str(bin_folder / program), "completion", shell) \
                if program == "frostline" else make(program, pages)
    for name, text in made.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
