#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack_command.py FILE: the package `frostline` as one file that a Python runs as
frostline-command, for `frostline-worker --command`. Equal sources make equal bytes."""
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
EPOCH = (2020, 1, 1, 0, 0, 0)
# An old Python must be able to read it. Three lines, as command.py says them.
MAIN = '''# SPDX-License-Identifier: Apache-2.0
import sys
if sys.version_info < (3, 10):
    print("PY-1010: frostline-command needs Python 3.10 or later, and %s is %d.%d"
          % ((sys.executable,) + tuple(sys.version_info[:2])))
    print("--command\\nname another one: FROSTLINE_PYTHON=/path/to/python3")
    sys.exit(2)
from frostline.command import main
sys.exit(main())
'''


def pack(target):
    part = target.with_suffix(".part")
    files = {"__main__.py": MAIN.encode()}
    files.update({f"frostline/{path.name}": path.read_bytes()
                  for path in sorted((HERE / "frostline").glob("*.py"))})
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)
    part.replace(target)


if __name__ == "__main__":
    pack(pathlib.Path(sys.argv[1]))
