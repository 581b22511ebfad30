# SPDX-License-Identifier: Apache-2.0
"""Studies here as a storage of Optuna's that is only read: live, with Optuna's own plots,
optuna-dashboard and whatever else takes a storage.

    storage = frostline.optuna_storage.Storage(frostline.connect())
    optuna.load_study(study_name="imdb", storage=storage).trials_dataframe()

`frostline-optuna --serve 13000` serves it on loopback by Optuna's own gRPC server, for
GrpcStorageProxy. Trials are fetched once and then as they change, by revisions."""
from __future__ import annotations

import copy
import threading
import time
from typing import Any, Container, Dict, List, Optional

from ._wire import need
from .history import Domains, directions, frozen, read_curves
from .study import Study

optuna = need("optuna")

_FRESH = 0.5  # seconds for which what was fetched is taken for new
_TRIALS = 1 << 32  # a study's ids of trials begin at its own id times this


class ReadOnly(RuntimeError):
    """Somebody tried to change a study by way of Optuna."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"error[PY-1042]: {what}: studies of Frostline are only read by way of Optuna\n"
            "  fix: change them here: frostline study, frostline trial, or the Python package")


class Storage(optuna.storages.BaseStorage):
    """What `client`'s coordinator has. Any thread may ask."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._mirrors: Dict[str, _Mirror] = {}
        self._listed, self._seen = -_FRESH, 0

    # --- studies ---

    def get_study_id_from_name(self, study_name: str) -> int:
        for mirror in self._studies():
            if mirror.study.id == study_name:
                return mirror.id
        raise KeyError(f"there is no study {study_name}")

    def get_study_name_from_id(self, study_id: int) -> str:
        return str(self._mirror(study_id).study.id)

    def get_study_directions(self, study_id: int) -> List[Any]:
        return self._mirror(study_id).directions

    def get_study_user_attrs(self, study_id: int) -> Dict[str, Any]:
        return self._mirror(study_id).attributes

    def get_study_system_attrs(self, study_id: int) -> Dict[str, Any]:
        return {"study:metric_names": self._mirror(study_id).metrics}

    def get_all_studies(self) -> List[Any]:
        return [optuna.study._frozen.FrozenStudy(
            study_name=one.study.id, direction=None, directions=one.directions,
            user_attrs=one.attributes, system_attrs={"study:metric_names": one.metrics},
            study_id=one.id) for one in self._studies()]

    def _studies(self) -> List["_Mirror"]:
        with self._lock:
            if time.monotonic() - self._listed >= _FRESH:
                there = {study.name: study for study in self._client.studies()}
                for name in [name for name in self._mirrors if name not in there]:
                    del self._mirrors[name]
                made = [one for one in there.values() if one.name not in self._mirrors]
                for study in sorted(made, key=_age):
                    self._seen += 1
                    self._mirrors[study.name] = _Mirror(study, self._seen)
                self._listed = time.monotonic()
            return sorted(self._mirrors.values(), key=lambda one: one.id)

    def _mirror(self, study_id: int) -> "_Mirror":
        for mirror in self._studies():
            if mirror.id == study_id:
                return mirror
        raise KeyError(f"there is no study of the id {study_id}")

    # --- trials ---

    def get_all_trials(self, study_id: int, deepcopy: bool = True,
                       states: Optional[Container[Any]] = None) -> List[Any]:
        trials = self._mirror(study_id).trials()
        if states is not None:
            trials = [one for one in trials if one.state in states]
        return [_copied(one) for one in trials] if deepcopy else trials

    def get_trial(self, trial_id: int) -> Any:
        number = trial_id % _TRIALS
        trials = self._mirror(trial_id // _TRIALS).trials()
        if number >= len(trials):
            raise KeyError(f"there is no trial of the id {trial_id}")
        return _copied(trials[number])

    def get_trial_id_from_study_id_trial_number(self, study_id: int, trial_number: int) -> int:
        return int(self.get_trial(study_id * _TRIALS + trial_number)._trial_id)

    # --- what changes something ---

    def create_new_study(self, *_: Any, **__: Any) -> int:
        raise ReadOnly("a study was to be made")

    def delete_study(self, *_: Any, **__: Any) -> None:
        raise ReadOnly("a study was to be deleted")

    def set_study_user_attr(self, *_: Any, **__: Any) -> None:
        raise ReadOnly("an attribute of a study was to be set")

    def create_new_trial(self, *_: Any, **__: Any) -> int:
        raise ReadOnly("a trial was to be made")

    def set_trial_param(self, *_: Any, **__: Any) -> None:
        raise ReadOnly("a trial was to be changed")

    def set_trial_state_values(self, *_: Any, **__: Any) -> bool:
        raise ReadOnly("a trial was to be ended")

    set_study_system_attr = set_study_user_attr
    set_trial_intermediate_value = set_trial_param
    set_trial_user_attr = set_trial_param
    set_trial_system_attr = set_trial_param


class _Mirror:
    """One study's trials in Optuna's form, by their numbers."""

    def __init__(self, study: Study, id: int) -> None:
        message = study._message
        self.study, self.id = study, id
        self.directions = directions(optuna, message.spec)
        self.metrics = list(study.objectives)
        self.attributes = {f"label_{key}": value for key, value in message.settings.labels.items()}
        self._bounds = [(one.metric, one.upper_bound) for one in message.spec.constraints]
        self._domains = Domains(optuna.distributions, message.spec.space)
        self._trials: List[Any] = []
        self._revision, self._asked = 0, -_FRESH
        self._lock = threading.Lock()

    def trials(self) -> List[Any]:
        with self._lock:
            if time.monotonic() - self._asked >= _FRESH:
                is_first = self._revision == 0
                changed = list(self.study.changes(self._revision))
                # After the trials, so that none lacks the end of its curve: all at once
                # at first, then of each that has changed.
                curves = read_curves(self.study, self.metrics[0]) if is_first else {}
                for one in changed:
                    self._take(one, curves.get(one.number, {}) if is_first
                               else self._curve(one.number))
                    self._revision = one.revision
                self._asked = time.monotonic()
            return [one for one in self._trials if one is not None]

    def _curve(self, number: int) -> Dict[int, float]:
        metric = self.metrics[0]
        return {point.step: point.metrics[metric] for point in self.study.curve(number)
                if metric in point.metrics}

    def _take(self, result: Any, curve: Dict[int, float]) -> None:
        trial = frozen(optuna, result, self._domains, self.metrics, self._bounds, curve)
        trial.number = result.number
        trial._trial_id = self.id * _TRIALS + result.number
        while len(self._trials) <= result.number:
            self._trials.append(None)
        self._trials[result.number] = trial


def _age(study: Study) -> Any:
    created = study._message.create_time
    return created.seconds, created.nanos, study.name


def _copied(trial: Any) -> Any:
    return copy.deepcopy(trial)


def serve(client: Any, port: int) -> None:
    """Serves the storage on 127.0.0.1, until the process is ended."""
    optuna.storages.run_grpc_proxy_server(Storage(client), host="127.0.0.1", port=port)
