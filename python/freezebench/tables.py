# SPDX-License-Identifier: Apache-2.0
"""Recorded tables: every run of whole grids of rates, ranks or frozen depths by layer, with
several training seeds a point. The form of the files is that of tests/bench/tables/README.md,
of frozen depths that of tests/bench/search/data/README.md."""
from __future__ import annotations

import dataclasses
import functools
import pathlib
from typing import Any, Dict, List, Mapping, Tuple, Union

import pandas as pd

Cell = Tuple[float, ...]  # a level of each parameter

# In the package, or where the repository has them.
_DATA = pathlib.Path(__file__).parent / "data"
_BENCH = pathlib.Path(__file__).parents[2] / "tests" / "bench"
_FILES = ((_DATA, "*.table"), (_DATA, "*-depths.csv"), (_BENCH / "tables/data", "*.table"),
          (_BENCH / "search/data", "*.table"), (_BENCH / "search/data", "*-depths.csv"))


@dataclasses.dataclass(frozen=True)
class Table:
    """A table that was read. Not changed afterwards, so that threads may share it."""
    name: str
    metric: str
    maximize: bool
    levels: Dict[str, List[float]]  # of each parameter; a rate of 0 is frozen
    modules: Dict[str, Union[str, float]]  # the parameter that gives its rate, or its rate
    ranks: Dict[str, List[str]]  # parameters that are an adapter's rank, 0 none: its modules
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

    def nearest(self, values: Mapping[str, float]) -> Cell:
        """The recorded point at these values, or the one the fewest steps between levels
        away, each axis as long as every other; of equals the one recorded first."""
        wanted = tuple(float(values[name]) for name in self.parameters)
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
        for levels in self.levels.values():
            count *= len(levels)
        return len(self.values) == count

    def _places(self, cell: Cell) -> Tuple[int, ...]:
        known = self._known
        if cell not in known:
            for name, value in zip(self.parameters, cell):
                if value not in self.levels[name]:
                    raise ValueError(f"{value:g} is no level of {name} in {self.name}: take "
                                     + ", ".join(f"{one:g}" for one in self.levels[name]))
            known[cell] = tuple(self.levels[name].index(value)
                                for name, value in zip(self.parameters, cell))
        return known[cell]

    @functools.cached_property
    def _known(self) -> Dict[Cell, Tuple[int, ...]]:
        return {}


def names() -> List[str]:
    """The tables that are there."""
    return sorted(_files())


@functools.lru_cache(maxsize=None)
def load(name: str) -> Table:
    """A table by its name, or from a file of one's own in the same form."""
    path = pathlib.Path(name)
    if path.suffix not in (".table", ".csv"):
        path = _files().get(name, path)
    if not path.is_file():
        raise ValueError(f"there is no table {name!r}: take " + ", ".join(names()))
    return _of_depths(path) if path.suffix == ".csv" else _of_levels(path)


def _of_levels(path: pathlib.Path) -> Table:
    heads: Dict[str, Any] = {"levels": {}, "modules": {}, "ranks": {}}
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
                if key == "ranks":
                    heads["ranks"][words[0]] = []
            elif key == "module":
                *rank, rate = words[1:]  # with an adapter both
                for one in rank:
                    if one not in heads["ranks"]:
                        raise ValueError(f"{path} has no line '# ranks {one} …'")
                    heads["ranks"][one].append(words[0])
                heads["modules"][words[0]] = rate if rate in heads["levels"] else float(rate)
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


def _of_depths(path: pathlib.Path) -> Table:
    """Its line has a point at all depths, which become a parameter; a point's lines are its
    training seeds."""
    lines = pd.read_csv(path)
    depths = [int(one.split("@")[1]) for one in lines.columns if one.startswith("accuracy@")]
    points = [one for one in lines.columns if "@" not in one]
    lacks = [f"seconds@{one}" for one in depths if f"seconds@{one}" not in lines.columns]
    if not depths or not points or lacks:
        lacks += ["accuracy@0" if points else "before accuracy@0"]
        raise ValueError(f"{path} is no table of depths: it has no column {lacks[0]}")
    seeds = lines.groupby(points).cumcount() + 1
    runs = pd.concat([lines[points].assign(
        prefix_depth=depth, seed=seeds, state="succeeded", accuracy=lines[f"accuracy@{depth}"],
        total_seconds=lines[f"seconds@{depth}"]) for depth in depths], ignore_index=True)
    levels = {one: sorted(map(float, runs[one].unique())) for one in (*points, "prefix_depth")}
    return Table(name=path.stem, metric="accuracy", maximize=True, levels=levels, modules={},
                 ranks={}, runs=runs)


def _files() -> Dict[str, pathlib.Path]:
    found = {path.stem: path for folder, which in _FILES for path in folder.glob(which)}
    if not found:
        raise FileNotFoundError("the package has lost its folder data: install it again")
    return found
