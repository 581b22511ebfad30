# SPDX-License-Identifier: Apache-2.0
"""Objects held against the definitions that KEDA and cert-manager install, with
ajv. A cluster drops what these do not know, so here it is a mistake."""
import json
import shutil
import subprocess

import typed
import yaml

PINS = typed.HERE / "crds.txt"
# Reads pairs of a schema and an object, prints what is wrong with each.
VALIDATE = """
const Ajv = require(process.argv[1]);
const pairs = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(pairs.map(([schema, item]) => {
  const check = new Ajv({strict: false, validateFormats: false}).compile(schema);
  return check(item) ? [] : check.errors.map((one) =>
    `${one.instancePath} ${one.message} ${JSON.stringify(one.params)}`);
})));
"""


def folder():
    return typed.cached("kubernetes-crds", PINS)


def missing():
    """What this machine lacks, or None."""
    if not folder().is_dir():
        return f"there is no {folder()}"
    return typed.missing()


def closed(schema):
    """The schema, but nothing may be there that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {key: closed(value) for key, value in schema.items()}
    names = schema.get("properties")
    if isinstance(names, dict) and schema.get("type") == "object":
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            shut.setdefault("additionalProperties", False)
    return shut


def schemas():
    """By apiVersion and kind."""
    found = {}
    for path in sorted(folder().glob("*.yaml")):
        for one in filter(None, yaml.safe_load_all(path.read_text())):
            for version in one["spec"]["versions"]:
                found[f"{one['spec']['group']}/{version['name']}",
                      one["spec"]["names"]["kind"]] = closed(
                          version["schema"]["openAPIV3Schema"])
    return found


def complaints(items):
    """What ajv says of each, as a list beside `items`."""
    known = schemas()
    pairs = [(known[item["apiVersion"], item["kind"]], item) for item in items]
    done = subprocess.run(
        [shutil.which("node"), "-e", VALIDATE,
         typed.modules() / "ajv/dist/ajv.js"], input=json.dumps(pairs),
        capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
