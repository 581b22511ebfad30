# SPDX-License-Identifier: Apache-2.0
"""Objects held against real types: each is printed as an object literal of its
type, and tsc --strict knows what may not be there."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "support"))

from fetched import cached  # noqa: E402

# apiVersion's group -> the package that has its types.
PACKAGES = {"apps": "kubernetes-models", "v1": "kubernetes-models",
            "policy": "kubernetes-models",
            "networking.k8s.io": "kubernetes-models",
            "keda.sh": "@kubernetes-models/keda",
            "cert-manager.io": "@kubernetes-models/cert-manager",
            "monitoring.coreos.com": "@kubernetes-models/prometheus-operator"}


def modules():
    return cached("kubernetes-types",
                  HERE / "package-lock.json") / "node_modules"


def missing():
    """What this machine lacks, or None."""
    if not shutil.which("node"):
        return "there is no node"
    return None if modules().is_dir() else f"there is no {modules()}"


def has_types(item):
    return item["apiVersion"].split("/")[0] in PACKAGES


def complaints(items):
    """What tsc says of each, as a list beside `items`: nothing of those that
    are right."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "node_modules").symlink_to(modules())
        (folder / "package.json").write_text('{"type": "module"}')
        names = []
        for number, item in enumerate(items):
            package = PACKAGES[item["apiVersion"].split("/")[0]]
            names.append(f"x{number}.ts")
            (folder / names[-1]).write_text(
                f'import type {{ I{item["kind"]} as T }} from '
                f'"{package}/{item["apiVersion"]}";\n'
                f"export const x: T = {json.dumps(item, indent=1)};\n")
        done = subprocess.run(
            ["node", modules() / "typescript/bin/tsc", "--noEmit", "--strict",
             "--skipLibCheck", "--target", "es2022", "--module", "nodenext",
             *names], cwd=folder, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    said = [[line for line in lines if line.startswith(name + "(")]
            for name in names]
    if done.returncode != 0 and not any(said):
        raise RuntimeError(done.stdout + done.stderr)
    return said
