# SPDX-License-Identifier: Apache-2.0
"""What a study comes to, as a data frame and as tables of a notebook."""
from __future__ import annotations

import html
import math
from typing import Any, Dict, Iterable, List, Sequence

from ._wire import need


def enum(message: Any, field: str) -> str:
    """The name of an enumeration's value."""
    kind = message.DESCRIPTOR.fields_by_name[field].enum_type
    found = kind.values_by_number.get(getattr(message, field))
    return found.name if found else str(getattr(message, field))


def value(message: Any) -> Any:
    """A google.protobuf.Value as Python has it."""
    kind = message.WhichOneof("kind")
    return None if kind in (None, "null_value") else getattr(message, kind)


def frame(study: Any, results: Iterable[Any], rates: bool) -> Any:
    """A pandas.DataFrame, one column each, also for no trial at all."""
    pandas = need("pandas")
    wanted = ["number", "state", *(f"values_{i}" for i in range(len(study.objectives)))]
    if len(study.objectives) == 1:
        wanted[2:] = ["value"]
    columns: Dict[str, List[Any]] = {name: [] for name in wanted}
    rows = 0

    def put(name: str, cell: Any) -> None:
        column = columns.setdefault(name, [])
        if len(column) < rows:
            column.extend([None] * (rows - len(column)))
        column.append(cell)

    for result in results:
        message = result._message
        put("number", result.number)
        put("state", result.state)
        for name, cell in zip(wanted[2:], message.values):
            put(name, cell)
        for one in message.parameters:
            put(f"params_{one.name}", value(one.value))
        for name, cell in message.metrics.items():
            put(f"metrics_{name}", cell)
        if rates:
            for one in message.rates:
                put(f"rates_{one.module}", one.rate)
        rows += 1
    for column in columns.values():
        column.extend([None] * (rows - len(column)))
    return pandas.DataFrame(columns)


class Importance:
    """Shares of the objective's variance, with 80 % intervals."""

    def __init__(self, message: Any) -> None:
        self.message, self.verdict = message, message.verdict
        self.provisional: bool = message.provisional
        ranked = sorted(message.parameters, key=lambda one: -one.main.value)
        self.rows = [(one.parameter, one.main.value, one.main.lo80, one.main.hi80,
                      one.distinguishable) for one in ranked]

    def to_pandas(self) -> Any:
        return need("pandas").DataFrame(
            self.rows, columns=["parameter", "share", "lo80", "hi80", "distinguishable"])

    def __repr__(self) -> str:
        lines = [f"{name:24} {_number(share)} ({_number(lo)} – {_number(hi)})"
                 for name, share, lo, hi, _ in self.rows]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        rows = [(name, _bar(share), _number(share), f"{_number(lo)} – {_number(hi)}",
                 "yes" if sure else "not known") for name, share, lo, hi, sure in self.rows]
        return _table(self.verdict, ("parameter", "", "share", "80 %", "clear of chance"), rows)


class Plan:
    """What to freeze: a rate for each module, and what that should reach."""

    def __init__(self, message: Any) -> None:
        self.message, self.verdict = message, message.verdict
        self.rates = {one.module: one.rate for one in message.modules}
        self.predicted = (message.predicted_score.value, message.predicted_score.lo80,
                          message.predicted_score.hi80)

    def __repr__(self) -> str:
        lines = [f"{name:24} {rate:g}" if rate else f"{name:24} frozen"
                 for name, rate in self.rates.items()]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        rows = [(one.module, f"{one.rate:g}" if one.rate else "frozen", one.reason)
                for one in self.message.modules]
        return _table(self.verdict, ("module", "rate", "why"), rows)


def study_html(study: Any, best: Any) -> str:
    counts = study.counts
    rows = [("state", study.state.lower()), ("trials ended", counts["budget_used"]),
            ("running", counts["running"]), ("failed", counts["failed"])]
    if best is not None:
        named = ", ".join(f"{k} {v}" for k, v in zip(study.objectives, best.values))
        rows.append((f"best, trial {best.number}", named))
        rows += [(f"  {name}", cell) for name, cell in best.parameters.items()]
    return _table(f"study {study.id}", ("", ""), rows)


def _number(number: float) -> str:
    return "not known" if math.isnan(number) else f"{number:.2f}"


def _bar(share: float) -> "_Raw":
    wide = 0 if math.isnan(share) else max(0, min(100, round(100 * share)))
    return _Raw(f'<span style="display:inline-block;height:.7em;width:{wide}px;'
                'background:currentColor"></span>')


class _Raw(str):
    """Text that is HTML already."""


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def cell(one: Any) -> str:
        return one if isinstance(one, _Raw) else html.escape(str(one))

    head = "".join(f"<th scope=col>{cell(one)}</th>" for one in heads) if any(heads) else ""
    body = "".join("<tr>" + "".join(f"<td>{cell(one)}</td>" for one in row) + "</tr>"
                   for row in rows)
    return (f"<table><caption>{cell(caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
