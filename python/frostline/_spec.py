# SPDX-License-Identifier: Apache-2.0
"""A study as Python writes it, in the words of study files.

    create_study("imdb", model={"id": "minilm", "layers": 6}, maximize="accuracy",
                 budget=40, space={"modules": {"layer.*": [0, 2e-6, 2e-5]}})

The short forms of docs/reference/study-file.md become the contract's messages here;
what a value may be the coordinator judges, which names the field."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from . import errors

_SETTINGS = ("budget", "pruner", "priority", "max_parallel", "required_worker_labels",
             "labels", "notes", "notify")
_WORDS = {"model": "id", "data": "id", "sampler": "name", "pruner": "name"}
_SPEC = ("model", "data", "space", "sampler", "training", "freeze", "lease", "seed",
         "enqueue", "warm_start", "recipe", "constraints", "seeds", "repeat", "purpose",
         "tasks", "training_seeds", "allow_test_objective", "objectives")
_KNOWN = (*_SPEC, *_SETTINGS, "maximize", "minimize")


def study_messages(keys: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """(StudySpec, StudySettings) in Protobuf's JSON."""
    for key in keys:
        if key not in _KNOWN:
            raise errors.InvalidArgument(
                f"a study has no key {key!r}", f"take one of: {', '.join(_KNOWN)}",
                id="FL-1001", field=key)
    spec: Dict[str, Any] = {}
    settings: Dict[str, Any] = {}
    for key, value in keys.items():
        if value is None:
            continue  # not given
        if key in _WORDS and isinstance(value, str):
            value = {_WORDS[key]: value}
        if key in ("maximize", "minimize"):
            spec.setdefault("objectives", []).extend(_objectives(value, key))
        elif key == "objectives":
            spec.setdefault("objectives", []).extend(_full_objectives(value))
        elif key == "space":
            spec["space"] = _space(value)
        elif key == "budget":
            settings["budget"] = {"trials": value} if isinstance(value, int) else value
        elif key in ("sampler", "pruner"):
            options = {k: _text(v) for k, v in value.items() if k not in ("name", "options")}
            options.update({k: _text(v) for k, v in value.get("options", {}).items()})
            (settings if key == "pruner" else spec)[key] = {
                "name": value.get("name", ""), "options": options}
        elif key == "freeze" and isinstance(value, str):
            spec["freeze"] = {"mode": value.upper()}
        elif key == "seeds":
            spec["seeds"] = f"SEED_MODE_{value.upper()}"
        elif key == "purpose":
            spec["purpose"] = f"PURPOSE_{value.upper()}"
        elif key == "repeat" and isinstance(value, int):
            spec["repeat"] = {"times": value}
        elif key == "constraints" and isinstance(value, Mapping):
            spec["constraints"] = [{"metric": m, "upper_bound": b} for m, b in value.items()]
        elif key == "warm_start":
            spec["warm_start"] = [{"study": s} if isinstance(s, str) else s for s in value]
        elif key == "enqueue":
            spec["enqueue"] = [enqueued(one) for one in value]
        elif key == "lease":
            spec["lease"] = {k: f"{v}s" if isinstance(v, (int, float)) and (
                k.endswith(("ttl", "interval"))) else v for k, v in value.items()}
        else:
            (settings if key in _SETTINGS else spec)[key] = value
    return spec, settings


def enqueued(one: Mapping[str, Any]) -> Dict[str, Any]:
    """{"strategy": {"first_k": {"k": 2, "rate": 1e-4}}} or {"values": {…}}"""
    made = dict(one)
    if "strategy" in made:
        made["strategy"] = _strategy(made["strategy"])
    return made


def _objectives(value: Any, way: str) -> List[Dict[str, Any]]:
    direction = f"DIRECTION_{way.upper()}"
    if isinstance(value, str):
        return [{"metric": value, "direction": direction}]
    if isinstance(value, Mapping):
        return [{"metric": m, "direction": direction, "range": _range(r)}
                for m, r in value.items()]
    return [o for one in value for o in _objectives(one, way)]


def _full_objectives(value: Any) -> List[Dict[str, Any]]:
    if isinstance(value, Mapping):
        value = [{"metric": m, "direction": d} for m, d in value.items()]
    made = []
    for one in value:
        one = dict(one)
        way = str(one.get("direction", "")).upper()
        if way in ("MINIMIZE", "MAXIMIZE"):
            one["direction"] = f"DIRECTION_{way}"
        if "range" in one:
            one["range"] = _range(one["range"])
        made.append(one)
    return made


def _range(value: Any) -> Any:
    return dict(zip(("lo", "hi"), value)) if isinstance(value, (list, tuple)) else value


def _space(space: Mapping[str, Any]) -> Dict[str, Any]:
    made: Dict[str, Any] = {}
    for key, value in space.items():
        if key == "modules" and isinstance(value, Mapping):
            made["modules"] = [{"select": s, **_rates(d)} for s, d in value.items()]
        elif key in ("tie", "ties") and isinstance(value, Mapping):
            made["ties"] = [
                {"name": n, "modules": t["modules"],
                 **_rates({k: v for k, v in t.items() if k != "modules"})}
                for n, t in value.items()]
        elif key == "prefix_depth" and isinstance(value, (list, tuple)):
            made[key] = dict(zip(("lo", "hi"), value))
        elif key == "parameters" and isinstance(value, Mapping):
            made[key] = [{"name": n, **_domain(d)} for n, d in value.items()]
        elif key == "default":
            made[key] = _strategy(value)
        elif key == "layerwise_decay":
            made[key] = {n: _number(d) for n, d in value.items()}
        else:
            made[key] = value
    return made


def _rate(value: Any) -> Any:
    return 0 if value == "frozen" else value


def _rates(domain: Any) -> Dict[str, Any]:
    """[0, 2e-5], {"log_uniform": [lo, hi]}, "frozen", 1e-3, {"rank": [0, 8], "fixed": 1e-3}"""
    if isinstance(domain, (list, tuple)):
        return {"levels": {"rates": [_rate(v) for v in domain]}}
    if not isinstance(domain, Mapping):
        return {"fixed": _rate(domain)}
    made = dict(domain)
    if isinstance(made.get("levels"), (list, tuple)):
        made["levels"] = {"rates": [_rate(v) for v in made["levels"]]}
    if isinstance(made.get("log_uniform"), (list, tuple)):
        made["log_uniform"] = dict(zip(("lo", "hi"), made["log_uniform"]))
    if "rank" in made and not isinstance(made["rank"], Mapping):
        ranks = made["rank"]
        made["rank"] = {"ranks": list(ranks) if isinstance(ranks, (list, tuple)) else [ranks]}
    return made


def _domain(domain: Any) -> Dict[str, Any]:
    """["adam", "sgd"], {"float": [0, 0.3]}, {"int": {"lo": 8, "hi": 64, "log": True}}"""
    if isinstance(domain, (list, tuple)):
        return {"choices": list(domain)}
    made = dict(domain)
    for kind in ("float", "int"):
        if isinstance(made.get(kind), (list, tuple)):
            made[kind] = dict(zip(("lo", "hi", "step"), made[kind]))
    return {**made, **_rates({k: v for k, v in made.items()
                              if k in ("levels", "log_uniform")})}


def _number(domain: Any) -> Dict[str, Any]:
    if isinstance(domain, (list, tuple)):
        return {"levels": {"rates": list(domain)}}
    return dict(domain) if isinstance(domain, Mapping) else {"fixed": domain}


def _strategy(value: Any) -> Any:
    """"full", {"first_k": {"k": 2, "rate": 1e-4}}, {"head_only": 2e-5}"""
    if isinstance(value, str):
        return {"name": value}
    if "name" in value or len(value) != 1:
        return value
    (name, options), = value.items()
    return {"name": name, **(options if isinstance(options, Mapping) else {"rate": options})}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
