# SPDX-License-Identifier: Apache-2.0
"""A table as a problem of Optuna's, in the form that OptunaHub gives benchmarks."""
from __future__ import annotations

import random
from typing import Any, Dict, List, Union

import optuna

from .tables import Cell, Table, load

try:
    from optunahub.benchmarks import BaseProblem
except ImportError:  # the same calls without the package
    class BaseProblem:  # type: ignore[no-redef]
        def __call__(self, trial: optuna.Trial) -> float:
            return self.evaluate({name: trial._suggest(name, domain)
                                  for name, domain in self.search_space.items()})


class Problem(BaseProblem):
    """A run of the point that is asked for, drawn by `seed`; none comes again while its
    point has another. Where a point was not recorded, the nearest one is run instead.
    A run that diverged prunes its trial.

    `form` says how a parameter is asked for: "levels", an integer that counts its levels from
    the lowest up, from frozen where it is a rate, or "rates", a choice of the levels
    themselves. Not for several threads at a time."""

    def __init__(self, table: Union[str, Table], seed: int = 0, form: str = "levels") -> None:
        if form not in ("levels", "rates"):
            raise ValueError(f"form is {form!r}: take levels or rates")
        self.table = load(table) if isinstance(table, str) else table
        self.form = form
        self._luck = random.Random(seed)
        self._left: Dict[Cell, List[float]] = {}

    @property
    def search_space(self) -> Dict[str, optuna.distributions.BaseDistribution]:
        if self.form == "levels":
            return {name: optuna.distributions.IntDistribution(0, len(levels) - 1)
                    for name, levels in self.table.levels.items()}
        return {name: optuna.distributions.CategoricalDistribution(levels)
                for name, levels in self.table.levels.items()}

    @property
    def directions(self) -> List[optuna.study.StudyDirection]:
        return [optuna.study.StudyDirection.MAXIMIZE if self.table.maximize
                else optuna.study.StudyDirection.MINIMIZE]

    def cell(self, params: Dict[str, Any]) -> Cell:
        """The recorded point that these parameters are run as."""
        levels = self.table.levels
        return self.table.nearest({name: levels[name][params[name]] if self.form == "levels"
                                   else params[name] for name in levels})

    def evaluate(self, params: Dict[str, Any]) -> float:
        cell = self.cell(params)
        left = self._left.setdefault(cell, [])
        if not left:
            left.extend(self.table.values[cell])
        value = left.pop(self._luck.randrange(len(left)))
        if value != value:
            raise optuna.TrialPruned(f"a recorded run at {cell} diverged")
        return value

    def truth(self, params: Dict[str, Any]) -> float:
        """The mean of what is run there, over training seeds."""
        return self.table.truth(self.cell(params))
