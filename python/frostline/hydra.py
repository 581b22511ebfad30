# SPDX-License-Identifier: Apache-2.0
"""Hydra's sweeper: `hydra/sweeper=frostline` makes of a multirun a study.

    python app.py -m hydra/sweeper=frostline hydra.sweeper.study.maximize=accuracy \\
        'lr=tag(log, interval(1e-5, 1e-2))' 'batch=choice(16, 32)'

Each trial is a job of the launcher that Hydra was told to use, and each job ends by
itself: the next trial starts when one is done, and not when a batch is. What the job's
function returns are the objectives."""
from __future__ import annotations

import concurrent.futures
import datetime
import logging
import math
import pathlib
import re
import threading
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _local, errors
from ._wire import need

Sweeper: Any = need("hydra.plugins.sweeper", "hydra-core").Sweeper

log = logging.getLogger(__name__)

_WAIT = 10.0  # seconds for a trial, then it is looked whether the study has ended
_BAD_IN_A_ROW = 3


@dataclass
class FrostlineSweeperConf:
    """What stands under hydra.sweeper. `study` is in the words of study files, with `id`
    for one that goes on where it stood; `rates` is the key of the configuration that gets
    the rate of each module; `jobs` is how many run at once."""
    _target_: str = "hydra_plugins.frostline_sweeper.FrostlineSweeper"
    study: Dict[str, Any] = field(default_factory=dict)
    params: Dict[str, Any] = field(default_factory=dict)
    rates: Optional[str] = None
    jobs: int = 1
    connect: Optional[str] = None


need("hydra.core.config_store", "hydra-core").ConfigStore.instance().store(
    group="hydra/sweeper", name="frostline", node=FrostlineSweeperConf, provider="frostline")


class FrostlineSweeper(Sweeper):
    """Asks the coordinator for trials and tells what their jobs returned. Without
    `connect` and FROSTLINE_CONNECT a coordinator of this user's own is started."""

    def __init__(self, study: Any, params: Any, rates: Optional[str], jobs: int,
                 connect: Optional[str]) -> None:
        plain = need("omegaconf").OmegaConf.to_container
        self._keys: Dict[str, Any] = dict(plain(study, resolve=True))
        self._params: Dict[str, Any] = dict(plain(params, resolve=True))
        self._rates, self._jobs, self._connect = rates, jobs, connect
        self._stop, self._bad = threading.Event(), 0
        self._paused = False  # and it was said
        if jobs < 1:
            raise errors.InvalidArgument(f"jobs is {jobs}, and one runs at least",
                                         "say how many run at once", id="PY-1041",
                                         field="jobs")

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        plugins = need("hydra.core.plugins", "hydra-core").Plugins
        self._context, self._config = hydra_context, config
        self._launcher = plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config)
        if self._jobs > 1 and type(self._launcher).__name__ == "BasicLauncher":
            raise errors.InvalidArgument(
                f"jobs is {self._jobs}, and Hydra's own launcher runs jobs in this process, "
                "one after the other",
                "take one that starts processes: hydra/launcher=submitit_local, "
                "submitit_slurm or joblib", id="PY-1041", field="jobs")

    def sweep(self, arguments: List[str]) -> Any:
        parser = need("hydra.core.override_parser.overrides_parser",
                      "hydra-core").OverridesParser.create(
                          config_loader=self._context.config_loader)
        space = Space(parser.parse_overrides(
            [*(f"{name}={value}" for name, value in self._params.items()), *arguments]))
        with _local.client(self._connect or "") as client:
            study = self._create(client, space)
            log.info("the study %s; see `frostline study show %s`", study.name, study.id)
            try:
                return self._run(study, space)
            finally:
                study.close()

    def _create(self, client: Any, space: "Space") -> Any:
        keys = dict(self._keys)
        now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        name = re.sub("[^a-z0-9]+", "-", self._config.hydra.job.name.lower()).strip("-")
        id = keys.pop("id", None) or f"{name[:40]}-{now}"
        keys["space"] = {**keys.get("space", {})}
        keys["space"]["parameters"] = {
            **keys["space"].get("parameters", {}), **space.domains}
        if not keys["space"]["parameters"]:
            del keys["space"]["parameters"]
        if self._jobs > 1:
            keys.setdefault("max_parallel", self._jobs)
        return client.create_study(id, **keys)

    def _run(self, study: Any, space: "Space") -> List[Any]:
        returns: List[Any] = []
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            others = [pool.submit(self._work, study, space, returns)
                      for _ in range(self._jobs - 1)]
            try:
                self._work(study, space, returns)
                for other in others:
                    other.result()
            finally:
                self._stop.set()
        self._write_results(study.refresh(), space)
        return returns

    def _work(self, study: Any, space: "Space", returns: List[Any]) -> None:
        """One job after the other, until the study ends."""
        try:
            while not self._stop.is_set():
                trial = study.ask(_WAIT)
                if trial is not None:
                    self._train(trial, space, returns)
                elif study._has_ended():
                    return
                elif study.state == "PAUSED" and not self._paused:
                    self._paused = True
                    log.warning("the study is paused: %s; `frostline study resume %s` lets "
                                "it go on", study._message.state_reason or "no reason", study.id)
        except BaseException:
            self._stop.set()
            raise

    def _train(self, trial: Any, space: "Space", returns: List[Any]) -> None:
        overrides = space.overrides(trial, self._rates)
        try:
            job, = self._launcher.launch([overrides], initial_job_idx=trial.number)
            metrics = _metrics(job.return_value, [o["metric"] for o in trial.objectives])
        except Exception as error:
            trial.end_with(error)
            self._bad += 1
            log.error("trial %s failed: %s", trial.number, error)
            if self._bad >= _BAD_IN_A_ROW:
                raise
            return
        except BaseException as error:
            trial.end_with(error)
            raise
        self._bad = 0
        bad = next((name for name, value in metrics.items() if not math.isfinite(value)), "")
        if bad:
            trial.infeasible(f"{bad} is {metrics[bad]}")
        else:
            trial.complete(metrics)
        returns.append(job)

    def _write_results(self, study: Any, space: "Space") -> None:
        """What the best trials were, beside the jobs' folders."""
        numbers = {one.number for one in study.best_trials}
        best = [{"trial": one.number, "values": dict(zip(study.objectives, one.values)),
                 "overrides": space.overrides(one, self._rates)}
                for one in study.results(rates=True) if one.number in numbers]
        folder = pathlib.Path(self._config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        need("omegaconf").OmegaConf.save(
            {"name": "frostline", "study": study.id, "best": best},
            folder / "optimization_results.yaml")


class Space:
    """What a multirun's overrides say: `domains` to search, and the rest as it stands."""

    def __init__(self, overrides: Sequence[Any]) -> None:
        self.domains: Dict[str, Any] = {}
        self._fixed: List[str] = []
        self._keys: Dict[str, str] = {}  # name here -> key of the override
        self._texts: Dict[str, Dict[Any, str]] = {}  # choice -> as Hydra writes it
        for one in overrides:
            key = one.get_key_element()
            if one.is_sweep_override():
                name = key.lstrip("+").replace("@", ".").replace("/", ".")
                self._keys[name] = key
                self.domains[name] = self._domain(name, one)
            else:
                self._fixed.append(one.input_line)

    def _domain(self, name: str, one: Any) -> Any:
        swept = one.value()
        is_log = "log" in swept.tags
        if one.is_interval_sweep():
            whole = isinstance(swept.start, int) and isinstance(swept.end, int)
            return {"int" if whole else "float":
                    {"lo": swept.start, "hi": swept.end, "log": is_log}}
        if one.is_range_sweep() and all(
                isinstance(end, int) for end in (swept.start, swept.stop, swept.step)):
            last = swept.range()[-1]
            return {"int": {"lo": swept.start, "hi": last, "step": swept.step}}
        texts = list(one.sweep_string_iterator())
        values = [_plain(element, text) for element, text in zip(one.sweep_iterator(), texts)]
        self._texts[name] = dict(zip(values, texts))
        if len(self._texts[name]) < len(texts):
            raise errors.InvalidArgument(
                f"{name} has a choice twice", "name each once", id="PY-1041", field=name)
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0
                      for v in values)
        return {"levels": sorted(values)} if numbers else values

    def overrides(self, trial: Any, rates: Optional[str]) -> List[str]:
        """The job of a trial, as overrides of Hydra's."""
        made = list(self._fixed)
        for name, value in trial.parameters.items():
            if name in trial.rates or name == "prefix_depth":
                continue  # they are in the rates
            texts = self._texts.get(name)
            made.append(f"{self._keys.get(name, name)}="
                        f"{texts[value] if texts else value}")
        if rates:
            told = ",".join(f"{module}:{rate!r}" for module, rate in trial.rates.items())
            made.append(f"++{rates}={{{told}}}")
        return made


def _plain(element: Any, text: str) -> Any:
    """A choice as a value of JSON: a number, a boolean, or a text, without quotes; lists
    and dictionaries as Hydra writes them."""
    element = getattr(element, "text", element)
    is_plain = isinstance(element, (bool, int, str)) or (
        isinstance(element, float) and math.isfinite(element))
    return element if is_plain else text


def _metrics(returned: Any, objectives: Sequence[str]) -> Dict[str, float]:
    """A number, one for each objective in order, or metrics by name."""
    if isinstance(returned, Mapping):
        return {str(name): float(value) for name, value in returned.items()}
    values = returned if isinstance(returned, (list, tuple)) else [returned]
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != len(objectives):
        raise errors.NoMetric(
            f"the job returned {returned!r}, and the study wants {', '.join(objectives)}",
            "return a number, one for each objective, or {name: number}")
    return dict(zip(objectives, numbers))
