# SPDX-License-Identifier: Apache-2.0
"""What a study comes to, as a data frame and as tables of a notebook."""
from __future__ import annotations

import html
import math
from typing import Any, Dict, Iterable, List, Sequence

from ._wire import need, whole


def enum(message: Any, field: str) -> str:
    """The name of an enumeration's value."""
    kind = message.DESCRIPTOR.fields_by_name[field].enum_type
    found = kind.values_by_number.get(getattr(message, field))
    return found.name if found else str(getattr(message, field))


def value(message: Any) -> Any:
    """A google.protobuf.Value as Python has it."""
    kind = message.WhichOneof("kind")
    return None if kind in (None, "null_value") else whole(getattr(message, kind))


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
    return _table(f"study {study.id}", ("", ""), _study_rows(study, best))


def live_html(study: Any, best: Any, done: int, budget: int, time_: str,
              trials: Sequence[Sequence[Any]]) -> str:
    """A study that is running, and the newest trials of this process."""
    share = _bar(done / budget if budget else 0.0)
    rows = [(f"{done} of {budget}", share), ("so far, to go", time_),
            *_study_rows(study, best)[:1], *_study_rows(study, best)[2:]]
    told = _table("newest trials here", ("trial", "state", "step", "metrics"), trials)
    return _table(f"study {study.id}", ("", ""), rows) + (told if trials else "")


def _study_rows(study: Any, best: Any) -> List[Sequence[Any]]:
    counts = study.counts
    rows: List[Sequence[Any]] = [
        ("state", study.state.lower()), ("trials ended", str(counts["budget_used"])),
        ("running", str(counts["running"])), ("failed", str(counts["failed"]))]
    if best is not None:
        named = ", ".join(f"{k} {v:.6g}" for k, v in zip(study.objectives, best.values))
        rows.append((f"best, trial {best.number}", named))
        rows += [(name, f"{one:g}" if isinstance(one, float) else str(one))
                 for name, one in best.parameters.items()]
    return rows


def _number(number: float) -> str:
    return "not known" if math.isnan(number) else f"{number:.2f}"


def _bar(share: float) -> "_Raw":
    wide = 0 if math.isnan(share) else max(0, min(100, round(100 * share)))
    return _Raw('<span style="display:inline-block;width:100px;height:.7em;outline:1px '
                f'solid #8888"><span style="display:block;width:{wide}px;height:100%;'
                'background:currentColor"></span></span>')


class _Raw(str):
    """Text that is HTML already."""


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Texts to the left and numbers to the right, whatever the notebook would do."""
    def cell(kind: str, one: Any) -> str:
        text = f"{one:.6g}" if isinstance(one, float) else str(one)
        side = "right" if isinstance(one, (int, float)) else "left"
        inner = one if isinstance(one, _Raw) else html.escape(text)
        return f'<{kind} style="text-align:{side}">{inner}</{kind[:2]}>'

    def line(kind: str, row: Sequence[Any]) -> str:
        return f"<tr>{''.join(cell(kind, one) for one in row)}</tr>"

    head = f"<thead>{line('th scope=col', heads)}</thead>" if any(heads) else ""
    body = "".join(line("td", row) for row in rows)
    return (f'<table><caption style="text-align:left;font-weight:600">'
            f"{html.escape(caption)}</caption>{head}<tbody>{body}</tbody></table>")
