#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one table of frozen depths from what studies recorded.

usage: pack_depths.py --out FILE STUDY.json=TRIALS.json...

The files are those of pack.py, of studies that search prefix_depth and have other
training seeds. The form is that of tests/bench/search/data/README.md: a line has a
point at all its depths, run with one seed. A point that was not run at each depth
is left out. A parameter that has no value at a depth changes nothing there: the run
counts for all its values.
"""
import argparse
import itertools
import json
import pathlib

from pack import number

DEPTH = "prefix_depth"


def runs_of(trials):
    """What each trial ran and showed: values by name, accuracy, seconds."""
    for trial in trials:
        if trial["state"] != "TRIAL_STATE_SUCCEEDED":
            continue
        values = {p["name"]: p["value"] for p in trial["parameters"]
                  if "value" in p}
        yield values, (trial["metrics"]["accuracy"],
                       trial["usage"]["total_seconds"])


def table_of(studies):
    """The lines of the table, from the trials of each study."""
    parts = [list(runs_of(trials)) for trials in studies]
    levels = {}
    for values, _ in itertools.chain(*parts):
        for name, value in values.items():
            levels.setdefault(name, set()).add(value)
    depths = sorted(levels.pop(DEPTH))
    names = sorted(levels)
    yield ",".join(names + [f"{what}@{number(depth)}" for depth in depths
                            for what in ("accuracy", "seconds")])
    for runs in parts:
        shown = {}
        for values, run in runs:
            choices = [[values[name]] if name in values
                       else sorted(levels[name]) for name in names]
            for point in itertools.product(*choices):
                shown.setdefault(point, {})[values[DEPTH]] = run
        for point in sorted(shown):
            if len(shown[point]) == len(depths):
                cells = itertools.chain(*(shown[point][d] for d in depths))
                yield ",".join(map(number, [*point, *cells]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("studies", nargs="+")
    options = parser.parse_args()
    studies = [json.loads(pathlib.Path(pair.split("=")[1]).read_text("utf-8"))
               ["trials"] for pair in options.studies]
    options.out.write_text("\n".join(table_of(studies)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
