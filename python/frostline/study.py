# SPDX-License-Identifier: Apache-2.0
"""Studies, from Python: create one, train its trials, read what came of it.

    with frostline.connect() as client:
        study = client.create_study("toy", maximize="score", budget=20,
                                    space={"parameters": {"x": {"float": [0, 1]}}})
        for trial in study.trials():
            with trial:
                trial.complete(score=1 - trial["x"] ** 2)
        print(study.best_trial)
"""
from __future__ import annotations

import os
import pathlib
import signal
import sys
import threading
import time
import warnings
import traceback
from typing import Any, AsyncIterator, Dict, Generator, Iterator, List, Mapping, Optional

from . import _aio, _live, _ranks, _show, _spec, errors
from ._lease import Session
from ._trial import Link, Trial
from ._wire import PATIENCE, Channel, contract, request_id

ENDED = ("STOPPED", "COMPLETED", "DELETED")  # states that a study does not leave
_NEVER = ("NO_STUDY", "STUDY_ENDED")  # there will be no trial of it
_BAD_IN_A_ROW = 3
_UNMEASURED_IN_A_ROW = 2  # then the coordinator pauses the study


def connect(address: str = "", *, token: str = "", ca: str = "") -> "Client":
    """A coordinator: at `address`, else $FROSTLINE_CONNECT, else 127.0.0.1:7070. Nothing
    is sent before the first call."""
    address = address or os.environ.get("FROSTLINE_CONNECT", "127.0.0.1:7070")
    file = os.environ.get("FROSTLINE_TOKEN_FILE")
    if not token and file:
        try:
            token = pathlib.Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise errors.Unauthenticated(
                f"FROSTLINE_TOKEN_FILE cannot be read: {error}",
                "name a file that holds a token, of mode 0600", id="PY-1014") from None
    return Client(Channel(address, token, ca or os.environ.get("FROSTLINE_TLS_CA", "")))


class Client:
    """One coordinator."""

    def __init__(self, channel: Channel, keep: Any = None) -> None:
        self._channel = channel
        self._keep = keep  # what has to live as long as this client

    @property
    def address(self) -> str:
        """host:port, or unix:PATH."""
        return self._channel.address

    def call(self, service: str, method: str, **content: Any) -> Dict[str, Any]:
        """Any call of the contract, in Protobuf's JSON."""
        _, ask, _, _ = contract().method(service, method)
        request = contract().make(ask.DESCRIPTOR.name, content)
        return contract().plain(self._channel.call(service, method, request))

    def create_study(self, id: str, *, validate_only: bool = False, **keys: Any) -> "Study":
        """A new study, in the words of study files (docs/reference/study-file.md), with
        maximize=… or minimize=… for its objective; the same again answers the one
        that is there. What would be set better stands in its `advice`."""
        spec, settings = _spec.study_messages(keys)
        request = contract().make("CreateStudyRequest", {
            "request_id": request_id(), "study_id": id, "spec": spec,
            "settings": settings, "validate_only": validate_only})
        reply = self._channel.call("StudyService", "CreateStudy", request,
                                   patience=PATIENCE if not validate_only else 0)
        return Study(self._channel, reply.study, list(reply.advice))

    def study(self, id: str) -> "Study":
        """A study that is there, by its id; NotFound where it is not."""
        name = id if id.startswith("studies/") else f"studies/{id}"
        return Study(self._channel, self._channel.call("StudyService", "GetStudy", name=name))

    def import_optuna(self, source: Any, study_name: Optional[str] = None, *,
                      id: Optional[str] = None, modules: Optional[Mapping[str, str]] = None,
                      others: float = 0.0) -> "Study":
        """A study of Optuna's with all its ended trials, as a new study: a database or
        journal file, a storage's URL, or the study itself. `modules` says which
        parameters are the rate of a module, {r"lr_(\\d+)": "layer.{}"}; `others` at
        which rate modules trained that it did not search. What has no place here is
        warned of."""
        from . import history
        made, notes = history.import_optuna(self, source, study_name, id, modules, others)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return made

    def studies(self) -> List["Study"]:
        """All that this token may see."""
        found: List[Study] = []
        token = ""
        while True:
            page = self._channel.call("StudyService", "ListStudies", page_token=token)
            found += [Study(self._channel, one) for one in page.studies]
            token = page.next_page_token
            if not token:
                return found

    def close(self) -> None:
        """Ends the connection, and a coordinator of `local` with its last user."""
        self._channel.close()
        if self._keep is not None:
            self._keep.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<frostline.Client {self.address}>"


class Study:
    """A search, by its `id` (`name` is studies/ID). Its trials are leased here and shown
    here."""

    def __init__(self, channel: Channel, message: Any, advice: Optional[List[str]] = None):
        self._channel, self._message = channel, message
        self.name: str = message.name
        self.id = self.name.split("/", 1)[1]
        self.advice = advice or []  # what a better setting would be, in sentences
        self._session: Optional[Session] = None
        self._lock = threading.Lock()
        self._asked: Dict[Optional[int], Trial] = {}

    # --- doors onto the lease loop ---

    def ask(self, wait: float = 60.0, *, worker: str = "") -> Optional[Trial]:
        """A trial to be trained by the caller, leased and renewed until `tell`. None
        where the study has ended, or has none within `wait` seconds."""
        session, end = self._open(worker), time.monotonic() + wait
        while True:
            left = max(0.0, end - time.monotonic())
            trial = session.acquire(min(left, 10.0))
            if trial is not None:
                self._asked[trial.number] = trial
                return trial
            if self._has_ended() or session.none in _NEVER or left <= 0:
                return None
            time.sleep(min(left, session.retry_after, 1.0))

    def tell(self, trial: Any, metrics: Optional[Mapping[str, float]] = None, *,
             state: str = "succeeded", cause: str = "", **more: float) -> None:
        """How a trial of `ask` ended: a Trial or its number, and its metrics. `state` is
        succeeded, pruned, infeasible or failed, which is tried again."""
        number = trial.number if isinstance(trial, Trial) else trial
        asked = self._asked.get(number)
        if asked is None:
            raise errors.NotFound(
                f"trial {number} was not asked for here, or is told already",
                "tell what ask() returned, once", id="PY-1015")
        if state == "succeeded":
            asked.complete(metrics, **more)
        elif state == "failed":
            asked.fail(cause)
        elif state == "infeasible":
            asked.infeasible(cause)
        elif state == "pruned":
            asked.prune(cause)
        else:
            raise errors.InvalidArgument(
                f"a trial does not end as {state!r}",
                "take succeeded, failed, infeasible or pruned", id="PY-1016")
        self._asked.pop(number)

    def trials(self, *, worker: str = "", labels: Optional[Mapping[str, str]] = None,
               max_idle: float = 600.0, grace: float = 15.0,
               progress: Optional[bool] = None) -> Generator[Trial, None, None]:
        """Trials to train, until the study ends or `max_idle` seconds bring none.

            for trial in study.trials():
                with trial:
                    for epoch in range(3):
                        if trial.report(epoch, accuracy=train(trial, epoch)):
                            break

        An exception within `with` fails this attempt, is printed, and the loop goes on;
        the third in a row is raised, and the second trial that ended without an objective.
        On SIGTERM `report` says stop, and after `grace`
        seconds the script ends; either way the trial is handed back. `progress`: a line
        in a terminal or a table in a notebook says how it goes; None: where there is one."""
        if _ranks.rank() > 0:
            yield from self._followed()
            return
        session = Session(self._channel, study=self.name, worker=worker, labels=labels,
                          slots=1)
        watch, idle_since, bad = _Signals(grace), time.monotonic(), 0
        current: Optional[Trial] = None
        live = _live.shown(self, progress)
        try:
            live.look()
            while not watch.told:
                trial = session.acquire()
                if trial is None:
                    idle = time.monotonic() - idle_since
                    if self._has_ended() or session.none in _NEVER or idle > max_idle:
                        return
                    time.sleep(min(session.retry_after, 1.0))
                    continue
                current = trial
                trial._link = watch.over(trial._link)
                trial._link = _ranks.lead(_shared(trial), trial._link)
                live.over(trial)
                guarded = _Guarded(trial)
                yield guarded
                trial.end()
                live.ended(trial)
                error = guarded.error or trial.unmeasured
                bad = bad + 1 if error else 0
                most = _UNMEASURED_IN_A_ROW if trial.unmeasured else _BAD_IN_A_ROW
                if error and bad >= most:
                    raise error
                idle_since = time.monotonic()
        except errors.LeaseLost as error:
            print(error, file=sys.stderr)
        finally:
            _ranks.lead(None, Link())
            if current is not None and not current.ended and session.usable:
                _ignore_loss(current.hand_back)
            watch.close()
            session.close()
            live.close()

    def _followed(self) -> Iterator[Trial]:
        while True:
            found = _ranks.follow()
            if not found:
                return
            yield Trial(*found)

    async def ask_async(self, wait: float = 60.0, *, worker: str = "") -> Optional[Trial]:
        """`ask`, while the loop goes on. Where the task is cancelled meanwhile, a trial
        that still comes is handed back."""
        return await _aio.aside(lambda: self.ask(wait, worker=worker), _give_back)

    async def tell_async(self, trial: Any, metrics: Optional[Mapping[str, float]] = None,
                         **more: Any) -> None:
        """`tell`, while the loop goes on."""
        await _aio.aside(lambda: self.tell(trial, metrics, **more))

    async def atrials(self, *, worker: str = "", labels: Optional[Mapping[str, str]] = None,
                      max_idle: float = 600.0) -> AsyncIterator[Trial]:
        """`trials` under asyncio; each loop is a worker of its own.

            async for trial in study.atrials():
                async with trial:
                    await trial.report_async(1, accuracy=await train(trial))

        A task that is cancelled hands its trial back; signals are the script's own:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)."""
        loop = self.trials(worker=worker, labels=labels, max_idle=max_idle, progress=False)
        try:
            # What was being asked for when the task was cancelled ends there.
            while trial := await _aio.aside(lambda: next(loop, None), lambda _: loop.close()):
                yield trial
        finally:
            if not loop.gi_running:
                await _aio.aside(loop.close)

    def _open(self, worker: str) -> Session:
        with self._lock:
            if self._session is None or not self._session.usable:
                self._session = Session(self._channel, study=self.name, worker=worker)
            return self._session

    def _has_ended(self) -> bool:
        self.refresh()
        return self.state in ENDED

    # --- what it is ---

    def refresh(self) -> "Study":
        """Asks the coordinator again; properties say what was known then."""
        self._message = self._channel.call(
            "StudyService", "GetStudy", name=self.name, patience=PATIENCE)
        return self

    @property
    def state(self) -> str:
        """ACTIVE, PAUSED, STOPPED, COMPLETED or DELETED."""
        return _show.enum(self._message, "state")[len("STUDY_STATE_"):]

    @property
    def objectives(self) -> List[str]:
        """The metrics that it searches by, in the order of `Result.values`."""
        return [one.metric for one in self._message.spec.objectives]

    @property
    def counts(self) -> Dict[str, int]:
        """How many trials are in each state, and how much of the budget is used."""
        counts = self._message.counts
        return {field.name: getattr(counts, field.name) for field in counts.DESCRIPTOR.fields}

    @property
    def best_trials(self) -> List["Result"]:
        """The best by one objective; by several, those that no other one beats."""
        reply = self._channel.call("StudyService", "ListBestTrials", name=self.name)
        return [Result(one) for one in reply.trials]

    @property
    def best_trial(self) -> Optional["Result"]:
        """The first of `best_trials`; None before one has succeeded."""
        return next(iter(self.best_trials), None)

    def results(self, filter: str = "", *, rates: bool = False) -> Iterator["Result"]:
        """All trials as they are now: `state = SUCCEEDED AND values[0] > 0.9`."""
        token = ""
        while True:
            page = self._channel.call(
                "StudyService", "ListTrials", parent=self.name, page_size=1000,
                page_token=token, filter=filter, view=2 if rates else 1)
            yield from (Result(one) for one in page.trials)
            token = page.next_page_token
            if not token:
                return

    def wait(self, timeout: Optional[float] = None, every: float = 1.0, *,
             progress: Optional[bool] = None) -> "Study":
        """Until the study has ended; `progress` as in `trials`."""
        end = None if timeout is None else time.monotonic() + timeout
        live = _live.shown(self, progress)
        try:
            while not self._has_ended():
                live.look()
                if end is not None and time.monotonic() > end:
                    raise errors.DeadlineExceeded(
                        f"{self.name} has not ended within {timeout:g} s: "
                        f"{self.counts['budget_used']} trials have",
                        "wait longer, or see why with `frostline study why`",
                        id="PY-1017")
                time.sleep(every)
        finally:
            live.close()
        return self

    # --- what it says ---

    def curve(self, number: int) -> Iterator[Any]:
        """What a trial measured on its way: messages with `step` and `metrics`."""
        token = ""
        while True:
            page = self._channel.call("StudyService", "ListMeasurements",
                                      name=f"{self.name}/trials/{number}", page_token=token)
            yield from page.measurements
            token = page.next_page_token
            if not token:
                return

    def changes(self, after_revision: int = 0) -> Iterator["Result"]:
        """Trials that have changed after a revision, as they are now, by rising
        `revision`; all of them after 0."""
        while True:
            request = contract().make("GetStudyDeltaRequest", {
                "name": self.name, "after_revision": after_revision, "max_trials": 1000,
                "view": "TRIAL_VIEW_FULL"})
            delta = self._channel.call("StudyService", "GetStudyDelta", request)
            yield from map(Result, delta.trials)
            after_revision = delta.revision
            if not delta.more:
                return

    def exported(self, *, with_measurements: bool = False) -> Iterator[bytes]:
        """`frostline study export`: pieces of JSON lines."""
        request = contract().make("ExportTrialsRequest", {
            "name": self.name, "with_measurements": with_measurements})
        for chunk in self._channel.stream("StudyService", "ExportTrials", request):
            yield chunk.data

    def to_optuna(self, storage: Any = None, study_name: Optional[str] = None, *,
                  replace: bool = False) -> Any:
        """The ended trials as a new study of Optuna's, in memory, in a storage, or in a
        journal ("ours.log", `replace`: also where it is there): values, curves,
        constraints, labels. optuna.visualization and optuna-dashboard read it."""
        from . import history
        return history.to_optuna(self, storage, study_name, replace)

    def to_pandas(self, filter: str = "", *, rates: bool = False) -> Any:
        """A row for each trial, with the same columns whatever there is: number, state,
        values, params_…, metrics_…, and rates_… where asked for."""
        return _show.frame(self, self.results(filter, rates=rates), rates)

    def importance(self, **options: Any) -> "_show.Importance":
        """Which parameters mattered, and how sure that is. `options` are those of
        `frostline importance`: target="loss", evaluator="levels", filter="…"."""
        request = contract().make("GetReportRequest", {
            "study": self.name, "options": options})
        return _show.Importance(self._channel.call(
            "ImportanceService", "GetReport", request, deadline=120.0))

    def plan(self, tolerance: Optional[float] = None) -> "_show.Plan":
        """What to freeze, and at which rate to train the rest."""
        more = {} if tolerance is None else {"tolerance": tolerance}
        request = contract().make("GetPlanRequest", {"study": self.name, **more})
        return _show.Plan(self._channel.call(
            "ImportanceService", "GetPlan", request, deadline=120.0))

    def plan_for(self, tool: str, tolerance: Optional[float] = None) -> str:
        """The plan in the words of another tool: settings for `axolotl`, `llama-factory`
        and `ms-swift`, lines of Python for `peft`, `unsloth`, `timm`, `torch` and
        `hf-trainer`. Its comments say where it differs from the plan."""
        more = {} if tolerance is None else {"tolerance": tolerance}
        request = contract().make("GetPlanRequest", {
            "study": self.name, "for_tool": tool, **more})
        return str(self._channel.call(
            "ImportanceService", "GetPlan", request, deadline=120.0).in_tool.text)

    def _repr_html_(self) -> str:
        return _show.study_html(self.refresh(), self.best_trial)

    def __repr__(self) -> str:
        return f"<frostline.Study {self.id}, {self.state}, {self.counts['budget_used']} trials>"

    # --- what it is told ---

    def enqueue(self, *points: Mapping[str, Any], raise_budget: bool = False) -> None:
        """Trials to run next: {"values": {…}} or {"strategy": "full"}."""
        request = contract().make("EnqueueTrialsRequest", {
            "request_id": request_id(), "name": self.name, "raise_budget": raise_budget,
            "trials": [_spec.enqueued(one) for one in points]})
        self._channel.call("StudyService", "EnqueueTrials", request, patience=PATIENCE)

    def pause(self, reason: str = "") -> None:
        """Starts no more trials; those that run go on."""
        self._change("PauseStudy", reason=reason)

    def resume(self) -> None:
        """Starts trials again."""
        self._change("ResumeStudy")

    def stop(self, reason: str = "", *, let_running_finish: bool = False) -> None:
        """Ends the search for good."""
        self._change("StopStudy", reason=reason, let_running_finish=let_running_finish)

    def _change(self, method: str, **fields: Any) -> None:
        self._message = self._channel.call(
            "StudyService", method, request_id=request_id(), name=self.name,
            patience=PATIENCE, **fields)

    def close(self) -> None:
        """Hands back what was asked for and not told."""
        if self._session is not None:
            self._session.close()


class Result:
    """A trial as the coordinator has it: `name`, `number`, `state`, `values` by the
    objectives, and the `cause` where it ended otherwise than well."""

    def __init__(self, message: Any) -> None:
        self._message = message
        self.name: str = message.name
        self.number: int = message.number
        self.state = _show.enum(message, "state").removeprefix("TRIAL_STATE_")
        self.values = list(message.values)
        self.cause: str = message.cause
        self.revision: int = message.revision

    @property
    def parameters(self) -> Dict[str, Any]:
        """What the search chose."""
        return {one.name: _show.value(one.value) for one in self._message.parameters}

    @property
    def rates(self) -> Dict[str, float]:
        """The learning rate of each module, 0 where it is frozen. `results()` has them
        with rates=True."""
        return {one.module: one.rate for one in self._message.rates}

    @property
    def metrics(self) -> Dict[str, float]:
        """All that it measured at its end, by name."""
        return dict(self._message.metrics)

    def __repr__(self) -> str:
        return f"<trial {self.number}, {self.state}, {self.values}, {self.parameters}>"


class _Guarded(Trial):
    """A trial of the loop: what its body raises ends the attempt, not the loop."""

    error: Optional[Exception]

    def __init__(self, trial: Trial) -> None:  # it is that trial, not a copy
        self.__dict__ = trial.__dict__
        self.__dict__["error"] = None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Optional[bool]:
        if isinstance(error, Exception) and not isinstance(error, errors.LeaseLost):
            self.end_with(error)
            traceback.print_exception(kind, error, trace, file=sys.stderr)
            self.__dict__["error"] = error
            return True
        if isinstance(error, errors.LeaseLost):
            print(error, file=sys.stderr)
            self._ended = "lost"
            return True
        return super().__exit__(kind, error, trace)


class _Signals:
    """SIGTERM as a stop, and after some grace as the end."""

    def __init__(self, grace: float) -> None:
        self.told, self._grace = False, grace
        self._timer: Optional[threading.Timer] = None
        self._old: Any = None
        self._process = os.getpid()
        if threading.current_thread() is threading.main_thread():
            self._old = signal.signal(signal.SIGTERM, self._hear)

    def _hear(self, *_: Any) -> None:
        if self.told or os.getpid() != self._process:
            raise SystemExit(75)  # run it again
        self.told = True
        self._timer = threading.Timer(
            self._grace, os.kill, (os.getpid(), signal.SIGTERM))
        self._timer.daemon = True
        self._timer.start()

    def over(self, link: Any) -> Any:
        """The link, which now says `preempt` once a signal came."""
        report, reason = link.report, link.stop_reason
        link.report = lambda *a: report(*a) or ("preempt" if self.told else None)
        link.stop_reason = lambda: reason() or ("preempt" if self.told else None)
        return link

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._old is not None and os.getpid() == self._process:
            signal.signal(signal.SIGTERM, self._old)


def _shared(trial: Trial) -> Dict[str, Any]:
    """What other ranks need to know of it."""
    return {"trial": trial.name, "attempt": trial.attempt, "parameters": trial.parameters,
            "rates": trial.rates, "seed": trial.seed, "prefix_depth": trial.prefix_depth,
            "objectives": trial.objectives, "model": trial.model, "data": trial.data,
            "training": trial.training, "freeze": trial.freeze, "labels": trial.labels,
            "folder": trial._folder, "resume_from": trial.resume_from}


def _give_back(trial: Optional[Trial]) -> None:
    if trial is not None and not trial.ended:
        _ignore_loss(trial.hand_back)


def _ignore_loss(call: Any) -> None:
    try:
        call()
    except errors.Error as error:
        print(error, file=sys.stderr)
