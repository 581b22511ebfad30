#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py FOLDER [NAME [--json] [--quick] [FLAGS]]: runs the benchmark
FOLDER/NAME and prints its figures with what machine they are from; without
NAME, lists what there is. FLAGS are the benchmark's own."""
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def names(folder):
    return sorted(f.name for f in folder.glob("*")
                  if f.is_file() and os.access(f, os.X_OK))


def first_line(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return "unknown"
    lines = run.stdout.splitlines()
    return lines[0] if run.returncode == 0 and lines else "unknown"


def proc_field(path, key):
    """The value after "key :" in a file like /proc/cpuinfo."""
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return "unknown"


def machine():
    memory = proc_field("/proc/meminfo", "MemTotal").split()[0]
    dirty = first_line("git", "status", "--porcelain", "-uno") != "unknown"
    return {
        "cpu": proc_field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_mib": int(memory) // 1024 if memory.isdigit() else None,
        "system": f"{platform.system()} {platform.release()}",
        "compiler": first_line("c++", "--version"),
        "commit": first_line("git", "rev-parse", "--short=12", "HEAD")
        + ("+changes" if dirty else ""),
    }


def run_bench(program, flags):
    """The figures that the program printed, one JSON object a line."""
    run = subprocess.run([program, *flags], stdout=subprocess.PIPE, text=True)
    figures = {}
    for line in run.stdout.splitlines():
        if line.startswith("{"):
            figures.update(json.loads(line))
        else:
            print(line, file=sys.stderr)
    return run.returncode, figures


def main(arguments):
    folder, *rest = arguments
    folder = pathlib.Path(folder)
    known = names(folder)
    if not rest:
        print("\n".join(known))
        return 0
    name, *flags = rest
    if name not in known:
        print(f"bench: there is no {name}; there is: {', '.join(known)}",
              file=sys.stderr)
        return 2
    status, figures = run_bench(folder / name,
                                [f for f in flags if f != "--json"])
    if status != 0 or not figures:
        print(f"bench: {name} ended with {status} and "
              f"{len(figures)} figures", file=sys.stderr)
        return 1
    if "--json" in flags:
        print(json.dumps({"bench": name, "machine": machine(),
                          "figures": figures}))
    else:
        for key, value in {**machine(), **figures}.items():
            print(f"{key:32} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
