# SPDX-License-Identifier: Apache-2.0
"""Samplers on all tables at several budgets, with the same luck for each seed. What counts
is not the best value that a search saw, which is luck too, but the mean over training seeds
of the point it would recommend: the one of its trial that looks best."""
from __future__ import annotations

import argparse
import importlib
import json
import math
import statistics
import sys
import tempfile
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

import optuna

from .problem import Problem
from .tables import Table, load, names

SAMPLERS = ("optuna:RandomSampler", "optuna:TPESampler", "frostline:tpe", "frostline:auto")


class Row(NamedTuple):
    """One search, up to a budget."""
    sampler: str
    table: str
    seed: int
    budget: int
    truth: float  # of the point that looked best


def make(name: str, seed: int, problem: Problem, trials: int, client: Any) -> Any:
    """A sampler: optuna:CLASS, frostline:SAMPLER, or MODULE:CLASS, made with seed=."""
    library, _, kind = name.partition(":")
    if library == "frostline":
        from frostline.optuna import FrostlineSampler
        # The names tell it that these are rates of modules, in the order of depth.
        modules = {one.replace(".", r"\."): f"layer.{k}"
                   for k, one in enumerate(problem.table.parameters)
                   if problem.form == "rates"}
        return FrostlineSampler(problem.search_space, seed=seed, sampler=kind,
                                budget=trials, modules=modules, connect=client)
    try:
        module = importlib.import_module("optuna.samplers" if library == "optuna" else library)
        return getattr(module, kind)(seed=seed)
    except (ImportError, AttributeError, TypeError, ValueError) as why:
        raise ValueError(f"no sampler can be made of {name!r} ({why}): take optuna:CLASS, "
                         "frostline:SAMPLER or MODULE:CLASS, which takes seed=") from None


def search(name: str, table: Table, seed: int, budgets: Sequence[int],
           client: Any = None) -> List[Row]:
    """A search with the largest budget, and what its beginnings would have recommended."""
    # Ours knows rates of modules from frozen up; integers are the best form for all else.
    rates = name.startswith("frostline:") and set(table.parameters) <= set(
        table.modules.values())
    problem = Problem(table, seed, "rates" if rates else "levels")
    sampler = make(name, seed, problem, max(budgets), client)
    study = optuna.create_study(
        study_name=f"{table.name} {name} {seed}", sampler=sampler,
        direction="maximize" if table.maximize else "minimize")
    study.optimize(problem, n_trials=max(budgets))
    sign = 1 if table.maximize else -1
    rows = []
    for budget in sorted(budgets):
        ended = [one for one in study.trials[:budget] if one.value is not None]
        best = max(ended, key=lambda one: sign * (one.value or 0.0), default=None)
        rows.append(Row(name, table.name, seed, budget,
                        problem.truth(best.params) if best else math.nan))
    return rows


def gaps(rows: Iterable[Row]) -> Dict[int, Dict[str, List[float]]]:
    """By budget and sampler, for each seed: how much of the way from a table's middle point
    to its best one is missing, the mean of the tables. 0 is the best point, 1 no search."""
    found: Dict[int, Dict[str, Dict[int, List[float]]]] = {}
    for row in rows:
        table = load(row.table)
        best = table.truth(table.best)
        way = abs(best - float(table.cells["mean"].median()))
        found.setdefault(row.budget, {}).setdefault(row.sampler, {}).setdefault(
            row.seed, []).append(abs(best - row.truth) / way)
    return {budget: {sampler: [statistics.fmean(parts) for _, parts in sorted(each.items())]
                     for sampler, each in by.items()} for budget, by in found.items()}


def render(rows: List[Row]) -> str:
    """A table for each budget, the best sampler first."""
    tables = list(dict.fromkeys(row.table for row in rows))
    wide = max(len(row.sampler) for row in rows)
    lines = []
    for budget, found in gaps(rows).items():
        lines += [f"after {budget} trials, {len(next(iter(found.values())))} seeds",
                  f"{'sampler':{wide}}  {'gap':>12}  " + "  ".join(tables)]
        for sampler, each in sorted(found.items(), key=lambda one: statistics.fmean(one[1])):
            error = statistics.stdev(each) / math.sqrt(len(each)) if len(each) > 1 else math.nan
            truths = [statistics.fmean(row.truth for row in rows if row[:2] == (
                sampler, table) and row.budget == budget) for table in tables]
            lines.append(f"{sampler:{wide}}  {statistics.fmean(each):5.2f} ± {error:4.2f}  "
                         + "  ".join(f"{t:{len(n)}.4f}" for n, t in zip(tables, truths)))
        best = [load(table).truth(load(table).best) for table in tables]
        lines += [f"{'best point':{wide}}  {'0':>12}  " + "  ".join(
            f"{t:{len(n)}.4f}" for n, t in zip(tables, best)), ""]
    lines.append("gap: how much of the way from a table's middle point to its best one is "
                 "missing; mean of the tables ± its standard error over seeds")
    return "\n".join(lines)


def run(samplers: Sequence[str], tables: Sequence[str], budgets: Sequence[int],
        seeds: Sequence[int], client: Any = None, told: Any = None) -> List[Row]:
    """Every search, or a ValueError before the first."""
    for name in tables:
        table = load(name)
        points = math.prod(map(len, table.levels.values()))
        if max(budgets) > points:
            raise ValueError(f"{max(budgets)} trials are more than {name} has points: take "
                             f"budgets up to {points}")
    for name in samplers:
        if not name.startswith("frostline:"):
            make(name, 0, Problem(tables[0]), 1, client)
    rows = []
    for name in dict.fromkeys(samplers):
        for table in tables:
            for seed in seeds:
                rows += search(name, load(table), seed, budgets, client)
        if told:
            told(name)
    return rows


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="freezebench", description="Samplers on tables of real fine-tunings by layer.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("tables", help="what was recorded")
    board = verbs.add_parser("leaderboard", help="samplers on all tables")
    board.add_argument("--samplers", nargs="+", default=SAMPLERS, metavar="NAME",
                       help="optuna:CLASS, frostline:SAMPLER, MODULE:CLASS")
    board.add_argument("--tables", nargs="+", default=names(), metavar="NAME",
                       help="names, or files in the same form")
    board.add_argument("--budgets", nargs="+", type=_count, default=[25, 50, 100],
                       metavar="TRIALS")
    board.add_argument("--seeds", type=_count, default=10, help="0 up to one less")
    board.add_argument("--rows", metavar="FILE", help="each search, as lines of JSON")
    board.add_argument("--connect", metavar="ADDRESS",
                       help="the coordinator of frostline: samplers; else one is started")
    options = parser.parse_args(arguments)
    try:
        return _tables() if options.verb == "tables" else _leaderboard(options)
    except ValueError as why:
        print(f"freezebench: {why}", file=sys.stderr)
        return 2


def _tables() -> int:
    for name in names():
        table = load(name)
        print(f"{name}: {len(table.values)} of "
              f"{math.prod(map(len, table.levels.values()))} points, {len(table.runs)} runs; "
              f"{table.metric} of the best {table.truth(table.best):.3f}")
    return 0


def _leaderboard(options: argparse.Namespace) -> int:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ours = [one for one in options.samplers if one.startswith("frostline:")]
    with tempfile.TemporaryDirectory(prefix="freezebench-") as folder:
        client = None
        if ours:
            import frostline
            client = (frostline.connect(options.connect) if options.connect
                      else frostline.local(folder))
        try:
            rows = run(options.samplers, options.tables, options.budgets,
                       range(options.seeds), client,
                       lambda name: print(f"{name} has ended", file=sys.stderr))
        finally:
            if client is not None:
                client.close()
    if options.rows:
        with open(options.rows, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row._asdict()) + "\n" for row in rows)
    print(render(rows))
    return 0
