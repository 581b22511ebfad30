# SPDX-License-Identifier: Apache-2.0
"""Metrics of a program that knows nothing of trials, from what it writes.

    regex:EXPR           its output; groups named step and after metrics, or one metric
    jsonl:FILE           a JSON object a line; `-` is its output
    trainer_state:DIR    trainer_state.json of transformers, the newest below DIR
    csv:FILE             a header and rows

A reader is asked again and again while the program runs and tells each time what is
new, as (step, metrics); where there is no step it counts."""
from __future__ import annotations

import csv
import json
import math
import pathlib
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import errors

Measured = Tuple[int, Dict[str, float]]
_STEPS = ("step", "global_step", "epoch", "iteration")


def reader(text: str, folder: pathlib.Path) -> "Reader":
    """A reader as the command line names it; relative files lie in `folder`."""
    kind, _, rest = text.partition(":")
    makers: Dict[str, Callable[[str], Reader]] = {
        "regex": Pattern, "jsonl": lambda r: JsonLines(r, folder / r),
        "trainer_state": lambda r: TrainerState(folder / (r or ".")),
        "csv": lambda r: Table(folder / r)}
    if kind not in makers or (not rest and kind != "trainer_state"):
        raise errors.InvalidArgument(
            f"{text!r} names no reader of metrics",
            f"take KIND:WHAT with one of: {', '.join(makers)}", id="PY-1021")
    return makers[kind](rest)


class Reader:
    """Counts steps where what it reads has none."""

    def __init__(self) -> None:
        self._last = -1

    def hear(self, line: str) -> Iterator[Measured]:
        """A line of the program's output."""
        return iter(())

    def look(self, ended: bool = False) -> Iterator[Measured]:
        """What its files have by now."""
        return iter(())

    def _measured(self, row: Dict[str, Any]) -> Optional[Measured]:
        numbers = {str(name): float(value) for name, value in row.items() if _is_number(value)}
        step = next((numbers.pop(name) for name in _STEPS[:2] if name in numbers), None)
        if step is None or step != int(step):
            step = self._last + 1
        if not numbers:
            return None
        self._last = max(self._last, int(step))
        return int(step), numbers


class Pattern(Reader):
    def __init__(self, expression: str) -> None:
        super().__init__()
        try:
            self._pattern = re.compile(expression)
        except re.error as error:
            raise errors.InvalidArgument(
                f"regex:{expression} is no regular expression: {error}",
                r"write groups with names: loss (?P<loss>[\d.]+)", id="PY-1021") from None
        if not self._pattern.groupindex:
            raise errors.InvalidArgument(
                f"regex:{expression} has no group with a name",
                r"name the metric: loss (?P<loss>[\d.]+)", id="PY-1021")

    def hear(self, line: str) -> Iterator[Measured]:
        for match in self._pattern.finditer(line):
            row = {name: _number(text) for name, text in match.groupdict().items() if text}
            found = self._measured(row)
            if found:
                yield found


class JsonLines(Reader):
    def __init__(self, name: str, path: pathlib.Path) -> None:
        super().__init__()
        self._path = None if name == "-" else path
        self._at = 0

    def hear(self, line: str) -> Iterator[Measured]:
        if self._path is None:
            yield from self._line(line)

    def look(self, ended: bool = False) -> Iterator[Measured]:
        if self._path is None or not self._path.is_file():
            return
        with open(self._path, "rb") as file:
            file.seek(self._at)
            for raw in file:
                if not raw.endswith(b"\n") and not ended:
                    return  # it is being written
                self._at += len(raw)
                yield from self._line(raw.decode("utf-8", "replace"))

    def _line(self, line: str) -> Iterator[Measured]:
        try:
            row = json.loads(line)
        except ValueError:
            return
        found = self._measured(row) if isinstance(row, dict) else None
        if found:
            yield found


class TrainerState(Reader):
    """The log of transformers' Trainer: its newest file is in the last checkpoint, and
    at the end in the output folder itself."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self._folder, self._seen = folder, 0

    def look(self, ended: bool = False) -> Iterator[Measured]:
        files = sorted(self._folder.rglob("trainer_state.json"),
                       key=lambda path: path.stat().st_mtime)
        if not files:
            return
        try:
            log = json.loads(files[-1].read_text(encoding="utf-8"))["log_history"]
        except (ValueError, KeyError, OSError):
            return  # it is being written
        merged: Dict[int, Dict[str, float]] = {}
        for row in log[self._seen:]:
            found = self._measured(row)
            if found:
                merged.setdefault(found[0], {}).update(found[1])
        self._seen = max(self._seen, len(log))
        yield from merged.items()


class Table(Reader):
    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self._path, self._rows = path, 0

    def look(self, ended: bool = False) -> Iterator[Measured]:
        if not self._path.is_file():
            return
        text = self._path.read_text(encoding="utf-8", errors="replace")
        if not text.endswith("\n") and not ended:
            text = text[:text.rfind("\n") + 1]
        rows: List[Dict[str, Any]] = list(csv.DictReader(text.splitlines()))
        for row in rows[self._rows:]:
            found = self._measured({n: _number(v) for n, v in row.items() if v})
            if found:
                yield found
        self._rows = len(rows)


def _number(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and \
        not (isinstance(value, float) and math.isinf(value))
