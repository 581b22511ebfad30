# SPDX-License-Identifier: Apache-2.0
"""A study in the records of others, live and afterwards.

    frostline-records imdb --mlflow http://127.0.0.1:5000 --follow
    frostline-records imdb --tensorboard runs
    frostline-records imdb --wandb runs && wandb sync runs/wandb/offline-run-*

MLflow gets a run for the study and below it one for each trial; TensorBoard gets a
folder of event files for each trial that has ended, with its hyperparameters; W&B a
run that is offline until `wandb sync` sends it, in the group of its study. Called
again, each adds what is new and repeats nothing. Tables need nothing of this:
study.to_pandas(rates=True).to_parquet("imdb.parquet"), or .to_csv."""
from __future__ import annotations

import argparse
import pathlib
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import errors
from ._wire import need
from .study import ENDED, Result, Study, connect

_ENDED = {"SUCCEEDED": "FINISHED", "PRUNED": "FINISHED", "INFEASIBLE": "FAILED",
          "FAILED": "FAILED", "CANCELLED": "KILLED"}
_BATCH = 500  # metrics of one call; MLflow takes 1,000
_STUDY, _TRIAL, _STEP = "frostline.study", "frostline.trial", "frostline.last_step"


def to_mlflow(study: Study, uri: str, experiment: str = "frostline") -> str:
    """The id of the study's run in the MLflow at `uri`; trials are runs below it, named
    by their numbers, with parameters, rates, curves, final metrics and why they failed.
    Of a running trial the curve so far."""
    return _MlflowRecord(study, uri, experiment).write()


class _MlflowRecord:
    """What MLflow has of one study, found by tags: several writers of one record would
    make two."""

    def __init__(self, study: Study, uri: str, experiment: str) -> None:
        tracking = need("mlflow.tracking", "mlflow")
        self._entities = need("mlflow.entities", "mlflow")
        self._study, self._client = study, tracking.MlflowClient(uri)
        found = self._client.get_experiment_by_name(experiment)
        self._experiment = found.experiment_id if found else \
            self._client.create_experiment(experiment)

    def write(self) -> str:
        self._study.refresh()
        parent = self._parent()
        known = self._known(parent)
        for trial in self._study.results(rates=True):
            if trial.state == "QUEUED":
                continue
            run = known.get(trial.number)
            if run is None:
                run = self._begin(parent, trial)
            elif run.info.status != "RUNNING":
                continue
            self._go_on(run, trial)
        self._client.set_tag(parent, "frostline.state", self._study.state)
        if self._study.state in ENDED:
            self._client.set_terminated(parent, "FINISHED")
        return parent

    def _parent(self) -> str:
        rows = self._search(f"tags.`{_STUDY}` = '{self._study.id}' AND "
                            f"tags.`frostline.kind` = 'study'")
        for run in rows:
            return str(run.info.run_id)
        made = self._client.create_run(
            self._experiment, run_name=self._study.id,
            tags={_STUDY: self._study.id, "frostline.kind": "study",
                  "frostline.objectives": ", ".join(self._study.objectives)})
        return str(made.info.run_id)

    def _known(self, parent: str) -> Dict[int, Any]:
        return {int(run.data.tags[_TRIAL]): run for run in
                self._search(f"tags.`mlflow.parentRunId` = '{parent}'")
                if _TRIAL in run.data.tags}

    def _search(self, filter: str) -> Iterator[Any]:
        token = None
        while True:
            page = self._client.search_runs([self._experiment], filter, max_results=1000,
                                            page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def _begin(self, parent: str, trial: Result) -> Any:
        made = self._client.create_run(
            self._experiment, start_time=_millis(trial._message.start_time),
            run_name=f"{self._study.id}-{trial.number}",
            tags={_STUDY: self._study.id, _TRIAL: str(trial.number),
                  "frostline.kind": "trial", "mlflow.parentRunId": parent})
        params = [self._entities.Param(name, str(value))
                  for name, value in _settings(trial).items()]
        for first in range(0, len(params), 100):
            self._client.log_batch(made.info.run_id, params=params[first:first + 100])
        return made

    def _go_on(self, run: Any, trial: Result) -> None:
        run_id, last = run.info.run_id, int(run.data.tags.get(_STEP, -1))
        now = int(time.time() * 1000)
        metrics, newest = [], last
        for point in self._study.curve(trial.number):
            if point.step > last:
                metrics += [self._entities.Metric(name, value, now, point.step)
                            for name, value in point.metrics.items()]
                newest = max(newest, point.step)
        if trial.state in _ENDED:
            final = max(newest, 0)
            metrics += [self._entities.Metric(f"final.{name}", value, now, final)
                        for name, value in trial.metrics.items()]
        for first in range(0, len(metrics), _BATCH):
            self._client.log_batch(run_id, metrics=metrics[first:first + _BATCH])
        self._client.set_tag(run_id, _STEP, str(newest))
        if trial.state in _ENDED:
            self._client.set_tag(run_id, "frostline.state", trial.state)
            if trial.cause:
                self._client.set_tag(run_id, "frostline.cause", trial.cause[:500])
            self._client.set_terminated(run_id, _ENDED[trial.state],
                                        _millis(trial._message.end_time))


def to_tensorboard(study: Study, folder: str) -> int:
    """Event files below `folder`: trial-7 has the curve of trial 7, its parameters and
    rates as hyperparameters, and its final metrics. Only ended trials; one whose folder
    is there is left as it is. Returns how many were written."""
    written = 0
    study.refresh()
    for trial in study.results(rates=True):
        place = pathlib.Path(folder, f"trial-{trial.number}")
        if trial.state in _ENDED and not place.exists():
            _write_events(study, trial, place)
            written += 1
    return written


def _write_events(study: Study, trial: Result, place: pathlib.Path) -> None:
    """Under another name first: a folder of that name is whole."""
    make = need("torch.utils.tensorboard", "torch tensorboard").SummaryWriter
    part = place.with_name(place.name + ".part")
    with make(str(part)) as writer:
        for point in study.curve(trial.number):
            for name, value in point.metrics.items():
                writer.add_scalar(name, value, point.step)
        plain = {name: value if isinstance(value, (int, float, str, bool)) else str(value)
                 for name, value in _settings(trial).items()}
        writer.add_hparams({**plain, "state": trial.state},
                           {f"final/{name}": value for name, value in trial.metrics.items()},
                           run_name=".")
    part.rename(place)


def to_wandb(study: Study, folder: str, project: str = "frostline") -> int:
    """Offline runs of W&B below `folder`, one for each ended trial, whose id is the
    study's and its number: what is there is not written again. Nothing is sent. Returns
    how many were written."""
    wandb = need("wandb")
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    there = {path.name.split("-", 3)[3] for path in place.glob("wandb/offline-run-*-*")}
    written = 0
    study.refresh()
    for trial in study.results(rates=True):
        id = f"{study.id}-{trial.number}"
        if trial.state not in _ENDED or id in there:
            continue
        run = wandb.init(
            project=project, group=study.id, id=id, name=id, dir=str(place), mode="offline",
            job_type="trial", config=_settings(trial), reinit="create_new",
            settings=wandb.Settings(console="off", silent=True, disable_git=True,
                                    save_code=False, x_disable_stats=True,
                                    x_disable_meta=True))
        for point in study.curve(trial.number):
            run.log(dict(point.metrics), step=point.step)
        run.summary.update({**{f"final/{n}": v for n, v in trial.metrics.items()},
                            "state": trial.state, "cause": trial.cause})
        run.finish(exit_code=0 if _ENDED[trial.state] == "FINISHED" else 1)
        written += 1
    return written


def _settings(trial: Result) -> Dict[str, Any]:
    return {**trial.parameters, **{f"rate.{m}": r for m, r in trial.rates.items()}}


def _millis(time_: Any) -> Optional[int]:
    return (time_.seconds * 1000 + time_.nanos // 1_000_000) or None


def _writers(options: argparse.Namespace) -> List[Callable[[Study], Any]]:
    made: List[Callable[[Study], Any]] = []
    if options.mlflow:
        made.append(lambda study: to_mlflow(study, options.mlflow, options.experiment))
    if options.tensorboard:
        made.append(lambda study: to_tensorboard(study, options.tensorboard))
    if options.wandb:
        made.append(lambda study: to_wandb(study, options.wandb, options.project))
    return made


@errors.as_exit_code
def main(arguments: Optional[List[str]] = None) -> int:
    """The console script."""
    parser = argparse.ArgumentParser(
        prog="frostline-records", description="A study in MLflow, TensorBoard or W&B.")
    parser.add_argument("study", help="its id")
    parser.add_argument("--connect", default="", metavar="ADDRESS",
                        help="the coordinator [$FROSTLINE_CONNECT, else 127.0.0.1:7070]")
    parser.add_argument("--mlflow", metavar="URI",
                        help="an MLflow server, or sqlite:///FILE")
    parser.add_argument("--experiment", default="frostline", help="of MLflow [frostline]")
    parser.add_argument("--tensorboard", metavar="DIR", help="a folder of event files")
    parser.add_argument("--wandb", metavar="DIR", help="a folder of offline runs")
    parser.add_argument("--project", default="frostline", help="of W&B [frostline]")
    parser.add_argument("--follow", action="store_true", help="until the study has ended")
    parser.add_argument("--every", type=float, default=10.0, metavar="SECONDS",
                        help="with --follow [10]")
    options = parser.parse_args(arguments)
    writers = _writers(options)
    if not writers:
        parser.error("name --mlflow, --tensorboard or --wandb")
    with connect(options.connect) as client:
        study = client.study(options.study)
        while True:
            for write in writers:
                write(study)
            if not options.follow or study.state in ENDED:
                break
            time.sleep(options.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
