# SPDX-License-Identifier: Apache-2.0
"""Metrics of a program that knows nothing of trials, from what it writes.

    regex:EXPR           its output; groups named step and after metrics, or one metric
    jsonl:FILE           a JSON object a line; `-` is its output
    trainer_state:DIR    trainer_state.json of transformers, the newest below DIR
    csv:FILE             a header and rows
    tensorboard:DIR      scalars of the event files below DIR

A reader is asked again and again while the program runs and tells each time what is
new, as (step, metrics); where there is no step it counts."""
from __future__ import annotations

import csv
import json
import math
import pathlib
import re
import struct
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import errors

Measured = Tuple[int, Dict[str, float]]
_STEPS = ("step", "global_step", "current_steps")  # the last is LLaMA-Factory's


def reader(text: str, folder: pathlib.Path) -> "Reader":
    """A reader as the command line names it; relative files lie in `folder`."""
    kind, _, rest = text.partition(":")
    makers: Dict[str, Callable[[str], Reader]] = {
        "regex": Pattern, "jsonl": lambda r: JsonLines(r, folder / r),
        "trainer_state": lambda r: TrainerState(folder / (r or ".")),
        "csv": lambda r: Table(folder / r),
        "tensorboard": lambda r: EventFiles(folder / (r or "."))}
    if kind not in makers or (not rest and kind not in ("trainer_state", "tensorboard")):
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
        step = next((numbers.pop(name) for name in _STEPS if name in numbers), None)
        if step is None:  # ms-swift: "10/12"
            step = _number(str(row.get("global_step/max_steps")).partition("/")[0])
            step = step if _is_number(step) else None
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


class EventFiles(Reader):
    """Scalars that TensorBoard would show, from event files: a record is its length, a
    sum, a protobuf message, a sum. Neither TensorFlow nor its messages are needed for
    that. The tags of one step are told together, once a later step is there or nothing
    more has come since the last look; a record that is not whole yet waits."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self._folder = folder
        self._at: Dict[pathlib.Path, int] = {}
        self._open: Dict[int, Dict[str, float]] = {}  # by step, not told yet

    def look(self, ended: bool = False) -> Iterator[Measured]:
        grown = False
        for path in sorted(self._folder.rglob("*tfevents*")):
            for step, tag, value in self._records(path):
                self._open.setdefault(step, {})[tag] = value
                grown = True
        newest = max(self._open, default=0)
        for step in sorted(self._open):
            if ended or not grown or step < newest:
                yield step, self._open.pop(step)

    def _records(self, path: pathlib.Path) -> Iterator[Tuple[int, str, float]]:
        with open(path, "rb") as file:
            file.seek(self._at.get(path, 0))
            while len(head := file.read(12)) == 12:
                size = int.from_bytes(head[:8], "little")
                record = file.read(size + 4)
                if len(record) < size + 4:
                    return  # it is being written
                self._at[path] = file.tell()
                try:
                    found = list(_scalars(memoryview(record)[:size]))
                except (IndexError, KeyError, TypeError, struct.error):
                    raise errors.BadFile(
                        f"{path} is no event file of TensorBoard, or is damaged",
                        "name the folder of the event files alone") from None
                yield from (one for one in found if not math.isinf(one[2]))


def _scalars(event: Any) -> Iterator[Tuple[int, str, float]]:
    """(step, tag, value) of a tensorflow.Event, by the numbers of its fields."""
    step, values = 0, []
    for field, content in _fields(event):
        if field == 2:
            step = content
        elif field == 5:  # the summary; its values are field 1
            values += [one for number, one in _fields(content) if number == 1]
    for value in values:
        parts = dict(_fields(value))
        number = parts.get(2)  # simple_value
        if number is None and 8 in parts:
            number = _of_tensor(dict(_fields(parts[8])))
        if number is not None and 1 in parts and len(number) in (4, 8):
            kind = "<f" if len(number) == 4 else "<d"
            yield step, bytes(parts[1]).decode("utf-8", "replace"), \
                struct.unpack(kind, number)[0]


def _of_tensor(tensor: Dict[int, Any]) -> Any:
    """The bytes of a tensor of one float or double, as newer writers have scalars."""
    wide = {1: 4, 2: 8}.get(tensor.get(1, 0))
    found = next((tensor[n] for n in (4, 5, 6) if n in tensor), None)
    return found if wide and found is not None and len(found) == wide else None


def _fields(message: Any) -> Iterator[Tuple[int, Any]]:
    """(number, content) of a protobuf message: whole numbers as such, else bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = {1: lambda: 8, 5: lambda: 4, 2: varint}[kind]()
        yield key >> 3, message[at:at + size]
        at += size


def _number(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and \
        not (isinstance(value, float) and math.isinf(value))
