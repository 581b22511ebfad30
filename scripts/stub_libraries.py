#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stub_libraries.py TREE: lets PyPI's torch load on a machine without CUDA's libraries.

Its wheel for Linux is linked to 2.5 GB of cuBLAS, cuDNN and others that nothing calls
on a CPU. For each library that is missing, one of its name is made beside libtorch.so
with the symbols and versions that are asked of it; each of its functions traps. What
PyTorch computes on a CPU is PyTorch's own."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed_by(library):
    """({library: versions asked of it}, names of libraries)"""
    versions = collections.defaultdict(set)
    file = ""
    for line in output("readelf", "-VW", library).splitlines():
        if "File: " in line:
            file = line.split("File: ")[1].split()[0]
        elif "Name: " in line and file and "Flags:" in line and "Version:" in line:
            versions[file].add(line.split("Name: ")[1].split()[0])
    named = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-dW", library))
    return versions, named


def symbols(library, which):
    """(name, version) of each; the version may be empty."""
    for line in output("nm", "-D", which, library).splitlines():
        kind, name = line.split()[-2:]
        if kind != "w":
            name, _, version = name.replace("@@", "@").partition("@")
            yield name, version


def make(folder, library, by_version):
    script = "".join("%s{ global: %s; };\n" % (version + " " if version else "", "; ".join(
        sorted(names))) for version, names in by_version.items())
    code = "".join(f"void {name}(void) {{ __builtin_trap(); }}\n"
                   for names in by_version.values() for name in sorted(names))
    with tempfile.TemporaryDirectory() as scratch:
        source, versions = pathlib.Path(scratch, "stub.c"), pathlib.Path(scratch, "stub.map")
        source.write_text(code)
        versions.write_text(script)
        subprocess.run(["gcc", "-x", "c", "-w", "-shared", "-fPIC", "-nostdlib", source,
                        f"-Wl,-soname,{library}", f"-Wl,--version-script,{versions}",
                        "-o", folder / library], check=True)


def main(tree):
    folder = pathlib.Path(tree, "torch", "lib")
    ours = sorted(folder.glob("lib*.so*"))
    there = {path.name for path in [*ours, *pathlib.Path(tree).glob("nvidia/*/lib/*")]}
    there |= set(re.findall(r"^\s+(\S+) ", output("/sbin/ldconfig", "-p"), re.MULTILINE))
    owner, missing = {}, set()
    for library in ours:
        versions, named = needed_by(library)
        missing |= set(named) - there
        owner.update({v: file for file, all_ in versions.items() for v in all_})
    wanted, free = collections.defaultdict(lambda: collections.defaultdict(set)), set()
    given = {name for path in [*ours, *pathlib.Path(tree).glob("nvidia/*/lib/*.so*")]
             for name, _ in symbols(path, "--defined-only")}
    for library in ours:
        for name, version in symbols(library, "--undefined-only"):
            if owner.get(version) in missing:
                wanted[owner[version]][version].add(name)
            elif not version and name not in given and re.match("cu|nccl|nv", name):
                free.add(name)
    missing.discard("libcuda.so.1")  # the driver: whoever finds it takes it for a GPU
    for library in sorted(missing):
        # Nothing says whose the symbols without a version are: each may have them.
        make(folder, library, wanted[library] or {"": free})
    print(f"made {len(missing)} libraries: {', '.join(sorted(missing))}")


if __name__ == "__main__":
    main(sys.argv[1])
