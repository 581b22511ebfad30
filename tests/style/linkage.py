#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linkage.py FOLDER BINARY...: what the binaries load, as the dynamic linker
sees it. BINARY... are those that this build makes; the others are skipped."""
import pathlib
import re
import subprocess
import sys

# binary -> (what it must load, what it must not)
LINKAGE = {
    "frostline-trainer": (r"libtorch_cpu\.so",
                          r"libgrpc|libprotobuf\.so|libabsl|libsqlite3"),
    "frostline-coordinator": (r"libsqlite3\.so", r"libtorch|libc10"),
    "frostline-worker": (r"libgrpc", r"libtorch|libc10|libsqlite3"),
    "frostline-demo-trainer": (r"libc\.so", r"libtorch|libc10|libsqlite3"),
    "frostline": (r"libgrpc", r"libtorch|libc10|libsqlite3"),
}


def complaints(loaded, must, must_not):
    if not re.search(must, loaded):
        yield f"does not load {must}"
    for line in loaded.splitlines():
        if re.search(must_not, line.split("=>")[0]):
            yield f"loads {line.strip()}"
        if "not found" in line:
            yield line.strip()


def main(arguments):
    folder, built = pathlib.Path(arguments[0]), set(arguments[1:])
    passed = failed = skipped = 0
    for binary, (must, must_not) in LINKAGE.items():
        if binary not in built:
            skipped += 1
            print(f"SKIP {binary}: this build does not make it")
            continue
        run = subprocess.run(["ldd", folder / binary], capture_output=True,
                             text=True)
        found = list(complaints(run.stdout, must, must_not))
        if run.returncode != 0:
            found.append(run.stderr.strip())
        passed, failed = passed + (not found), failed + bool(found)
        print(f"{'FAIL' if found else 'PASS'} {binary}")
        for line in found:
            print(f"     {line}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
