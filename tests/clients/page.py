# SPDX-License-Identifier: Apache-2.0
"""The page on clients: its sections, and the blocks of code in them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "grpc-client.md"
FOLDER = ROOT / "docs" / "how-to" / "grpc-client"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(title):
    """What stands below a heading of two or three signs, up to the next."""
    parts = re.split(r"^##+ (.*)$", PAGE.read_text(), flags=re.MULTILINE)
    return parts[parts.index(title) + 1]


def blocks(text, language):
    return [body for kind, body in BLOCK.findall(text) if kind == language]


def commands(title):
    """The lines of a section's shell block, without what installs packages."""
    return [line for line in blocks(section(title), "sh")[0].splitlines()
            if not line.startswith("pip install ")]
