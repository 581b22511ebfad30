# SPDX-License-Identifier: Apache-2.0
"""The trainer protocol, spoken by the script that an agent started.

The agent (`frostline-worker --exec "python train.py"`) keeps the lease and a queue
of reports that survives a crash; this side reads one trial from standard input,
writes lines to standard output, and needs neither gRPC nor protobuf. What the
script prints goes to standard error, which is the trial's log."""
from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
from typing import Any, Dict, Mapping, Optional

from . import _ranks, errors
from ._trial import Link, Trial

_current: Optional[Trial] = None


def inside() -> bool:
    """Whether an agent started this process, or one above it."""
    return "FROSTLINE_PROTOCOL" in os.environ


def trial(**defaults: Any) -> Trial:
    """The trial that this script is to train. Started by an agent it is the leased
    one; alone it has the given defaults for parameters, and its reports go nowhere.

        trial = frostline.trial(lr=2e-5, dropout=0.1)
        optimizer = AdamW(trial.apply(model, lr=trial["lr"]))
        for epoch in range(3):
            if trial.report(epoch, accuracy=train(epoch)):
                break
    """
    global _current
    if _current is not None and _current._process == os.getpid():
        return _current
    if not inside():
        _current = Trial({"parameters": defaults}, alone=True)
        return _current
    if _current is not None:
        return _current  # of the parent: its use is an error that says so
    if _ranks.rank() == 0:
        agent = AgentLink()
        spec = agent.receive()
        spec["parameters"] = {**defaults, **spec.get("parameters", {})}
        link = _ranks.lead(spec, agent)
    else:
        spec, link = _ranks.follow() or ({}, Link())
    _current = Trial(spec, link)
    _end_with_script(_current)
    return _current


class AgentLink(Link):
    """Lines to the agent and from it."""

    def __init__(self) -> None:
        # Neither a print() nor a child may write between our lines or read them.
        self._in = os.fdopen(os.dup(0), encoding="utf-8")
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        sys.stdout.flush()
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._lock = threading.Lock()
        self._stop: Optional[str] = None
        self._process = os.getpid()
        # The agent says `stop` first. A handler that does nothing, as what is
        # ignored would stay ignored in programs that are started; a forked child, as
        # of multiprocessing, is ended by it as ever. torchrun ends its ranks by it.
        main = threading.current_thread() is threading.main_thread()
        if main and _ranks.world() == 1 and \
                signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _go_on)
            os.register_at_fork(before=_hold_sigterm, after_in_parent=_let_sigterm_in,
                                after_in_child=_end_by_sigterm)

    def receive(self) -> Dict[str, Any]:
        """Waits for the trial. The end of all trials ends the script."""
        for line in self._in:
            message = self._parse(line)
            if message.get("type") == "exit":
                break
            if message.get("type") == "trial":
                if message.get("protocol") != 1:
                    raise errors.BadProtocol(
                        f"the agent speaks protocol {message.get('protocol')}, this "
                        "package 1", "take a package of the agent's version")
                threading.Thread(target=self._listen, daemon=True,
                                 name="frostline-stops").start()
                return message
        raise SystemExit(0)

    def _parse(self, line: str) -> Dict[str, Any]:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise errors.BadProtocol(
                f"standard input is no message of an agent: {line[:80]!r}",
                "start the script by frostline-worker --exec, or unset "
                "FROSTLINE_PROTOCOL to run it alone")
        return message

    def _listen(self) -> None:
        for line in self._in:
            message = self._parse(line)
            if message.get("type") == "stop":
                self._stop = message.get("reason", "cancelled")

    def _say(self, **message: Any) -> None:
        if os.getpid() != self._process:
            return
        with self._lock:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()

    def report(self, step, metrics, total_steps):
        message: Dict[str, Any] = {"type": "report", "step": step}
        if metrics:
            message["metrics"] = dict(metrics)
        if total_steps:
            message["total_steps"] = total_steps
        self._say(**message)
        return self._stop

    def stop_reason(self):
        return self._stop

    def checkpoint(self, name, step):
        self._say(type="checkpoint", id=name, step=step)

    def finish(self, state, metrics, cause, failure, usage):
        message: Dict[str, Any] = {"type": "finish", "state": state}
        if metrics:
            message["metrics"] = dict(metrics)
        if cause and state in ("failed", "infeasible", "pruned"):
            message["cause"] = cause
        if failure:
            message["class"] = failure
        if usage:
            message["usage"] = dict(usage)
        self._say(**message)

    def hand_back(self, reason):
        if self._stop:
            self._say(type="finish", state="stopped")
        else:  # as a signal to this process alone would be told
            self._say(type="finish", state="failed", cause=f"ended by {reason}",
                      **{"class": "infrastructure"})


def _go_on(*_: Any) -> None:
    """SIGTERM in the script's own process."""


# A signal that comes between a fork and the child's first words must not be lost.
_mask = threading.local()


def _hold_sigterm() -> None:
    _mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _let_sigterm_in() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.before)


def _end_by_sigterm() -> None:
    if signal.getsignal(signal.SIGTERM) is _go_on:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _let_sigterm_in()


def _end_with_script(trial: Trial) -> None:
    """The script's end is the trial's: well, by an exception, or by sys.exit()."""
    told_before, exit_before = sys.excepthook, sys.exit
    process = os.getpid()

    def note(kind, error, trace):
        if os.getpid() == process:
            trial.end_with(error.with_traceback(trace))
        told_before(kind, error, trace)

    def leave(status=None):
        if status not in (None, 0) and os.getpid() == process and not trial.ended:
            trial.fail(f"the script ended by sys.exit({status!r})")
        exit_before(status)

    def at_end():
        if os.getpid() == process:
            trial.end()

    sys.excepthook, sys.exit = note, leave
    atexit.register(at_end)
