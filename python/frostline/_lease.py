# SPDX-License-Identifier: Apache-2.0
"""The lease loop: this process as a worker of its own.

A session registers once, asks for trials by a long poll, and renews all its leases
from one thread. Every write names the attempt and its secret, and every request that
is repeated is the same request, so nothing is lost or run twice. Reports that cannot be
delivered wait and go with the next one, or with the outcome."""
from __future__ import annotations

import atexit
import itertools
import os
import pathlib
import socket
import threading
import time
import uuid
import weakref
from typing import Any, Dict, List, Mapping, Optional

from . import errors
from ._trial import Link, Trial
from ._wire import PATIENCE, Channel, contract, request_id, whole
from .version import VERSION

_GOOD_BYE = 5.0  # seconds to hand a trial back; its lease ends without it, too
_STATES = {"succeeded": "SUCCEEDED", "pruned": "PRUNED", "infeasible": "INFEASIBLE",
           "failed": "FAILED"}
_FAILURES = {"trial": 1, "out_of_memory": 2, "infrastructure": 3}
_DIRECTIVES = {2: "pruned", 3: "cancelled", 4: "drain"}
_LOST = 5
_RELEASES = {"unrun": 1, "preempt": 2, "drain": 3, "hang": 2}
_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()


class Session:
    """A worker with one life: registered, renewing, and at the end gone."""

    def __init__(self, channel: Channel, *, study: str = "", worker: str = "",
                 labels: Optional[Mapping[str, str]] = None,
                 run_folder: str = "frostline-runs", slots: int = 64) -> None:
        self._channel, self._study = channel, study
        self._id = worker or f"py-{_host()}-{os.getpid()}-{uuid.uuid4().hex[:4]}"
        self._name, self._boot = f"workers/{self._id}", uuid.uuid4().hex
        self._labels, self._slots = dict(labels or {}), slots
        self._runs = pathlib.Path(run_folder).absolute()
        self._process = os.getpid()
        self._leases: Dict[str, LeaseLink] = {}
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._closed, self._draining, self._sequence = False, False, 0
        self._asked = itertools.count(1)
        self._told = threading.local()  # what `acquire` was last told, by thread
        self._register()
        self._thread = threading.Thread(target=self._renew, daemon=True,
                                        name="frostline-heartbeat")
        self._thread.start()
        _sessions.add(self)

    @property
    def usable(self) -> bool:
        return not self._closed and os.getpid() == self._process

    def _register(self) -> None:
        made = contract()
        worker = made.message("Worker")(
            boot_id=self._boot, slots=self._slots, version=f"python {VERSION}",
            labels=self._labels, run_folder=str(self._runs))
        worker.hardware.host = _host()
        worker.hardware.cpu_cores = os.cpu_count() or 1
        reply = self._channel.call(
            "WorkerService", "Register", request_id=request_id(), patience=PATIENCE,
            worker_id=self._id, worker=worker)
        self._interval = _seconds(reply.heartbeat_interval) or 15.0

    @property
    def none(self) -> str:
        """Why the last `acquire` of this thread brought no trial."""
        return self._told.none

    @property
    def retry_after(self) -> float:
        return self._told.retry_after

    def acquire(self, wait: float = 10.0) -> "Optional[Trial]":
        """The next trial; None and `self.none` where there is none yet."""
        ask = contract().message("AcquireRequest")(
            request_id=f"{self._boot}-{next(self._asked)}", worker=self._name,
            boot_id=self._boot, max_leases=1, study=self._study)
        wait = max(0.0, min(wait, 25.0))
        ask.wait.FromMilliseconds(int(wait * 1000))
        try:
            reply = self._channel.call("WorkerService", "Acquire", ask,
                                       deadline=wait + 10, patience=PATIENCE)
        except errors.NotFound as error:
            if error.reason != "WORKER_UNKNOWN":
                raise
            self._register()
            reply = self._channel.call("WorkerService", "Acquire", ask,
                                       deadline=wait + 10, patience=PATIENCE)
        if not reply.leases:
            kind = contract().message("AcquireReply").DESCRIPTOR.fields_by_name[
                "none_reason"].enum_type
            self._told.none = kind.values_by_number[reply.none_reason].name
            self._told.retry_after = _seconds(reply.retry_after)
            return None
        lease = reply.leases[0]
        link = LeaseLink(self, lease)
        with self._lock:
            self._leases[lease.trial] = link
            self._interval = min(self._interval,
                                 _seconds(lease.heartbeat_interval) or 15.0)
        self._wake.set()
        return Trial(self._spec_of(lease), link)

    def _spec_of(self, lease: Any) -> Dict[str, Any]:
        """A lease in the words of the trainer protocol."""
        plain = contract().plain(lease.spec)
        study, number = lease.trial.split("/")[1::2]
        return {
            "trial": lease.trial, "attempt": lease.attempt,
            "parameters": {p["name"]: whole(p.get("value"))
                           for p in plain.get("parameters", ())},
            "rates": {r.module: r.rate for r in lease.spec.rates},
            "seed": lease.spec.seed, "prefix_depth": lease.spec.prefix_depth,
            "objectives": [
                {"metric": o.metric,
                 "direction": "minimize" if o.direction == 1 else "maximize"}
                for o in lease.spec.objectives],
            "model": plain.get("model"), "data": plain.get("data"),
            "training": plain.get("training"), "freeze": plain.get("freeze"),
            "labels": plain.get("labels"),
            "folder": str(self._runs / "trials" / study / number / str(lease.attempt)),
            "resume_from": plain_checkpoint(lease)}

    def call(self, name: str, request: Any, **options: Any) -> Any:
        return self._channel.call("WorkerService", name, request, **options)

    def forget(self, trial: str) -> None:
        with self._lock:
            self._leases.pop(trial, None)

    # --- the thread ---

    def _renew(self) -> None:
        while not self._closed:
            self._wake.wait(self._interval)
            if self._closed:
                return
            if self._wake.is_set():  # a new lease: its interval may be shorter
                self._wake.clear()
                continue
            try:
                self._heartbeat()
            except errors.NotFound as error:
                if error.reason == "WORKER_UNKNOWN":
                    self._quietly(self._register)
            except errors.Error:
                pass  # the next one may get through; the lease has its TTL

    def _heartbeat(self, leaving: bool = False) -> None:
        with self._lock:
            held = list(self._leases.values())
            self._sequence += 1
            sequence = self._sequence
        made = contract()
        request = made.message("HeartbeatRequest")(
            worker=self._name, boot_id=self._boot, sequence=sequence, leaving=leaving)
        for link in held:
            one = request.leases.add(lease=link.ref, step=max(0, link.step))
            one.since_step.FromMilliseconds(int(1000 * (time.monotonic() - link.moved)))
        reply = self.call("Heartbeat", request, deadline=max(5.0, self._interval))
        self._draining = reply.drain
        for link, directive in zip(held, reply.directives):
            link.obey(directive.action)

    @staticmethod
    def _quietly(call, *arguments) -> bool:
        try:
            call(*arguments)
        except errors.Error as error:
            return not isinstance(error, errors.Unavailable)
        return True

    def close(self) -> None:
        """Hands back what is held and says good-bye. Where no coordinator answers it
        does not wait: the leases end by themselves."""
        if self._closed or os.getpid() != self._process:
            return
        self._closed = True
        self._wake.set()
        with self._lock:
            held = list(self._leases.values())
        for link in held:
            if not self._quietly(link.hand_back, "preempt", 0.0):
                return
        self._quietly(self._heartbeat, True)


class LeaseLink(Link):
    """The words of a trial that this process has leased itself."""

    def __init__(self, session: Session, lease: Any) -> None:
        self._session = session
        self.ref = contract().message("LeaseRef")(
            trial=lease.trial, attempt=lease.attempt, secret=lease.secret)
        self.step, self.moved = -1, time.monotonic()
        self._began = time.monotonic()
        self._stop: Optional[str] = None
        self._lost, self._sequence = False, 0
        self._waiting: List[Any] = []  # measurements that were not delivered
        self._checkpoint: Any = None

    def obey(self, action: int) -> None:
        self._lost = self._lost or action == _LOST
        self._stop = _DIRECTIVES.get(action, self._stop)

    def _check(self) -> None:
        if self._lost:
            self._session.forget(self.ref.trial)
            raise errors.LeaseLost(
                f"{self.ref.trial} is no longer leased to this process (attempt "
                f"{self.ref.attempt}): it was silent for too long, or the trial was "
                "taken back", "stop training it; its result belongs to another attempt")

    def report(self, step, metrics, total_steps):
        self._check()
        self.step, self.moved = step, time.monotonic()
        if metrics:
            self._waiting.append(contract().message("Measurement")(
                step=step, metrics=metrics, elapsed_s=time.monotonic() - self._began))
            self._send(deadline=5.0)
        self._check()
        return self._stop

    def _send(self, deadline: float) -> None:
        self._sequence += 1
        request = contract().message("ReportRequest")(
            lease=self.ref, measurements=self._waiting[:1000], sequence=self._sequence)
        if self._checkpoint is not None:
            request.checkpoint.CopyFrom(self._checkpoint)
        try:
            reply = self._session.call("Report", request, deadline=deadline)
        except (errors.Unavailable, errors.DeadlineExceeded, errors.ResourceExhausted):
            return  # they go with the next report, or with the outcome
        except errors.LeaseLost:
            self._lost = True
            return
        except errors.InvalidArgument:
            self._waiting = self._waiting[:-1]  # refused, and not to be sent again
            raise
        self._waiting, self._checkpoint = self._waiting[1000:], None
        self.obey(reply.directive.action)

    def stop_reason(self):
        self._check()
        return self._stop

    def checkpoint(self, name, step):
        self._checkpoint = contract().message("Checkpoint")(
            id=f"{self.ref.trial.rsplit('/', 1)[-1]}.{self.ref.attempt}.{name}", step=step)
        self._send(deadline=5.0)
        self._check()

    def finish(self, state, metrics, cause, failure, usage):
        if state == "stopped":
            state = "pruned" if self._stop != "cancelled" else "cancelled"
        kinds = contract().message("Outcome").DESCRIPTOR.enum_types_by_name["Kind"]
        outcome = contract().message("Outcome")(
            kind=kinds.values_by_name[_STATES.get(state, "CANCELLED")].number,
            metrics=metrics, cause=cause, failure=_FAILURES.get(failure, 0))
        outcome.usage.total_seconds = time.monotonic() - self._began
        for name, value in usage.items():
            setattr(outcome.usage, name, value)
        self._deliver("Finish", contract().message("FinishRequest")(
            lease=self.ref, outcome=outcome, measurements=self._waiting[-1000:]))

    def hand_back(self, reason, patience=_GOOD_BYE):
        request = contract().message("ReleaseRequest")(
            lease=self.ref, reason=_RELEASES.get(reason, 2),
            measurements=self._waiting[-1000:], detail=f"handed back: {reason}")
        if self._checkpoint is not None:
            request.checkpoint.CopyFrom(self._checkpoint)
        self._deliver("Release", request, patience)

    def _deliver(self, name: str, request: Any, patience: float = PATIENCE) -> None:
        try:
            self._session.call(name, request, patience=patience)
        except errors.LeaseLost:
            self._lost = True
            self._check()
        finally:
            self._session.forget(self.ref.trial)


def plain_checkpoint(lease: Any) -> Optional[Dict[str, Any]]:
    """Where to go on. The path is the agent's business; here it has none."""
    if not lease.HasField("resume_from"):
        return None
    one = lease.resume_from
    return {"id": one.id, "step": one.step, "sha256": one.sha256}


def _seconds(duration: Any) -> float:
    return duration.seconds + duration.nanos / 1e9


def _host() -> str:
    kept = [c if c.isalnum() else "-" for c in socket.gethostname().lower()]
    return "".join(kept)[:24].strip("-") or "host"


@atexit.register
def _close_all() -> None:
    for session in list(_sessions):
        session.close()
