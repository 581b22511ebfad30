# SPDX-License-Identifier: Apache-2.0
"""FreezeBench: 9,476 real fine-tunings by layer, as tables that answer in microseconds.

    import freezebench
    table = freezebench.load("reviews-levels")
    table.runs     # a row for each run: its point, seed, state, accuracy, seconds, …
    table.cells    # a row for each point: mean, deviation and number of its runs

    import optuna
    problem = freezebench.Problem("reviews-levels", seed=1)
    study = optuna.create_study(directions=problem.directions)
    study.optimize(problem, n_trials=50)

Problem is a benchmark in the form of OptunaHub; `freezebench leaderboard` runs samplers on
all tables. How the tables were recorded: docs/measured/tables.md."""
from typing import Any

from .tables import Table, load, names

__all__ = ["Problem", "Table", "load", "names"]


def __getattr__(name: str) -> Any:
    if name == "Problem":  # needs Optuna, the tables do not
        from .problem import Problem
        return Problem
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
