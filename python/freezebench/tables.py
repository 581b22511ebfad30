# SPDX-License-Identifier: Apache-2.0
"""Recorded tables: every run of whole grids of rates by layer, with several training seeds
a point. The form of the files is that of tests/bench/tables/README.md."""
from __future__ import annotations

import dataclasses
import functools
import pathlib
from typing import Any, Dict, List, Mapping, Tuple, Union

import pandas as pd

Cell = Tuple[float, ...]  # a rate for each parameter

# In the package, or where the repository has them.
_FOLDERS = (pathlib.Path(__file__).parent / "data",
            pathlib.Path(__file__).parents[2] / "tests" / "bench" / "tables" / "data")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table that was read. Not changed afterwards, so that threads may share it."""
    name: str
    metric: str
    maximize: bool
    levels: Dict[str, List[float]]  # of each parameter; 0 is frozen
    modules: Dict[str, Union[str, float]]  # the parameter that gives its rate, or its rate
    runs: pd.DataFrame

    @property
    def parameters(self) -> List[str]:
        return list(self.levels)

    @functools.cached_property
    def cells(self) -> pd.DataFrame:
        """By point: mean and deviation of the metric over seeds, and how many runs."""
        ended = self.runs[self.runs.state == "succeeded"]
        found = ended.groupby(self.parameters)[self.metric].agg(["mean", "std", "count"])
        found.columns = pd.Index(["mean", "deviation", "runs"])
        return found

    @functools.cached_property
    def values(self) -> Dict[Cell, List[float]]:
        """The metric of each run of each point, in the order of seeds; NaN diverged."""
        found: Dict[Cell, List[float]] = {}
        columns = [self.runs[name] for name in (*self.parameters, self.metric)]
        for *cell, value in zip(*columns):
            found.setdefault(tuple(map(float, cell)), []).append(float(value))
        return found

    @property
    def best(self) -> Cell:
        """The point with the best mean."""
        means = self.cells["mean"]
        at = means.idxmax() if self.maximize else means.idxmin()
        return tuple(map(float, at))

    def truth(self, cell: Cell) -> float:
        """The mean of a recorded point over its seeds."""
        return float(self.cells["mean"].loc[cell])

    def nearest(self, rates: Mapping[str, float]) -> Cell:
        """The recorded point at these rates, or the one the fewest steps between levels
        away, each axis as long as every other; of equals the one recorded first."""
        wanted = tuple(float(rates[name]) for name in self.parameters)
        if wanted in self.values:
            return wanted
        at = self._places(wanted)
        spans = [max(1, len(one) - 1) for one in self.levels.values()]
        return min(self.values, key=lambda cell: sum(
            abs(a - b) / span for a, b, span in zip(at, self._places(cell), spans)))

    @property
    def is_complete(self) -> bool:
        """Whether every point of the space was recorded."""
        count = 1
        for rates in self.levels.values():
            count *= len(rates)
        return len(self.values) == count

    def _places(self, cell: Cell) -> Tuple[int, ...]:
        known = self._known
        if cell not in known:
            for name, rate in zip(self.parameters, cell):
                if rate not in self.levels[name]:
                    raise ValueError(f"{rate:g} is no level of {name} in {self.name}: take "
                                     + ", ".join(f"{one:g}" for one in self.levels[name]))
            known[cell] = tuple(self.levels[name].index(rate)
                                for name, rate in zip(self.parameters, cell))
        return known[cell]

    @functools.cached_property
    def _known(self) -> Dict[Cell, Tuple[int, ...]]:
        return {}


def names() -> List[str]:
    """The tables that are there."""
    return sorted(file.stem for file in _folder().glob("*.table"))


@functools.lru_cache(maxsize=None)
def load(name: str) -> Table:
    """A table by its name, or from a file of one's own in the same form."""
    path = pathlib.Path(name)
    if path.suffix != ".table":
        path = _folder() / f"{name}.table"
    if not path.is_file():
        raise ValueError(f"there is no table {name!r}: take " + ", ".join(names()))
    heads: Dict[str, Any] = {"levels": {}, "modules": {}}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("# "):
                break
            key, *words = line[2:].split()
            if key == "name":
                heads["name"] = words[0]
            elif key == "metric":
                heads["metric"], heads["maximize"] = words[0], words[1] == "maximize"
            elif key in ("parameter", "ranks"):
                heads["levels"][words[0]] = [float(one) for one in words[1:]]
            elif key == "module":
                named = words[1] in heads["levels"]
                heads["modules"][words[0]] = words[1] if named else float(words[1])
    missing = {"name", "metric"} - set(heads)
    if missing or not heads["levels"]:
        raise ValueError(f"{path} is no table: it has no line '# "
                         f"{min(missing) if missing else 'parameter'} …'")
    runs = pd.read_csv(path, comment="#")
    lacks = [one for one in (*heads["levels"], "seed", "state", heads["metric"])
             if one not in runs.columns]
    if lacks:
        raise ValueError(f"{path} has no column {lacks[0]}")
    return Table(runs=runs, **heads)


def _folder() -> pathlib.Path:
    for folder in _FOLDERS:
        if folder.is_dir():
            return folder
    raise FileNotFoundError("the package has lost its folder data: install it again")
