# SPDX-License-Identifier: Apache-2.0
"""How a study goes, while a loop or a wait of this process runs.

In a notebook it is one table that is written anew in its place; in a terminal one line
at the bottom, on stderr. Elsewhere (a file, a pipe, under an agent) nothing is written.
No thread does this: it happens within calls that the script makes anyway, and a
coordinator that is away for a moment is no reason to stop a training."""
from __future__ import annotations

import shutil
import sys
import time
from typing import Any, Dict, List, Optional

from . import _show, errors

_PAUSE = 0.25  # seconds between two looks of one trial's reports
_DEADLINE = 5.0  # seconds, of a call that only shows
_RECENT = 6  # rows of trials in a notebook
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def shown(study: Any, progress: Optional[bool]) -> "Live":
    """What shows this study here. `progress` True or False decides, None looks."""
    if progress is False:
        return Live(study)
    shell = sys.modules.get("IPython")
    shell = shell and shell.get_ipython()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return _Notebook(study)
    if progress or sys.stderr.isatty():
        return _Terminal(study)
    return Live(study)


class Live:
    """Counts what happened. This one shows nothing."""

    def __init__(self, study: Any) -> None:
        self._study, self._began = study, time.monotonic()
        self._before: Optional[int] = None  # trials that had ended when this began
        self._best: Any = None
        self._best_at = -1
        self._looked = 0.0
        self.current = ""
        self.rows: Dict[int, List[Any]] = {}  # of trials of this process

    def over(self, trial: Any) -> None:
        """Hears the reports of a trial that this process trains."""
        report, link = trial._link.report, trial._link
        self._row(trial, "running")

        def told(step: int, metrics: Any, total: Optional[int]) -> Optional[str]:
            reason = report(step, metrics, total)
            named = " ".join(f"{k} {_short(v)}" for k, v in list(metrics.items())[:2])
            of = f"/{total}" if total else ""
            self.current = f"trial {trial.number}: step {step}{of} {named}".strip()
            self._row(trial, "running", f"{step}{of}", named)
            if time.monotonic() - self._looked > _PAUSE:
                self.look(ask=False)
            return reason

        link.report = told

    def ended(self, trial: Any) -> None:
        self.current = ""
        last = " ".join(f"{k} {_short(v)}" for k, v in list(trial.metrics.items())[:2])
        self._row(trial, trial._ended or "running", said=last)
        self.look()

    def _row(self, trial: Any, state: str, step: Any = None, said: str = "") -> None:
        row = self.rows.setdefault(trial.number, [trial.number, state, "", ""])
        row[1], row[3] = state, said or row[3]
        row[2] = row[2] if step is None else step
        for number in list(self.rows)[:-_RECENT]:
            del self.rows[number]

    def look(self, ask: bool = True) -> None:
        """Shows the study as it is now; without `ask` as it was last seen."""

    def close(self) -> None:
        """The end of the loop, however it came."""

    def _ask(self) -> bool:
        """Whether the coordinator told how it goes."""
        from . import study as _study
        study, call = self._study, self._study._channel.call
        try:
            study._message = call("StudyService", "GetStudy", name=study.name,
                                  deadline=_DEADLINE)
            counts = study.counts
            if counts["succeeded"] != self._best_at:
                best = call("StudyService", "ListBestTrials", name=study.name,
                            deadline=_DEADLINE).trials
                self._best = _study.Result(best[0]) if best else None
                self._best_at = counts["succeeded"]
        except errors.Error:
            return False  # the loop itself will say so where it lasts
        if self._before is None:
            self._before = counts["budget_used"]
        return True

    def _share(self) -> "tuple[int, int]":
        message = self._study._message
        return message.counts.budget_used, message.settings.budget.trials

    def _left(self) -> "tuple[str, str]":
        """The time so far, and what is left at this pace."""
        took = time.monotonic() - self._began
        done, budget = self._share()
        here = done - (self._before or 0)
        left = _clock(took / here * (budget - done)) if here and budget else "?"
        return _clock(took), left

    def _best_of(self) -> str:
        if self._best is None:
            return ""
        named = " ".join(f"{k} {_short(v)}" for k, v in
                         zip(self._study.objectives, self._best.values))
        return f"best {named} (trial {self._best.number})"


class _Terminal(Live):
    """`toy  45%|████▌     | 9/20 [0:12<0:15] best score 0.91 (trial 4)`

    Where a script has loaded tqdm, as transformers' Trainer does, this line is one of its
    bars: those of a training come below it, and none overwrites another."""

    def __init__(self, study: Any) -> None:
        super().__init__(study)
        self._wide = 0
        self._tqdm: Any = None

    def look(self, ask: bool = True) -> None:
        if ask:
            self._ask()
        self._looked = time.monotonic()
        self._write(self.line(shutil.get_terminal_size((100, 24)).columns - 1))

    def line(self, wide: int) -> str:
        done, budget = self._share()
        share = done / budget if budget else 0.0
        counts = self._study.counts
        bad = f"{counts['failed']} failed" if counts["failed"] else ""
        said = [self._best_of(), bad, self.current]
        text = (f"{self._study.id} {100 * share:3.0f}%|{_bar(share)}| {done}/{budget} "
                f"[{'<'.join(self._left())}] {', '.join(filter(None, said))}").rstrip()
        return text if len(text) <= wide else text[:max(0, wide - 1)] + "…"

    def _write(self, text: str) -> None:
        # Only bars of one class know each other's places: this is the one of transformers.
        loaded = sys.modules.get("tqdm.auto") or sys.modules.get("tqdm")
        if hasattr(loaded, "tqdm"):
            if self._tqdm is None:
                sys.stderr.write("\r" + " " * self._wide + "\r")
                self._tqdm = loaded.tqdm(total=0, bar_format="{desc}\x1b[K", file=sys.stderr)
            self._tqdm.set_description_str(text)
            self._wide = len(text)
            return
        sys.stderr.write("\r" + text + " " * max(0, self._wide - len(text)))
        sys.stderr.flush()
        self._wide = len(text)

    def close(self) -> None:
        if self._wide:
            self.current = ""
            self.look()
            if self._tqdm is not None:
                self._tqdm.clear()  # its place may have been below a bar that has gone
                self._tqdm.close()
                return
            sys.stderr.write("\n")
            sys.stderr.flush()


class _Notebook(Live):
    """One output of the cell, written anew in its place."""

    _handle: Any = None

    def look(self, ask: bool = True) -> None:
        if ask:
            self._ask()
        self._looked = time.monotonic()
        if self._handle is None:
            from IPython.display import display
            self._handle = display(self, display_id=True)
        else:
            self._handle.update(self)

    def close(self) -> None:
        self.look()

    def _repr_html_(self) -> str:
        done, budget = self._share()
        return _show.live_html(self._study, self._best, done, budget, ", ".join(self._left()),
                               list(self.rows.values())[::-1])

    def __repr__(self) -> str:  # where a notebook is read as text
        done, budget = self._share()
        return f"{self._study.id}: {done} of {budget} trials, {self._best_of()}"


def _bar(share: float, cells: int = 10) -> str:
    eighths = round(8 * cells * max(0.0, min(1.0, share)))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(cells)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _short(number: float) -> str:
    return f"{number:.4g}"
