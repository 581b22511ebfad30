# SPDX-License-Identifier: Apache-2.0
"""A YAML text against a JSON Schema, as an editor does it."""
import re
import sys

from world import wheels

sys.path.insert(0, str(wheels()))

import jsonschema  # noqa: E402
import yaml  # noqa: E402


class Core(yaml.SafeLoader):
    """YAML 1.2's core schema, which editors read: `no` is text, 2e-5 a number."""


Core.yaml_implicit_resolvers = {}
for kind, pattern, first in (
        ("bool", "true|false", "tf"),
        ("null", "null|~|", ["n", "~", ""]),
        ("int", "[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
         "-+.0123456789")):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{kind}",
                               re.compile(f"^(?:{pattern})$"), list(first))
# YAML 1.1 reads 010 as eight.
Core.add_constructor("tag:yaml.org,2002:int",
                     lambda loader, node: int(loader.construct_scalar(node)))
Core.add_constructor("tag:yaml.org,2002:float",
                     lambda loader, node: float(loader.construct_scalar(node)))


def judge(schema, text):
    """What is wrong, in words; nothing where all is right."""
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    return [error.message
            for error in validator.iter_errors(yaml.load(text, Core))]
