# SPDX-License-Identifier: Apache-2.0
"""The files of a checkout, and what the rules need to know of one."""
import os
import pathlib
import re

CODE = (".cc", ".h")
SKIPPED_FOLDERS = re.compile(r"^(\.(?!ci$).*|build(-.*)?|__pycache__|node_modules)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


class File:
    """One file; `path` is relative to the root, with '/'."""

    def __init__(self, root, path):
        self.path = path
        self.name = path.rsplit("/", 1)[-1]
        self.suffix = pathlib.PurePosixPath(path).suffix
        self.folder = path.rpartition("/")[0]
        full = root / path
        self.size = full.stat().st_size
        data = full.read_bytes() if self.size <= 4 << 20 else b"\0"
        self.is_text = b"\0" not in data[:8192]
        self.text = data.decode("utf-8", "replace") if self.is_text else ""
        self.lines = self.text.splitlines()

    def includes(self):
        """(line number, path, whether in quotes) of every include."""
        for match in INCLUDE.finditer(self.text):
            line = self.text.count("\n", 0, match.start(2)) + 1
            yield line, match.group(2), match.group(1) == '"'

    def code(self):
        """The text with comments and strings blanked, line numbers kept."""
        return COMMENT_OR_STRING.sub(
            lambda m: "\n" * m.group(0).count("\n"), self.text)

    def is_script(self):
        return self.suffix in (".sh", ".py") or self.path in ("dev", ".ci/run")

    def is_cmake(self):
        return self.name == "CMakeLists.txt" or self.suffix == ".cmake"


def read_tree(root):
    """All files below `root` that are ours, in order of path."""
    root = pathlib.Path(root)
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not SKIPPED_FOLDERS.match(f)]
        for name in names:
            full = pathlib.Path(folder, name)
            path = full.relative_to(root).as_posix()
            if full.is_file() and not full.is_symlink() and path != ".git":
                files.append(File(root, path))
    return sorted(files, key=lambda f: f.path)
