# SPDX-License-Identifier: Apache-2.0
"""Our search and our importance inside Optuna: a sampler and an importance evaluator.

    sampler = FrostlineSampler(seed=1)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=50)
    optuna.importance.get_param_importances(study, evaluator=FrostlineImportanceEvaluator())

For each study of Optuna's the coordinator keeps a study of the same space, the twin: a
trial of Optuna's is a leased trial of the twin, and what Optuna has from elsewhere is
imported there. So the draws are those of a study here, to the bit, several processes share
one search, and `frostline importance` works on the twin meanwhile. Where no coordinator is
named, one of this user's own is started."""
from __future__ import annotations

import hashlib
import json
import math
import threading
import types
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import errors
from ._spec import study_messages
from ._wire import contract, need
from .history import _ENDED, _Space, _choice, _id_of, _row, _send

optuna = need("optuna")

_OURS = "frostline:trial"  # the attribute that names a trial's lease
_WAIT = 60.0  # seconds for the twin to propose a point
_MOST_AT_ONCE = 1000  # as many as Optuna asks for: it does not wait for what runs
_MOST_CHOICES = 1000
_WHOLE = 2 ** 53  # beyond it not every integer is a number of JSON
_MOST_TOLD = 1_000_000  # bytes of a study in one call; a request has 1 MiB


def _client(connect: Any) -> Any:
    from . import _local
    if connect is not None and not isinstance(connect, str):
        return connect
    return _local.client(connect or "")


def _metrics(old: Any) -> List[str]:
    count = len(old.directions)
    return ["value"] if count == 1 else [f"value_{k}" for k in range(count)]


def _said(space: Mapping[str, Any]) -> None:
    """Refuses what a space here cannot say."""
    for name, domain in space.items():
        cause = ""
        if isinstance(domain, optuna.distributions.CategoricalDistribution):
            if len(domain.choices) > _MOST_CHOICES:
                cause = f"has {len(domain.choices)} choices, more than {_MOST_CHOICES}"
            elif len({_key(one) for one in domain.choices}) < len(domain.choices):
                cause = "has two choices that are the same number"
            elif any(not isinstance(one, (str, bool, int, float, type(None)))
                     or isinstance(one, float) and not math.isfinite(one)
                     for one in domain.choices):
                cause = "has a choice that is no text, number, boolean or None"
        elif isinstance(domain, optuna.distributions.IntDistribution):
            if max(abs(domain.low), abs(domain.high)) > _WHOLE:
                cause = "reaches beyond 2^53"
        elif not isinstance(domain, optuna.distributions.FloatDistribution):
            cause = f"is a {type(domain).__name__}"
        if cause:
            raise errors.InvalidArgument(
                f"the parameter {name} {cause}, which a space here cannot say",
                "change its distribution, or search it with another sampler",
                id="PY-1033", field=name)


def _key(choice: Any) -> Any:
    """Equal for choices that are one value in JSON."""
    if isinstance(choice, (int, float)) and not isinstance(choice, bool):
        return ("number", float(choice))
    return (type(choice).__name__, choice)


def _words(space: Mapping[str, Any], modules: Mapping[str, str]) -> _Space:
    return _Space([types.SimpleNamespace(
        distributions=dict(space), params=dict.fromkeys(space))], modules)


class FrostlineSampler(optuna.samplers.BaseSampler):
    """Proposes what a study here would propose. `space` says the parameters before the
    first trial; without it the first trial is drawn at random, as with every sampler that
    proposes all parameters together. `sampler` is a name or {"name": …, "options": …} of
    docs/reference/samplers.md; `modules` says which parameters are rates of modules;
    `connect` names a coordinator, or is a client."""

    def __init__(self, space: Optional[Mapping[str, Any]] = None, *,
                 seed: Optional[int] = None, sampler: Any = "tpe", purpose: str = "",
                 budget: int = 100_000, modules: Optional[Mapping[str, str]] = None,
                 connect: Any = None) -> None:
        if space is not None:
            _said(space)
        self._space = None if space is None else dict(space)
        self._keys: Dict[str, Any] = {"sampler": sampler, "budget": budget}
        if seed is not None:
            self._keys["seed"] = seed
        if purpose:
            self._keys["purpose"] = purpose
        self._seed, self._modules, self._connect = seed, dict(modules or {}), connect
        self._wake()

    def _wake(self) -> None:
        self._random = optuna.samplers.RandomSampler(self._seed)
        self._lock = threading.RLock()
        self._here: Any = None
        self._twins: Dict[Tuple[str, str], _Twin] = {}
        self._seen: Dict[str, Any] = {}  # spaces that all trials of a study share
        self._held: Dict[Tuple[str, int], Tuple[_Twin, Any, Dict[str, Any]]] = {}

    def __getstate__(self) -> Dict[str, Any]:
        kept = ("_space", "_keys", "_seed", "_modules", "_connect")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._wake()

    def reseed_rng(self) -> None:
        self._random.reseed_rng()

    def twin(self, study: Any) -> Any:
        """The newest study here that searches for this one of Optuna's."""
        for (name, _), twin in reversed(list(self._twins.items())):
            if name == study.study_name:
                return twin.study
        raise errors.NotFound(f"no trial of {study.study_name} was proposed here yet",
                              "ask after its second trial", id="PY-1035")

    def infer_relative_search_space(self, study: Any, trial: Any) -> Dict[str, Any]:
        if self._space is not None:
            found = self._space
        else:
            with self._lock:
                seen = self._seen.setdefault(
                    study.study_name,
                    optuna.search_space.IntersectionSearchSpace(include_pruned=True))
                found = seen.calculate(study)
        return {name: domain for name, domain in found.items() if not domain.single()}

    def sample_relative(self, study: Any, trial: Any,
                        search_space: Dict[str, Any]) -> Dict[str, Any]:
        space = {n: d for n, d in search_space.items() if not d.single()}
        fixed = trial.system_attrs.get("fixed_params") or {}
        if not space or all(name in fixed for name in space):
            return {}
        with self._lock:
            twin = self._twin(study, space)
            twin.hear(study, self._held)
            leased = twin.study.ask(_WAIT)
            if leased is None:
                raise self._nothing(twin.study.refresh())
            point = twin.point(leased)
            study._storage.set_trial_system_attr(trial._trial_id, _OURS, leased.name)
            self._held[study.study_name, trial.number] = (twin, leased, point)
            return dict(point)

    @staticmethod
    def _nothing(study: Any) -> errors.Error:
        if study.state != "ACTIVE":
            return errors.FailedPrecondition(
                f"the search {study.id} proposes nothing more: it is {study.state}",
                "stop here, or give the sampler a larger budget", id="PY-1034")
        return errors.DeadlineExceeded(
            f"the search {study.id} proposed nothing within {_WAIT:g} s",
            f"tell trials that were asked for: {_MOST_AT_ONCE} may be open; or see "
            f"`frostline study why {study.id}`", id="PY-1037")

    def sample_independent(self, study: Any, trial: Any, param_name: str,
                           param_distribution: Any) -> Any:
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Any, trial: Any, state: Any,
                    values: Optional[Sequence[float]]) -> None:
        held = self._held.pop((study.study_name, trial.number), None)
        if held is not None:
            twin, leased, point = held
            is_this = all(trial.params.get(name) == value for name, value in point.items())
            try:
                if is_this:
                    twin.tell(leased, trial, state, values)
                    return
                leased.hand_back()  # another point was trained: this one comes again
            except errors.LeaseLost:
                pass  # the process slept for longer than its lease: what came is imported
        if trial.system_attrs.get(_OURS):
            study._storage.set_trial_system_attr(trial._trial_id, _OURS, "")

    def _twin(self, study: Any, space: Dict[str, Any]) -> "_Twin":
        said = json.dumps([self._keys, self._modules, {
            name: optuna.distributions.distribution_to_json(domain)
            for name, domain in space.items()}], default=str)
        found = self._twins.get((study.study_name, said))
        if found is None:
            _said(space)
            if self._here is None:
                self._here = _client(self._connect)
            found = _Twin(self._here, study, space, self._keys, self._modules, said)
            self._twins[study.study_name, said] = found
        return found


class _Twin:
    """A study here of the same space as one of Optuna's."""

    def __init__(self, client: Any, old: Any, space: Dict[str, Any], keys: Dict[str, Any],
                 modules: Mapping[str, str], said: str) -> None:
        self._client, self._space = client, space
        self._words, self._metrics = _words(space, modules), _metrics(old)
        mark = hashlib.sha256(f"{old.study_name} {said}".encode()).hexdigest()[:10]
        self.study = client.create_study(
            f"{_id_of(old.study_name)[:50].rstrip('-')}-{mark}", objectives=[
                {"metric": m, "direction": f"DIRECTION_{d.name}"}
                for m, d in zip(self._metrics, old.directions)],
            lease={"max_trial_faults": 1}, max_parallel=_MOST_AT_ONCE, **self._words.study_keys(0.0), **keys)
        self._mark = mark
        self._known = {int(number) for one in self.study.results()
                       if (number := dict(one._message.labels).get("optuna_number"))}

    def point(self, leased: Any) -> Dict[str, Any]:
        drawn = {**leased.rates, **leased.parameters}
        return {name: self._of(domain, drawn[self._words.modules.get(name) or
                                             self._words.names[name]])
                for name, domain in self._space.items()}

    @staticmethod
    def _of(domain: Any, value: Any) -> Any:
        if isinstance(domain, optuna.distributions.CategoricalDistribution):
            return next(one for one in domain.choices
                        if _key(_choice(one)) == _key(_choice(value)))
        is_whole = isinstance(domain, optuna.distributions.IntDistribution)
        return round(value) if is_whole else float(value)

    def tell(self, leased: Any, trial: Any, state: Any,
             values: Optional[Sequence[float]]) -> None:
        """How a trial that was proposed here ended."""
        self._known.add(trial.number)
        if state.name == "COMPLETE" and values and all(map(math.isfinite, values)):
            self.study.tell(leased, dict(zip(self._metrics, values)))
        elif state.name == "PRUNED":
            steps = [s for s, v in trial.intermediate_values.items() if math.isfinite(v)]
            if steps:
                leased.report(max(0, max(steps)),
                              {self._metrics[0]: trial.intermediate_values[max(steps)]})
            self.study.tell(leased, state="pruned", cause="by Optuna's pruner")
        else:
            self.study.tell(leased, state="failed", cause=f"Optuna has it as {state.name}")

    def hear(self, old: Any, held: Dict[Tuple[str, int], Any]) -> None:
        """Brings here what Optuna has from elsewhere: trials from before, enqueued ones,
        those that were told by another process."""
        rows = []
        for one in old.get_trials(deepcopy=False):
            if one.state.name not in _ENDED or one.number in self._known:
                continue
            gone = held.pop((old.study_name, one.number), None)
            if gone is not None:  # another process told it
                self._client.call("StudyService", "CancelTrial", name=gone[1].name,
                                  request_id=uuid.uuid4().hex)
            self._known.add(one.number)
            is_ours = one.system_attrs.get(_OURS, "").startswith(f"{self.study.name}/")
            if not is_ours and all(one.distributions.get(n) == d
                                   for n, d in self._space.items()):
                rows.append((one.number, self._row(one)))
        # Two processes that bring the same trial send the same request: it comes once.
        each = 1 if len(rows) <= 16 else 1000
        for start in range(0, len(rows), each):
            part = rows[start:start + each]
            self._client.call(
                "StudyService", "ImportTrials", name=self.study.name,
                request_id=f"optuna-{self._mark}-{part[0][0]}-{part[-1][0]}-{len(part)}",
                trials=[row for _, row in part])

    def _row(self, one: Any) -> Dict[str, Any]:
        mine = types.SimpleNamespace(
            **{name: getattr(one, name) for name in (
                "state", "number", "values", "intermediate_values", "system_attrs",
                "user_attrs", "datetime_start", "datetime_complete")},
            params={name: one.params[name] for name in self._space})
        row = _row(mine, self._words, self._metrics)
        row["metrics"] = {k: v for k, v in row["metrics"].items() if k in self._metrics}
        if row["state"] == "TRIAL_STATE_INFEASIBLE":
            row["state"] = "TRIAL_STATE_FAILED"
        return row


class FrostlineImportanceEvaluator(optuna.importance.BaseImportanceEvaluator):
    """Shares of variance as `frostline importance` has them, of the complete trials: by
    `evaluator` "fanova", "levels", "mdi", "ped-anova" or another of
    docs/reference/importance.md. The same trials and seed give the same shares."""

    def __init__(self, evaluator: str = "fanova", *, seed: int = 1,
                 modules: Optional[Mapping[str, str]] = None, connect: Any = None) -> None:
        self._evaluator, self._seed = evaluator, seed
        self._modules, self._connect = dict(modules or {}), connect
        self._here: Any = None

    def evaluate(self, study: Any, params: Optional[List[str]] = None, *,
                 target: Optional[Callable[[Any], float]] = None) -> Dict[str, float]:
        if target is None and len(study.directions) > 1:
            raise errors.InvalidArgument(
                f"{study.study_name} has {len(study.directions)} objectives",
                "say which: target=lambda trial: trial.values[0]", id="PY-1033",
                field="target")
        complete = study.get_trials(
            deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
        space = self._shared(complete, params)
        told = [(one, float(target(one) if target else one.value)) for one in complete
                if all(name in one.params for name in space)]
        told = [(one, value) for one, value in told if math.isfinite(value)]
        shares = dict.fromkeys(space, 0.0)
        open_ = {name: d for name, d in space.items() if not d.single()}
        if open_ and len({value for _, value in told}) > 1:
            shares.update(self._report(study, open_, told))
        return dict(sorted(shares.items(), key=lambda one: -one[1]))

    @staticmethod
    def _shared(complete: List[Any], params: Optional[List[str]]) -> Dict[str, Any]:
        """The parameters to judge, each with the one distribution that it has."""
        if params is None:
            return dict(optuna.search_space.intersection_search_space(complete))
        having = [one for one in complete if all(n in one.distributions for n in params)]
        if params and not having:
            raise errors.InvalidArgument(
                f"no complete trial has all of {', '.join(params)}", "name other parameters",
                id="PY-1033", field="params")
        space = {name: having[0].distributions[name] for name in params}
        for name, domain in space.items():
            if any(one.distributions[name] != domain for one in having):
                raise errors.InvalidArgument(
                    f"the range of {name} changed between trials",
                    "leave it out, or import the study: frostline import", id="PY-1033",
                    field=name)
        return space

    def _report(self, old: Any, space: Dict[str, Any], told: Any) -> Dict[str, float]:
        _said(space)
        if self._here is None:
            self._here = _client(self._connect)
        words = _words(space, self._modules)
        rows = [{"state": "TRIAL_STATE_SUCCEEDED", "metrics": {"value": value},
                 "parameters": {
                     words.modules.get(n) or words.names[n]:
                     float(one.params[n]) if n in words.modules else _choice(one.params[n])
                     for n in space}} for one, value in told]
        report = self._explained(words.study_keys(0.0), rows)
        found = {one["parameter"]: one["main"].get("value", 0.0)
                 for one in report["parameters"]}
        shares = {}
        for name in space:
            share = float(found.get(words.modules.get(name) or words.names[name], 0.0))
            shares[name] = max(0.0, share) if math.isfinite(share) else 0.0
        return shares

    def _explained(self, keys: Dict[str, Any], rows: List[Dict[str, Any]]) -> Dict[str, Any]:
        """A report of trials that are told, and stored only where one call has no room
        for them."""
        options = {"evaluator": self._evaluator, "without_pairs": True,
                   "without_intervals": True}
        spec, _ = study_messages({"minimize": "value", **keys})
        told = contract().make("ExplainRequest", {
            "options": options, "study": {**spec, "seed": str(self._seed), "trials": rows}})
        if told.ByteSize() <= _MOST_TOLD:
            return contract().plain(self._here._channel.call(
                "ImportanceService", "Explain", told, deadline=120.0))["report"]
        study = self._here.create_study(f"explained-{uuid.uuid4().hex[:12]}", budget=1,
                                        minimize="value", seed=self._seed, **keys)
        try:
            _send(self._here, study, rows)
            return self._here.call("ImportanceService", "GetReport", study=study.name,
                                   options=options)
        finally:
            self._here.call("StudyService", "DeleteStudy", name=study.name,
                            request_id=uuid.uuid4().hex)
