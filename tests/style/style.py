#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""style.py [ROOT]: the rules of the house, applied to a checkout. One test for
each rule; the shape of the tree is reported."""
import pathlib
import sys

import arrows
import hygiene
import names
import shape
from tree import read_tree

RULES = (
    arrows.check_arrows,
    arrows.check_floors,
    arrows.check_order_of_floors,
    arrows.check_links,
    arrows.check_fences,
    names.check_names,
    names.check_namespaces,
    hygiene.check_dead_files,
    hygiene.check_leftovers,
    hygiene.check_refusals,
    hygiene.check_licence_lines,
    hygiene.check_readmes,
    hygiene.check_places,
    hygiene.check_data,
    hygiene.check_python_names,
    shape.check_readme_names,
)


def violations(root):
    """{rule: its findings} for every rule, broken or not."""
    files = read_tree(root)
    return {rule: list(rule(files)) for rule in RULES}


def main(arguments):
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(arguments[0]) if arguments else here.parents[2]
    for line in shape.report(read_tree(root)):
        print(line)
    broken = 0
    for rule, findings in violations(root).items():
        print(f"{'FAIL' if findings else 'PASS'} {rule.__doc__}")
        for finding in findings:
            print(f"     {finding}")
        broken += bool(findings)
    print(f"{len(RULES) - broken} passed, {broken} failed, 0 skipped")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
