# SPDX-License-Identifier: Apache-2.0
"""frostline-command: any command as a trainer, unedited.

    frostline-worker --exec "frostline-command --metrics 'regex:acc=(?P<accuracy>\\S+)' \\
        -- python train.py --lr {lr}"

It speaks the trainer protocol with the agent, starts the command for each trial, reads
metrics from what it writes, and stops it by signals. The command's output is the
trial's log."""
from __future__ import annotations

import argparse
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Mapping, Optional

from . import _metrics, _template, errors
from ._agent import AgentLink, inside
from ._trial import Trial

_LOOK = 0.25  # seconds between looks at files


def main(arguments: Optional[List[str]] = None) -> int:
    options = _options(sys.argv[1:] if arguments is None else arguments)
    if options.check:
        return _check(options)
    if not inside():
        print(errors.BadProtocol(
            "frostline-command is started by an agent",
            'frostline-worker --exec "frostline-command … -- COMMAND"'), file=sys.stderr)
        return 2
    link = AgentLink()
    trial = Trial(link.receive(), link)
    try:
        _Run(trial, options).run()
    except errors.Error as error:
        # The agent counts this as the study's or the command's own mistake: once.
        print(error, file=sys.stderr)
        trial.fail(f"FL-5015: {error.id}: {error.cause}; {error.fix}")
    except BaseException as error:
        trial.end_with(error)
        raise
    return 0


def _options(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="frostline-command", description="Any command as a trainer of trials.",
        usage="frostline-command [flags] -- COMMAND …")
    parser.add_argument("--metrics", action="append", default=[], metavar="KIND:WHAT",
                        help="regex:EXPR, jsonl:FILE (- is its output), "
                             "trainer_state:DIR, csv:FILE, tensorboard:DIR; may be "
                             "repeated")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW",
                        help="a metric's name in the study: eval_accuracy=accuracy")
    parser.add_argument("--config", metavar="FILE",
                        help="a YAML or JSON file; {config} is a copy with --set applied")
    parser.add_argument("--set", action="append", default=[], metavar="PATH={NAME}",
                        help="a value in that file: optimizer.lr={lr}")
    parser.add_argument("--grace", type=float, default=15.0, metavar="SECONDS",
                        help="from SIGTERM to SIGKILL when a trial must stop [15]")
    parser.add_argument("--in-folder", action="store_true",
                        help="run the command in the trial's own folder")
    parser.add_argument("--check", action="store_true",
                        help="look for mistakes without a trial, and end")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if not options.command:
        parser.error("name a command behind --")
    return options


def _pairs(texts: List[str]) -> Dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise errors.InvalidArgument(
                f"{name!r} is not NAME=VALUE", "write it with an equals sign",
                id="PY-1022")
    return {name: value for name, _, value in pairs}


def _check(options: argparse.Namespace) -> int:
    """All that can be known before there is a trial. A mistake is three lines: its id
    and cause, the flag, the fix (worker/agent/command.cc reads them)."""
    looks = {"--metrics": lambda: [_metrics.reader(text, pathlib.Path())
                                   for text in options.metrics],
             "--rename": lambda: _pairs(options.rename),
             "--config": lambda: options.config and
             _template.read_config(pathlib.Path(options.config)),
             "--set": lambda: _template.check_overlay(options.config,
                                                      _pairs(options.set)),
             "--command": lambda: _template.check_command(options.command,
                                                          options.config)}
    for flag, look in looks.items():
        try:
            look()
        except errors.Error as error:
            print(" ".join(f"{error.id}: {error.cause}".split()), flag,
                  " ".join(error.fix.split()), sep="\n")
            return 2
    return 0


class _Run:
    """One trial of the command."""

    def __init__(self, trial: Trial, options: argparse.Namespace) -> None:
        self._trial, self._options = trial, options
        self._names = _pairs(options.rename)
        where = trial.folder if options.in_folder else pathlib.Path.cwd()
        self._folder = where
        known = _template.values_of(trial)
        self._readers = [
            _metrics.reader(_filled_file(text, known), where) for text in options.metrics]
        self._step, self._first_stop = -1, 0.0

    def run(self) -> None:
        process = subprocess.Popen(
            self._command(), cwd=self._folder, env=self._environment(),
            stdout=subprocess.PIPE, stderr=sys.stderr, stdin=subprocess.DEVNULL,
            start_new_session=True)
        lines: "queue.Queue[Optional[str]]" = queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
        open_ = True
        while open_ or process.poll() is None:
            open_ = self._hear(lines, open_)
            self._look()
            if self._trial.stop_reason:
                self._stop(process)
            if not open_:
                time.sleep(0.02)
        self._look(ended=True)
        self._end(process.wait())

    def _command(self) -> List[str]:
        target = None
        if self._options.config:
            source = pathlib.Path(self._options.config)
            target = self._trial.folder / source.name
            _template.overlay(source, _pairs(self._options.set), self._trial, target)
        elif self._options.set:
            raise errors.InvalidArgument("--set without --config",
                                         "name the file it changes", id="PY-1022")
        command = self._options.command
        if len(command) == 1:  # in one piece, as a shell would have it
            return _template.command_of(command[0], self._trial, target)
        known, words = _template.values_of(self._trial, target), []
        for word in command:
            words += _template.args_of(self._trial) if word == "{args}" else [
                _template.filled(word, known)]
        return words

    def _environment(self) -> Dict[str, str]:
        # The command is no trainer of the agent's: frostline.trial() in it would be.
        kept = {k: v for k, v in os.environ.items() if k != "FROSTLINE_PROTOCOL"}
        return {**kept, "PYTHONUNBUFFERED": "1", "FROSTLINE_TRIAL": self._trial.name,
                "FROSTLINE_FOLDER": str(self._trial.folder)}

    def _hear(self, lines: "queue.Queue[Optional[str]]", open_: bool) -> bool:
        try:
            while open_:
                line = lines.get(timeout=_LOOK)
                if line is None:
                    return False
                sys.stderr.write(line)
                sys.stderr.flush()
                for reader in self._readers:
                    for step, metrics in reader.hear(line):
                        self._report(step, metrics)
                if lines.empty():
                    break
        except queue.Empty:
            pass
        return open_

    def _look(self, ended: bool = False) -> None:
        for reader in self._readers:
            for step, metrics in reader.look(ended):
                self._report(step, metrics)

    def _report(self, step: int, metrics: Mapping[str, float]) -> None:
        named = {self._names.get(name, name): value for name, value in metrics.items()}
        kept = dict(sorted(named.items())[:64])
        if step <= self._trial.last_step:  # of two readers, or of a command that restarts
            self._trial.metrics.update(kept)
            return
        self._trial.report(step, kept)

    def _stop(self, process: Any) -> None:
        now = time.monotonic()
        if not self._first_stop:
            self._first_stop = now
            _signal(process, signal.SIGTERM)
        elif now - self._first_stop > self._options.grace:
            _signal(process, signal.SIGKILL)

    def _end(self, code: int) -> None:
        trial = self._trial
        if self._first_stop or code == 0:
            missing = [o["metric"] for o in trial.objectives
                       if o["metric"] not in trial.metrics]
            if missing and not self._first_stop:
                there = ", ".join(trial.metrics) or "none"
                # Another try would read the same: it is the study's fault, told once.
                trial.fail(f"FL-5015: PY-1004: the command ended well and never wrote "
                           f"{missing[0]!r}; what was read: {there}; see --metrics and "
                           "--rename")
                return
            trial.end()
        elif code in (-signal.SIGKILL, 137):
            trial.fail("the command was killed (SIGKILL), as where memory is short",
                       failure="out_of_memory")
        elif code in (126, 127):
            trial.fail(f"the command could not be started (exit code {code})",
                       failure="infrastructure")
        else:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            trial.fail(f"the command ended by {how}; its output is the trial's log")


def _filled_file(text: str, known: Mapping[str, Any]) -> str:
    """A reader's file may name the trial's folder; an expression has braces of its own."""
    return text if text.startswith("regex:") else _template.filled(text, known)


def _read(stream: Any, lines: "queue.Queue[Optional[str]]") -> None:
    for raw in stream:
        lines.put(raw.decode("utf-8", "replace"))
    lines.put(None)


def _signal(process: Any, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    sys.exit(main())
