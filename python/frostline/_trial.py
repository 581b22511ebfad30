# SPDX-License-Identifier: Apache-2.0
"""A trial: one point of a study's space, while it is trained.

A training script sees the same object whoever keeps the lease: the agent that
started the script, this process (`study.trials()`), or nobody, when the script runs
alone. What differs is the link, which carries reports out and stops in."""
from __future__ import annotations

import errno
import operator
import os
import pathlib
import sys
import tempfile
import traceback
from typing import Any, Dict, Mapping, Optional

from . import errors

# Why a trial is to stop. After the last three another attempt goes on.
STOPS = ("pruned", "cancelled", "preempt", "drain", "hang")


class Link:
    """Where a trial's words go. This one leads nowhere: the script runs alone."""

    def report(self, step: int, metrics: Mapping[str, float],
               total_steps: Optional[int]) -> Optional[str]:
        """Returns why the trial is to stop, or None."""
        return None

    def stop_reason(self) -> Optional[str]:
        return None

    def checkpoint(self, name: str, step: int) -> None:
        pass

    def finish(self, state: str, metrics: Mapping[str, float], cause: str,
               failure: str, usage: Mapping[str, Any]) -> None:
        pass

    def hand_back(self, reason: str) -> None:
        pass


class Trial:
    """One point of the space: `trial["lr"]`, `trial.rates["layer.3"]`.

    Besides: `number`, `attempt`, `seed`, `parameters`, `rates`, `ranks` (of adapters, by
    module; 0 is none), `prefix_depth`
    (embeddings and layers below it are frozen, -1: the embeddings train), `model`,
    `data`, `training` and `labels` of the study, `resume_from` (an earlier attempt's
    checkpoint), `alone` (the script runs without a worker: `number` is None, `rates` is
    empty) and `usage`, a dictionary whose figures are kept."""

    def __init__(self, spec: Mapping[str, Any], link: Optional[Link] = None, *,
                 alone: bool = False) -> None:
        self._link, self._process = link or Link(), os.getpid()
        self._ended, self._stop_seen = "", ""
        self.alone = alone
        self.unmeasured: Optional[errors.NoMetric] = None  # why it failed at its end
        self.name: str = spec.get("trial", "")
        parts = self.name.split("/")
        self.study: str = parts[1] if len(parts) == 4 else ""
        self.number: Optional[int] = int(parts[3]) if len(parts) == 4 else None
        self.attempt: int = int(spec.get("attempt", 1))
        self.parameters: Dict[str, Any] = dict(spec.get("parameters", {}))
        self.rates: Dict[str, float] = dict(spec.get("rates", {}))
        self.ranks: Dict[str, int] = {m: int(r) for m, r in spec.get("ranks", {}).items()}
        self.seed: int = int(spec.get("seed", 1))
        self.prefix_depth: int = int(spec.get("prefix_depth", -1))
        self.objectives = list(spec.get("objectives", ()))
        self.model = dict(spec.get("model") or {})
        self.data = dict(spec.get("data") or {})
        self.training = dict(spec.get("training") or {})
        self.freeze = dict(spec.get("freeze") or {})
        self.labels = dict(spec.get("labels") or {})
        self.resume_from = spec.get("resume_from")
        self.metrics: Dict[str, float] = {}  # the newest of each
        self.last_step = -1
        self.usage: Dict[str, Any] = {}
        self._folder = spec.get("folder")
        self._audit: Any = None  # what `apply` noted, for `audit`

    # --- the point ---

    def __getitem__(self, name: str) -> Any:
        try:
            return self.parameters[name]
        except KeyError:
            there = ", ".join(self.parameters) or "none"
            raise errors.UnknownName(
                f"trial {self.number} has no parameter {name!r}; it has: {there}",
                "correct the name, name it in the study's space, or use trial.get()"
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter, or `default` where the search has none of this name."""
        return self.parameters.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self.parameters

    @property
    def folder(self) -> pathlib.Path:
        """A folder for this attempt alone."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="frostline-trial-")
        path = pathlib.Path(self._folder)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def __repr__(self) -> str:
        name = self.name or "alone"
        state = self._ended or "running"
        return f"<frostline.Trial {name}, {state}, {self.parameters}>"

    # --- while it runs ---

    def report(self, step: int, metrics: Optional[Mapping[str, float]] = None, *,
               total_steps: Optional[int] = None, **more: float) -> bool:
        """Tells what was measured at a step; steps rise. True: stop now.

            if trial.report(epoch, accuracy=0.81):
                break
        """
        self._guard()
        given = step
        told = {name: float(value) for name, value in {**(metrics or {}), **more}.items()}
        try:
            step = -1 if isinstance(step, bool) else operator.index(step)  # of numpy, too
        except TypeError:
            step = -1
        if step < 0:
            raise errors.InvalidArgument(
                f"a step is a whole number from 0, not {given!r}",
                "report(step, accuracy=…): the step comes first", id="PY-1011")
        if step < self.last_step or (told and step == self.last_step):
            raise errors.InvalidArgument(
                f"step {step} after step {self.last_step}: steps rise within a trial",
                "count steps or epochs from the trial's beginning", id="FL-2034")
        stop = self._link.report(step, told, total_steps)
        self.last_step = step
        self.metrics.update(told)
        self._stop_seen = stop or self._stop_seen
        return bool(stop)

    @property
    def stop_reason(self) -> Optional[str]:
        """Why it is to stop: pruned, cancelled, preempt, drain or hang; or None. Who has
        read it is taken to obey."""
        self._guard()
        reason = self._link.stop_reason()
        self._stop_seen = reason or self._stop_seen
        return reason

    @property
    def should_stop(self) -> bool:
        """Whether there is a `stop_reason`, asked for without a report."""
        return self.stop_reason is not None

    def checkpoint(self, name: str, step: int) -> None:
        """A file or folder of this name is complete in `folder`: another attempt
        may go on from it."""
        self._guard()
        if not (self.folder / name).exists():
            raise errors.InvalidArgument(
                f"there is no {name} in {self.folder}",
                "write it there under another name, then rename it", id="PY-1012")
        self._link.checkpoint(name, step)

    # --- its end ---

    def complete(self, metrics: Optional[Mapping[str, float]] = None,
                 **more: float) -> None:
        """It ended well, with these results besides the newest reported ones."""
        self._guard()
        last = {**self.metrics, **(metrics or {}), **more}
        last = {name: float(value) for name, value in last.items()}
        for wanted in self.objectives:
            if wanted["metric"] not in last:
                raise errors.NoMetric(
                    f"the study wants {wanted['metric']!r}, which was never "
                    f"reported; there are: {', '.join(last) or 'none'}",
                    f"report it: trial.report(step, {wanted['metric']}=…)")
        self._finish("succeeded", last)

    def fail(self, cause: str, *, failure: str = "trial") -> None:
        """It cannot be finished; `failure` is "trial", "out_of_memory" or
        "infrastructure" and decides how often it is tried again."""
        self._guard()
        self._finish("failed", {}, cause, failure)

    def infeasible(self, cause: str) -> None:
        """This point cannot be trained: a loss that became NaN."""
        self._guard()
        self._finish("infeasible", dict(self.metrics), cause)

    def prune(self, cause: str = "") -> None:
        """It gives up by itself."""
        self._guard()
        self._finish("pruned", dict(self.metrics), cause)

    def hand_back(self, reason: str = "preempt") -> None:
        """Somebody else may run it; no fault is counted."""
        self._guard()
        self._ended = "handed back"  # and if nobody hears it, the lease ends by itself
        self._link.hand_back(reason)

    @property
    def ended(self) -> bool:
        """Whether it has got its outcome, or was handed back."""
        return bool(self._ended)

    def end(self) -> None:
        """What the end of a script, or of a loop's body, means: it obeyed a stop,
        or it is done and the newest metrics are its results."""
        if self._ended:
            return
        if self._stop_seen in ("preempt", "drain", "hang"):
            self.hand_back(self._stop_seen)
        elif self._stop_seen:
            self._finish("stopped", dict(self.metrics), self._stop_seen)
        else:
            try:
                self.complete()
            except errors.NoMetric as error:
                # Another try would end so, too: it is told once, and here.
                self._finish("failed", {}, f"FL-5015: {error.id}: {error.cause}", "trial")
                self.unmeasured = error
                print(error, file=sys.stderr)

    def end_with(self, error: BaseException) -> None:
        """What an exception that nobody caught means."""
        if self._ended:
            return
        if not isinstance(error, Exception):  # an interrupt, a task that was cancelled
            try:
                self.hand_back()
            except (errors.Unavailable, errors.DeadlineExceeded) as away:
                print(away, file=sys.stderr)  # what ends the script goes before it
        elif isinstance(error, FloatingPointError):
            self._finish("infeasible", dict(self.metrics), _sentence(error))
        else:
            self._finish("failed", {}, _sentence(error), failure_class(error))

    def _finish(self, state: str, metrics: Mapping[str, float], cause: str = "",
                failure: str = "") -> None:
        self._link.finish(state, metrics, cause, failure, self.usage)
        self._ended = state

    def _guard(self) -> None:
        if os.getpid() != self._process:
            raise errors.WrongProcess(
                f"trial {self.number} was leased by process {self._process}, and "
                f"this is its child {os.getpid()}",
                "use the trial in the process that got it; hand numbers to children")
        if self._ended:
            raise errors.TrialEnded(
                f"trial {self.number} has ended already: {self._ended}",
                "ask for the next one")

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Optional[bool]:
        if error is None:
            self.end()
        elif not isinstance(error, errors.LeaseLost):
            self.end_with(error)
        return None

    # --- under asyncio: see _aio.py ---

    async def report_async(self, step: int, metrics: Optional[Mapping[str, float]] = None,
                           **more: Any) -> bool:
        """`report`, while the loop goes on."""
        from ._aio import aside
        return await aside(lambda: self.report(step, metrics, **more))

    async def __aenter__(self) -> "Trial":
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> Optional[bool]:
        from ._aio import aside
        return await aside(lambda: self.__exit__(kind, error, trace))

    # --- layers, in layers.py ---

    def apply(self, model: Any, **options: Any) -> Any:
        """Freezes what has rate 0 and returns parameter groups of the rest; options as of
        `frostline.layers.apply`."""
        from . import layers
        return layers.apply(self, model, **options)

    def param_groups(self, model: Any, optimizer: Any = None, **options: Any) -> Any:
        """Parameter groups of the model, and the optimizer made of them."""
        from . import layers
        return layers.param_groups(self, model, optimizer, **options)

    def lora_config(self, model: Any, **options: Any) -> Any:
        """A LoraConfig of peft with an adapter where the study trains."""
        from . import layers
        return layers.lora_config(self, model, **options)

    def audit(self, model: Any, optimizer: Any = None, **options: Any) -> Any:
        """Which modules moved and which did not. Raises where that is wrong."""
        from . import layers
        return layers.audit(self, model, optimizer, **options)


def failure_class(error: BaseException) -> str:
    """Who is to blame: the point, the memory, or the machine."""
    text = str(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" \
            or "out of memory" in text:
        return "out_of_memory"
    full = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EROFS)
    if isinstance(error, OSError) and (
            isinstance(error, ConnectionError) or error.errno in full):
        return "infrastructure"
    return "trial"


def _sentence(error: BaseException) -> str:
    """`ValueError: no such label (train.py:17)`."""
    frames = traceback.extract_tb(error.__traceback__)
    here = os.path.dirname(__file__)
    outside = [f for f in frames if not f.filename.startswith(here)] or frames
    where = ""
    if outside:
        where = f" ({os.path.basename(outside[-1].filename)}:{outside[-1].lineno})"
    text = str(error).strip() or "no text"
    kind = "" if isinstance(error, errors.Error) else f"{type(error).__name__}: "
    return f"{kind}{text}{where}"[:4000]
