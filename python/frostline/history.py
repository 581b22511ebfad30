# SPDX-License-Identifier: Apache-2.0
"""Studies of Optuna as studies here, and the other way. An old one is asked what Optuna
does not say: which layers mattered, what could have stayed frozen.

    study = client.import_optuna("old.db", modules={r"lr_(\\d+)": "layer.{}"})
    print(study.importance(), study.plan(), sep="\\n")

or `frostline-optuna old.db` on the command line, and `frostline-optuna ID --export-to
ours.log` the other way.

Optuna itself reads the storage, of whatever version; a database file is copied first and
stays as it is. What goes where is a table in docs/how-to/coming-from.md."""
from __future__ import annotations

import argparse
import datetime
import json
import math
import pathlib
import re
import shutil
import sys
import tempfile
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Set, Tuple

from . import errors
from ._wire import contract, need, request_id

# How people call a rate of a layer.
USUAL_MODULES = {
    r"(?:lr|rate|learning_rate)?[_.\-/]?(?:layers?|blocks?|h)[_.\-/]?(\d+)(?:[_.\-/](?:lr|rate))?":
        "layer.{}",
    r"(?:lr|rate)?[_.\-/]?embeddings?(?:[_.\-/](?:lr|rate))?": "embeddings",
    r"(?:lr|rate)[_.\-/]?(?:head|classifier)|(?:head|classifier)[_.\-/](?:lr|rate)": "head"}
_AT_A_TIME = 1000
_BYTES_AT_A_TIME = 900_000  # a request has 1 MiB
_LONGEST_ATTRIBUTES = 60_000  # of a trial's labels, which have 64 KiB
_ENDED = {"COMPLETE": "SUCCEEDED", "PRUNED": "PRUNED", "FAIL": "FAILED"}


@errors.as_exit_code
def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="frostline-optuna", description="A study of Optuna's as a study here.")
    parser.add_argument("source", metavar="STORAGE", nargs="?",
                        help="a database or journal file, or a storage's URL")
    parser.add_argument("--export-to", metavar="FILE", help="the other way: STORAGE is a "
                        "study here, and goes into a new journal, or a storage's URL")
    parser.add_argument("--serve", metavar="PORT", type=int, help="let Optuna read all studies "
                        "here, live: GrpcStorageProxy(host='127.0.0.1', port=PORT)")
    parser.add_argument("--force", action="store_true",
                        help="--export-to may replace a file")
    parser.add_argument("--study", metavar="NAME", help="where the storage has several")
    parser.add_argument("--as", dest="id", metavar="ID", help="what it is called here")
    parser.add_argument("--modules", metavar="REGEX=MODULE", action="append",
                        help="which parameters are rates of modules: 'lr_(\\d+)=layer.{}'")
    parser.add_argument("--others", type=float, default=0.0, metavar="RATE",
                        help="at which modules trained that the study did not search")
    parser.add_argument("--connect", metavar="ADDRESS", help="the coordinator's")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if (options.source is None) == (options.serve is None):
        parser.error("name a STORAGE, or --serve PORT")
    modules = None if options.modules is None else dict(
        one.rsplit("=", 1) for one in options.modules)
    from . import connect
    with connect(options.connect) as client, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if options.serve is not None:
            from . import optuna_storage
            optuna_storage.serve(client, options.serve)
            return 0
        if options.export_to:
            made = client.study(options.source).to_optuna(
                options.export_to, replace=options.force)
            print(f"{options.export_to} has {len(made.trials)} trials")
            return 0
        study = client.import_optuna(
            options.source, options.study, id=options.id, modules=modules,
            others=options.others)
    for one in said:
        if one.category is UserWarning:
            print(f"note: {one.message}", file=sys.stderr)
    print(f"study {study.id} has what came\nnext:")
    for verb in ("importance", "plan", "report"):
        print(f"  frostline {verb} {study.id}")
    return 0


def open_optuna(source: Any, study_name: Optional[str], folder: pathlib.Path) -> Any:
    """A study of Optuna: itself, a database file, a journal file, or a storage's URL.
    Copies of files are made in `folder`."""
    optuna = need("optuna")
    if hasattr(source, "get_trials"):
        return source
    text = str(source)
    try:
        storage = _storage(optuna, text, folder)
        names = optuna.get_all_study_names(storage)
    except errors.Error:
        raise
    except json.JSONDecodeError:  # a journal
        path = pathlib.Path(text)
        number = _broken_line(path)
        raise errors.BadFile(
            f"line {number} of {path} is broken", "import what stands above it: "
            f"head -n {number - 1} {path.name} > whole.log") from None
    except Exception as error:  # each storage has errors of its own
        line = " ".join(str(error).split())[:300]
        raise errors.BadFile(f"Optuna cannot read {_without_password(text)}: {line}",
                             "name a database, a journal or a URL of Optuna's") from None
    if not names:
        raise errors.BadFile(f"{text} is no storage of Optuna's, or an empty one",
                             "name a database, a journal or a URL of Optuna's")
    if study_name is None and len(names) == 1:
        study_name = names[0]
    if study_name not in names:
        raise errors.NotFound(
            f"{text} has no study {study_name!r}" if study_name else
            f"{text} has {len(names)} studies",
            "name one of: " + ", ".join(names[:20]), id="PY-1031", field="study_name")
    return optuna.load_study(study_name=study_name, storage=storage)


def _broken_line(path: pathlib.Path) -> int:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                json.loads(line)
            except ValueError:
                return number
    return 1


def _without_password(url: str) -> str:
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)


def _storage(optuna: Any, text: str, folder: pathlib.Path) -> Any:
    if "://" in text and not text.startswith("sqlite:///"):
        return text
    path = pathlib.Path(text.removeprefix("sqlite:///"))
    if not path.is_file():
        raise errors.NotFound(f"there is no file {path}",
                              "name a database or a journal of Optuna's", id="PY-1031")
    for part in path.parent.glob(path.name + "*"):  # with what is not yet in the file
        shutil.copy(part, folder / part.name)
    copy = folder / path.name
    with copy.open("rb") as file:
        is_database = file.read(15) == b"SQLite format 3"
    if not is_database:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
        return JournalStorage(JournalFileBackend(str(copy)))
    storage = optuna.storages.RDBStorage(f"sqlite:///{copy}", skip_compatibility_check=True)
    if storage.get_current_version() != storage.get_head_version():
        storage.upgrade()
    return storage


def import_optuna(client: Any, source: Any, study_name: Optional[str], id: Optional[str],
                  modules: Optional[Mapping[str, str]], others: float) -> Tuple[Any, List[str]]:
    """The new study, and in sentences what of the old one has no place in it."""
    with tempfile.TemporaryDirectory(prefix="frostline-") as folder:
        old = open_optuna(source, study_name, pathlib.Path(folder))
        trials = old.get_trials(deepcopy=False)
        metric_names, directions, name = old.metric_names, old.directions, old.study_name
        discarded = _discarded(pathlib.Path(folder))
    ended = [one for one in trials if one.state.name in _ENDED]
    if not ended:
        raise errors.InvalidArgument(
            f"study {name} has no trial that ended", "import another one",
            id="PY-1032", field="source")
    space = _Space(ended, USUAL_MODULES if modules is None else modules)
    metrics = list(metric_names or (
        ["value"] if len(directions) == 1 else
        [f"value_{k}" for k in range(len(directions))]))
    keys: Dict[str, Any] = {"objectives": [
        {"metric": m, "direction": f"DIRECTION_{d.name}"}
        for m, d in zip(metrics, directions)], **space.study_keys(others)}
    space.limits = sorted({key for one in ended for key in _constraints(one)},
                          key=lambda key: (len(key) if key.isdigit() else 99, key))
    if space.limits:
        keys["constraints"] = {f"constraint_{k}": 0.0 for k in range(len(space.limits))}
    made = client.create_study(id or _id_of(name), budget=1, **keys)
    too_long: List[int] = []
    _send(client, made, _rows(ended, space, metrics, discarded, too_long))
    named = [f"the constraint {key!r} is called constraint_{k} here"
             for k, key in enumerate(space.limits) if key != str(k)]
    if discarded:
        named.append(f"Rustuna discarded {len(discarded)} trials: here they have the label "
                     "optuna_discarded")
    if too_long:
        named.append(f"user attributes of {len(too_long)} trials are longer than a trial's "
                     f"labels may be, and were left out; the first is trial {too_long[0]}")
    return made.refresh(), space.notes + named + _notes_of(trials)


def _rows(ended: List[Any], space: "_Space", metrics: List[str], discarded: Set[int],
          too_long: List[int]) -> Iterator[Dict[str, Any]]:
    for one in ended:
        row = _row(one, space, metrics)
        if one._trial_id in discarded:
            row["labels"]["optuna_discarded"] = "true"
        if len(row["labels"].get("user_attrs", "")) > _LONGEST_ATTRIBUTES:
            del row["labels"]["user_attrs"]
            too_long.append(one.number)
        yield row


def _send(client: Any, study: Any, rows: Iterable[Dict[str, Any]]) -> None:
    """Imports trials, as many at a time as a request has room for."""
    some: List[Any] = []
    size = 0

    def flush() -> None:
        if some:
            ask = contract().message("ImportTrialsRequest")
            client._channel.call("StudyService", "ImportTrials", ask(
                request_id=request_id(), name=study.name, trials=some))
            some.clear()

    for row in rows:
        message = _message(row)
        if len(some) == _AT_A_TIME or size + message.ByteSize() > _BYTES_AT_A_TIME:
            flush()
            size = 0
        some.append(message)
        size += message.ByteSize() + 8
    flush()


def _message(row: Mapping[str, Any]) -> Any:
    """An ImportedTrial of its form in JSON, in a third of the time of Protobuf's reader."""
    made = contract().message("ImportedTrial")()
    made.state = made.DESCRIPTOR.fields_by_name["state"].enum_type.values_by_name[
        row["state"]].number
    for name, value in row["parameters"].items():
        if isinstance(value, bool):
            made.parameters[name].bool_value = value
        elif isinstance(value, str):
            made.parameters[name].string_value = value
        else:
            made.parameters[name].number_value = value
    made.metrics.update(row["metrics"])
    made.labels.update(row.get("labels", {}))
    for point in row.get("measurements", ()):
        made.measurements.add(step=point["step"], metrics=point["metrics"])
    for when in ("start_time", "end_time"):
        if when in row:
            getattr(made, when).FromJsonString(row[when])
    return made


def _discarded(folder: pathlib.Path) -> Set[int]:
    """Ids of trials that Rustuna takes out of a study by a line of its journal. Optuna
    passes such lines over, and so do the trials stay here."""
    found: Set[int] = set()
    for path in folder.iterdir():
        with path.open("rb") as file:
            if file.read(15) == b"SQLite format 3":
                continue
            file.seek(0)
            for line in file:
                if b'"op_code":10' in line.replace(b" ", b""):
                    found.update(json.loads(line).get("trial_ids", ()))
    return found


def _notes_of(trials: List[Any]) -> List[str]:
    notes = []
    for state in ("RUNNING", "WAITING"):
        count = sum(one.state.name == state for one in trials)
        if count:
            notes.append(f"{'1 trial is' if count == 1 else f'{count} trials are'} {state}, "
                         "for which an import has no place")
    return notes


def _id_of(name: str) -> str:
    made = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:60]
    return made if re.match(r"[a-z]", made) else f"optuna-{made}".rstrip("-")


def _constraints(trial: Any) -> Dict[str, float]:
    """By name, as Optuna 5 keeps them; those of older ones are called "0", "1", …"""
    found = {str(k): v for k, v in enumerate(trial.system_attrs.get("constraints") or [])}
    found.update({key.split(":", 1)[1]: value for key, value in trial.system_attrs.items()
                  if key.startswith("constraints:")})
    return found


class _Space:
    """The parameters of all trials, each with the union of its domains."""

    def __init__(self, trials: List[Any], patterns: Mapping[str, str]) -> None:
        self.notes: List[str] = []
        self.limits: List[str] = []  # names of constraints
        seen: Dict[str, List[Any]] = {}
        for trial in trials:
            for name, domain in trial.distributions.items():
                known = seen.setdefault(name, [])
                if domain not in known:
                    known.append(domain)
        if not seen:
            raise errors.InvalidArgument("the trials have no parameter", "import another study",
                                         id="PY-1032", field="source")
        self.names = _names(list(seen), self.notes)
        self.modules: Dict[str, str] = {}  # parameter of Optuna's -> module
        self.domains = {name: self._domain(name, domains, patterns)
                        for name, domains in seen.items()}
        self.whens = self._whens(trials)
        numbers = [int(m.split(".")[1]) for m in self.modules.values()
                   if m.startswith("layer.")]
        self.layers = max(numbers, default=0) + 1 if self.modules else 0

    def study_keys(self, others: float) -> Dict[str, Any]:
        """Space and model of a study, in the words of study files."""
        keys: Dict[str, Any] = {"space": self._keys(others)}
        if self.layers:
            keys["model"] = {"id": "imported", "layers": self.layers,
                             "no_pooler": "pooler" not in self.modules.values()}
        return keys

    def _keys(self, others: float) -> Dict[str, Any]:
        made: Dict[str, Any] = {}
        if self.modules:
            made["modules"] = {self.modules[n]: d for n, d in self.domains.items()
                               if n in self.modules}
            made["default"] = {"full": others} if others > 0 else {"head_only": 1e-3}
        plain = {self.names[n]: {**d, **self.whens.get(n, {})}
                 for n, d in self.domains.items() if n not in self.modules}
        if plain:
            made["parameters"] = plain
        return made

    def _domain(self, name: str, domains: List[Any], patterns: Mapping[str, str]) -> Any:
        kinds = {type(one).__name__ for one in domains}
        module = _module_of(name, patterns)
        if kinds == {"CategoricalDistribution"}:
            choices = list(dict.fromkeys(c for one in domains for c in one.choices))
            if module and all(isinstance(c, (int, float)) and not isinstance(c, bool)
                              and c >= 0 for c in choices):
                self.modules[name] = module
                return sorted(float(c) for c in choices)
            return {"choices": [_choice(c) for c in choices]}
        if "CategoricalDistribution" in kinds:
            raise errors.InvalidArgument(
                f"{name} is a choice in some trials and a number in others",
                "import the trials of one of them: a study with fewer trials",
                id="PY-1032", field=name)
        low, high = min(d.low for d in domains), max(d.high for d in domains)
        log = all(d.log for d in domains)
        if module and log:
            self.modules[name] = module
            return {"log_uniform": [low, high]}
        more: Dict[str, Any] = {"log": True} if log else {}
        kind = "int" if kinds == {"IntDistribution"} else "float"
        step = domains[0].step if len(domains) == 1 else None
        if step is not None and (kind, step) != ("int", 1):
            more["step"] = step
        return {kind: {"lo": low, "hi": high, **more}}

    def _whens(self, trials: List[Any]) -> Dict[str, Any]:
        """For each parameter that some trials lack, the choice that decides about it."""
        whens: Dict[str, Any] = {}
        for name in self.domains:
            have = [name in one.params for one in trials]
            if all(have):
                continue
            if name in self.modules:
                raise errors.InvalidArgument(
                    f"{name} is a module's rate, and some trials lack it",
                    "leave it out of modules=", id="PY-1032", field=name)
            for parent, domain in self.domains.items():
                if not isinstance(domain, dict) or "choices" not in domain or \
                        any(parent not in one.params for one in trials):
                    continue
                on = {one.params[parent] for one, has in zip(trials, have) if has}
                off = {one.params[parent] for one, has in zip(trials, have) if not has}
                if not on & off:
                    whens[name] = {"when": {"parent": self.names[parent],
                                            "values": [_choice(v) for v in sorted(on, key=str)]}}
                    break
            else:
                raise errors.InvalidArgument(
                    f"some trials lack {name}, and no choice says which",
                    "import the trials that have it: a study of these", id="PY-1032",
                    field=name)
        return whens


def _choice(value: Any) -> Any:
    if isinstance(value, (str, bool, int, float)):
        return value
    try:
        return json.dumps(value)
    except TypeError:
        raise errors.InvalidArgument(
            f"a choice is {value!r}, which has no form in JSON",
            "take strings, numbers, booleans or None", id="PY-1032", field="source") from None


def _names(names: List[str], notes: List[str]) -> Dict[str, str]:
    """What each is called here: letters, digits, '_', '-' and '.'."""
    made: Dict[str, str] = {}
    for k, name in enumerate(names):
        here = name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}", name) else f"p{k}"
        while here in made.values():
            here += "_"
        made[name] = here
        if here != name:
            notes.append(f"the parameter {name!r} is called {here} here")
    return made


def _module_of(name: str, patterns: Mapping[str, str]) -> str:
    for pattern, module in patterns.items():
        match = re.fullmatch(pattern, name)
        if match:
            return module.replace("{}", match.group(1) if match.groups() else "")
    return ""


def _row(trial: Any, space: _Space, metrics: List[str]) -> Dict[str, Any]:
    point = {}
    for name, value in trial.params.items():
        if name in space.modules:
            point[space.modules[name]] = float(value)
        else:
            point[space.names[name]] = _choice(value)
    row: Dict[str, Any] = {"state": f"TRIAL_STATE_{_ENDED[trial.state.name]}",
                           "parameters": point, "metrics": {}, "labels": {
                               "optuna_number": str(trial.number)}}
    if trial.values is not None:
        row["metrics"].update(zip(metrics, trial.values))
    elif trial.intermediate_values:
        last = trial.intermediate_values[max(trial.intermediate_values)]
        row["metrics"][metrics[0]] = last
    limits = _constraints(trial)
    row["metrics"].update({f"constraint_{k}": limits[key]
                           for k, key in enumerate(space.limits) if key in limits})
    if row["state"] == "TRIAL_STATE_SUCCEEDED" and not all(map(math.isfinite, trial.values)):
        row["state"] = "TRIAL_STATE_INFEASIBLE"
        row["labels"]["optuna_values"] = ", ".join(map(str, trial.values))
    row["metrics"] = {k: v for k, v in row["metrics"].items() if math.isfinite(v)}
    row["measurements"] = [{"step": max(0, step), "metrics": {metrics[0]: value}}
                           for step, value in sorted(trial.intermediate_values.items())]
    if trial.user_attrs:
        row["labels"]["user_attrs"] = json.dumps(trial.user_attrs, default=str)
    for here, when in (("start_time", trial.datetime_start), ("end_time", trial.datetime_complete)):
        if when is not None:
            row[here] = when.astimezone().isoformat()
    return row


# --- the other way ---

_OF_STATE = {"SUCCEEDED": "COMPLETE", "PRUNED": "PRUNED", "FAILED": "FAIL",
             "INFEASIBLE": "FAIL", "CANCELLED": "FAIL", "RUNNING": "RUNNING",
             "QUEUED": "WAITING"}


def to_optuna(study: Any, storage: Any, study_name: Optional[str],
              replace: bool = False) -> Any:
    """A new study of Optuna's with the ended trials of one here; in a journal where the
    storage is the path of a file, which is not there yet or may be replaced."""
    optuna = need("optuna")
    journal = storage is not None and "://" not in str(storage)
    if journal and pathlib.Path(storage).exists() and not replace:
        raise errors.AlreadyExists(f"there is a file {storage}",
                                   "name another one, or let it be replaced",
                                   id="PY-1036", field="storage")
    spec = study.refresh()._message.spec
    metrics = [one.metric for one in spec.objectives]
    made = optuna.create_study(
        storage=None if storage is None or journal else str(storage),
        study_name=study_name or study.id,
        directions=directions(optuna, spec))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of metrics are called experimental
        made.set_metric_names(metrics)
    domains = Domains(optuna.distributions, spec.space)
    bounds = [(one.metric, one.upper_bound) for one in spec.constraints]
    ended = [one for one in study.results(rates=True)
             if one.state not in ("RUNNING", "QUEUED")]
    curves = read_curves(study, metrics[0])  # after them, so that none lacks its end
    made.add_trials([frozen(optuna, one, domains, metrics, bounds, curves.get(one.number, {}))
                     for one in ended])
    if journal:
        _write_journal(optuna, made, metrics, pathlib.Path(storage))
    return made


def _write_journal(optuna: Any, made: Any, metrics: List[str], path: pathlib.Path) -> None:
    """A journal that Optuna 3 to 5 read alike: times are local and have no zone,
    which 3 and 4 want and 5 takes; constraints are the list that 5 still reads."""
    first = {"study_name": made.study_name, "directions": [int(d) for d in made.directions]}
    lines = [{"op_code": 0, **first}, {"op_code": 3, "study_id": 0, "system_attr": {
        "study:metric_names": metrics}}]
    for one in made.get_trials(deepcopy=False):
        line = {"op_code": 4, "study_id": 0, "state": int(one.state), "value": None,
                "values": one.values, "datetime_start": None,
                "distributions": {
                    name: optuna.distributions.distribution_to_json(domain)
                    for name, domain in one.distributions.items()},
                "params": {name: one.distributions[name].to_internal_repr(value)
                           for name, value in one.params.items()},
                "user_attrs": one.user_attrs, "system_attrs": one.system_attrs,
                "intermediate_values": one.intermediate_values}
        for key in ("datetime_start", "datetime_complete"):
            when = getattr(one, key)
            if when is not None:
                line[key] = when.isoformat(timespec="microseconds")
        lines.append(line)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text("".join(json.dumps({"worker_id": "frostline", **line}) + "\n"
                                for line in lines), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise errors.BadFile(f"{path} cannot be written: {error.strerror}",
                             "name a file in a folder that is there") from None


def directions(optuna: Any, spec: Any) -> List[Any]:
    """Optuna's words for which way each objective of a study here goes."""
    from ._show import enum
    return [optuna.study.StudyDirection[enum(one, "direction").removeprefix("DIRECTION_")]
            for one in spec.objectives]


def read_curves(study: Any, metric: str) -> Dict[int, Dict[int, float]]:
    """Of each trial what it measured, by its steps; of the last of its attempts."""
    curves: Dict[int, Dict[int, float]] = {}
    attempts: Dict[int, int] = {}
    text = b"".join(study.exported(with_measurements=True))
    for line in filter(None, text.split(b"\n")):
        row = json.loads(line)
        if "trial" not in row:
            continue
        number, attempt = int(row["trial"].rsplit("/", 1)[1]), int(row.get("attempt", 0))
        if attempt > attempts.get(number, 0):
            attempts[number], curves[number] = attempt, {}
        for point in row["measurements"]:
            if metric in point.get("metrics", {}):
                curves.setdefault(number, {})[int(point.get("step", 0))] = float(
                    point["metrics"][metric])
    return curves


def frozen(optuna: Any, one: Any, domains: "Domains", metrics: List[str],
           bounds: List[Tuple[str, float]], curve: Mapping[int, float]) -> Any:
    """A trial here as one of Optuna's."""
    state = _OF_STATE[one.state]
    parameters = one.parameters
    labels = dict(one._message.labels)
    attributes = json.loads(labels.pop("user_attrs", "{}"))
    attributes.update({"frostline_number": one.number, "frostline_state": one.state,
                       **{f"label_{key}": value for key, value in labels.items()},
                       **{f"metric_{key}": value for key, value in one.metrics.items()
                          if key not in metrics}})
    if one.cause:
        attributes["cause"] = one.cause
    limits = {"constraints": [one.metrics.get(m, math.nan) - b for m, b in bounds]}
    trial = optuna.trial.create_trial(
        state=getattr(optuna.trial.TrialState, state), params=parameters,
        distributions={name: domains.of(name, value) for name, value in parameters.items()},
        values=list(one.values) if state == "COMPLETE" else None, user_attrs=attributes,
        system_attrs=limits if bounds and one.metrics else {},
        intermediate_values=dict(curve))
    for here, there in (("start_time", "datetime_start"), ("end_time", "datetime_complete")):
        if one._message.HasField(here):
            setattr(trial, there, getattr(one._message, here).ToDatetime(
                datetime.timezone.utc).astimezone().replace(tzinfo=None))
    return trial


class Domains:
    """The distribution of each parameter, from the space of a study."""

    def __init__(self, distributions: Any, space: Any) -> None:
        self._all, self._space = distributions, space
        self._plain = {one.name: one for one in (*space.parameters, *space.ties)}

    def of(self, name: str, value: Any) -> Any:
        if name == "prefix_depth":
            depth = self._space.prefix_depth
            return self._all.IntDistribution(depth.lo, depth.hi)
        domain = self._plain.get(name) or next(
            (one for one in self._space.modules if _selects(one.select, name)), None)
        if domain is None and self._space.HasField("layerwise_decay"):
            domain = getattr(self._space.layerwise_decay, name, None)
        kind = domain.WhichOneof("domain") if domain is not None else None
        if kind == "levels":
            return self._all.CategoricalDistribution(list(domain.levels.rates))
        if kind == "choices":
            from ._show import value as plain
            return self._all.CategoricalDistribution([plain(one) for one in
                                                      domain.choices.values])
        if kind == "log_uniform":
            lo, hi, log = domain.log_uniform.lo, domain.log_uniform.hi, True
            if domain.log_uniform.freeze:  # a logarithm has no 0
                lo, log = 0.0, False
            return self._all.FloatDistribution(lo, hi, log=log)
        if kind == "float":
            return self._all.FloatDistribution(
                domain.float.lo, domain.float.hi, log=domain.float.log,
                step=domain.float.step or None)
        if kind == "int":
            of = getattr(domain, "int")
            return self._all.IntDistribution(of.lo, of.hi, log=of.log, step=of.step or 1)
        return self._all.CategoricalDistribution([value])


def _selects(select: str, name: str) -> bool:
    ours, theirs = select.split("."), name.split(".")
    if len(ours) != len(theirs):
        return False
    for pattern, word in zip(ours, theirs):
        ends = re.fullmatch(r"(\d+)-(\d+)", pattern)
        if not (pattern in ("*", word) or ends and word.isdigit() and
                int(ends[1]) <= int(word) <= int(ends[2])):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
