#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unpack_wheels.py WHEELS TARGET PREFIX...

Unpacks the members of all wheels in the folder WHEELS whose names start with
one of the prefixes. A wheel is a zip; nothing of it is run.
"""
import pathlib
import sys
import zipfile


def unpack(wheel, target, prefixes):
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.startswith(prefixes)]
        # extractall drops leading slashes and "..", so nothing lands outside.
        archive.extractall(target, names)
        for name in names:
            if archive.getinfo(name).external_attr >> 16 & 0o100:  # a program
                pathlib.Path(target, name).chmod(0o755)
    return len(names)


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    wheels, target, *prefixes = arguments
    found = sorted(pathlib.Path(wheels).glob("*.whl"))
    files = sum(unpack(wheel, target, tuple(prefixes)) for wheel in found)
    if files == 0:
        print(f"no file below {prefixes} in {len(found)} wheels", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
