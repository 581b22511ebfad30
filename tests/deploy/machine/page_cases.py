#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_cases.py BIN: what completions must know, by the programs' own help.

Prints a line "frostline study create --dr<TAB>--dry-run" for every command and
flag. `--help`, which is for people, is read, and not the JSON that the pages
are made of; so what that JSON leaves out is found missing."""
import pathlib
import re
import subprocess
import sys

FLAG = re.compile(r"^  (-\w,? ?)?(--[\w-]+)", re.M)


def help_of(words):
    return subprocess.run([*words, "--help"], check=True, timeout=60,
                          capture_output=True, text=True).stdout


def commands_in(text):
    """The names below "Subcommands:"."""
    _, _, below = text.partition("Subcommands:\n")
    below = below.split("\n\n")[0]
    return re.findall(r"^  ([a-z][\w-]*)", below, re.M)


def cases(program, path):
    text = help_of([program, *path])
    name = " ".join([pathlib.Path(program).name, *path])
    for _, flag in FLAG.findall(text):
        yield f"{name} {flag[:-1] if len(flag) > 4 else flag}\t{flag}"
    if path in (["serve"], ["worker"]):
        return
    for command in commands_in(text):
        yield f"{name} {command[0]}\t{command}"
        yield from cases(program, path + [command])


def main(arguments):
    folder = pathlib.Path(arguments[0])
    for program in ("frostline", "frostline-coordinator", "frostline-worker"):
        for line in cases(str(folder / program), []):
            print(line)
    for verb in ("list", "drain", "invite", "revoke"):
        print(f"frostline worker {verb[0]}\t{verb}")
        for line in cases(str(folder / "frostline"), ["worker", verb]):
            print(line)


main(sys.argv[1:])
