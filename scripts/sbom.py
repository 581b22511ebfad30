#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py [--bin FOLDER] [--output FILE]

Writes a CycloneDX 1.6 list (JSON) of what Frostline consists of and what it is made with:
the programs of FOLDER (build/bin) with their sums, the libraries that each loads, the
headers compiled into them, the page's modules, and what `./dev setup` fetches besides, for
tests and recordings, each with the hash that pins it. What no program or page has in it
has the scope `excluded`. The same tree and the same packages give the same bytes."""
import argparse
import base64
import functools
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import wheel  # noqa: E402
from build_server_wheel import package_of, said  # noqa: E402

package_of = functools.cache(package_of)  # each library is loaded by several programs

PROGRAMS = ("frostline", "frostline-coordinator", "frostline-worker", "frostline-demo-trainer",
            "frostline-trainer")
TESTED_WITH = {"nlohmann-json3-dev"}  # headers of the core's packages that tests alone have
BUNDLED = {"preact"}  # the page's modules that its bundle has in it
RUN_WITH = {"libtorch"}  # pins of what a program loads
OPENED = {"frostline-coordinator": "libpq5"}  # loaded where --store asks for it
LOCKS = ("dashboard", "tests/dashboard", "tests/deploy/kubernetes", "tests/python/inspector")
PIN = re.compile(r"([\w.\-]+)(?:\[[\w,]+\])?==(\S+) --hash=sha256:([0-9a-f]{64})")


def component(purl, name, version, scope, sums=(), **more):
    """A part of others; its purl is what dependencies call it."""
    one = {"type": "library", "bom-ref": purl, "name": name, "version": version,
           "scope": scope, "purl": purl, **more}
    if sums:
        one["hashes"] = [{"alg": kind, "content": content} for kind, content in sums]
    return one


class Materials:
    """The list while it is made: each part once, with the strongest of its scopes."""

    def __init__(self):
        self.parts = {}
        self.needs = {}

    def add(self, one):
        known = self.parts.setdefault(one["bom-ref"], one)
        if one.get("scope") == "required":
            known["scope"] = "required"
        for each in one.get("hashes", ()):
            if each not in known.setdefault("hashes", []):
                known["hashes"].append(each)
        return one["bom-ref"]

    def need(self, who, what):
        self.needs.setdefault(who, set()).add(what)


def add_pins(made):
    """Wheels, by requirements-*.txt. Returns those that the trainer loads."""
    loaded = []
    for path in sorted((ROOT / "scripts").glob("requirements-*.txt")):
        scope = "required" if path.stem.partition("-")[2] in RUN_WITH else "excluded"
        for name, version, sha256 in PIN.findall(path.read_text("utf-8")):
            purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
            made.add(component(purl, name, version, scope, [("SHA-256", sha256)]))
            if scope == "required":
                loaded.append(purl)
    return loaded


def add_modules(made):
    """npm's, by package-lock.json. Returns those that the page's bundle has in it."""
    bundled = []
    for folder in LOCKS:
        lock = json.loads((ROOT / folder / "package-lock.json").read_text("utf-8"))
        for path, entry in sorted(lock["packages"].items()):
            name = path.rpartition("node_modules/")[2]
            if not name or "integrity" not in entry:
                continue
            is_in = folder == "dashboard" and name in BUNDLED
            kind, _, digest = entry["integrity"].partition("-")
            purl = f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"
            more = {"licenses": [{"expression": entry["license"]}]} if "license" in entry else {}
            made.add(component(purl, name, entry["version"],
                               "required" if is_in else "excluded",
                               [(f"SHA-{kind[3:]}", base64.b64decode(digest).hex())], **more))
            if is_in:
                bundled.append(purl)
    return bundled


def add_go(made):
    """Go's modules, by go.sum and crds.txt. Their sums are of Go's own kind."""
    lines = (ROOT / "docs/how-to/grpc-client/go/go.sum").read_text("utf-8").splitlines()
    lines += (ROOT / "tests/deploy/kubernetes/crds.txt").read_text("utf-8").splitlines()
    for line in lines:
        words = line.split()
        if line.startswith("#") or words[1].endswith("/go.mod"):
            continue
        made.add(component(f"pkg:golang/{words[0]}@{words[1]}", words[0], words[1], "excluded",
                           properties=[{"name": "go.sum", "value": words[2]}]))


def deb(package, version, scope="required"):
    return component(f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}", package,
                     version, scope)


def version_of(package):
    try:
        return said("dpkg-query", "-W", "-f=${Version}", package)
    except subprocess.CalledProcessError:
        raise SystemExit(f"sbom: {package} is not installed: ./dev setup") from None


def add_headers(made, programs):
    """Packages of the core that have headers and no library: they are compiled in."""
    names = re.search(r"CORE_PACKAGES=\((.*?)\)", (ROOT / "scripts/setup.sh").read_text("utf-8"),
                      re.DOTALL)[1].split()
    for package in (name for name in names if name.endswith("-dev")):
        version = version_of(package)
        if re.search(r"\.(so|a)$", said("dpkg-query", "-L", package), re.MULTILINE):
            continue  # a library of its own
        used = package not in TESTED_WITH
        part = made.add(deb(package, version, "required" if used else "excluded"))
        for program in programs if used else ():
            made.need(program, part)


def add_libraries(made, path, program, torch):
    """What one program loads: packages of the distribution, and LibTorch."""
    for line in said("ldd", path).splitlines():
        name, _, place = line.strip().partition(" => ")
        place = place.split(" (")[0]
        if not place or "vdso" in name:
            continue
        package = package_of(place)
        if package:
            made.need(program, made.add(deb(*package)))
        elif "libtorch" in place or "site-packages" in place:
            for wheels in torch:
                made.need(program, wheels)
        else:
            raise SystemExit(f"sbom: {path.name} loads {name}, which no package has")


def materials(folder):
    made, version = Materials(), wheel.version()
    torch, bundled = add_pins(made), add_modules(made)
    add_go(made)
    programs = []
    for name in PROGRAMS:
        path = folder / name
        if not path.is_file():
            continue
        sums = [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]
        programs.append(made.add({"type": "application", "bom-ref": name, "name": name,
                                  "version": version, "scope": "required", "hashes": sums}))
        add_libraries(made, path, name, torch)
        if name in OPENED:
            package = OPENED[name]
            made.need(name, made.add(deb(package, version_of(package), "optional")))
    if not programs:
        raise SystemExit(f"sbom: {folder} has no programs: build first (./dev build)")
    add_headers(made, programs)
    for one in bundled:  # the coordinator serves the page
        made.need("frostline-coordinator", one)
    whole = {"type": "application", "bom-ref": "frostline", "name": "frostline",
             "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]}
    parts = [made.parts[ref] for ref in sorted(made.parts)]
    needs = [{"ref": "frostline", "dependsOn": sorted(programs)}]
    needs += [{"ref": ref, "dependsOn": sorted(made.needs[ref])} for ref in sorted(made.needs)]
    told = json.dumps([whole, parts, needs], sort_keys=True)
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, told)}",
            "metadata": {"component": whole}, "components": parts, "dependencies": needs}


def main():
    parser = argparse.ArgumentParser(prog="./dev sbom",
                                     description=__doc__.partition("\n\n")[2])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--output", "-o", type=pathlib.Path)
    options = parser.parse_args()
    text = json.dumps(materials(options.bin), indent=1) + "\n"
    if options.output:
        options.output.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
