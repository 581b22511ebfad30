# SPDX-License-Identifier: Apache-2.0
"""Hugging Face: a callback that carries a Trainer's evaluations to the trial.

    trial = frostline.trial(lr=2e-5)
    optimizer = torch.optim.AdamW(trial.apply(model, lr=trial["lr"]))
    Trainer(model, args, …, optimizers=(optimizer, None),
            callbacks=[frostline.hf.Report(trial)]).train()

Under torchrun and accelerate rank 0 holds the trial; all ranks report at the same
steps and stop at the same one."""
from __future__ import annotations

import math
import os
import pathlib
from typing import Any, Dict, Optional

from . import errors
from ._wire import need

TrainerCallback: Any = need("transformers.trainer_callback", "transformers").TrainerCallback


class Report(TrainerCallback):
    """Reports each evaluation by its step, stops where the trial is to stop, and leaves
    a checkpoint for the attempt that goes on.

    `metrics` names those to report ({"eval_accuracy": "accuracy"}); without it all of an
    evaluation, less the prefix `eval_`. `audit` holds the weights against the rates at
    the end. `resume()` is for Trainer.train(resume_from_checkpoint=…)."""

    def __init__(self, trial: Any, metrics: Optional[Dict[str, str]] = None, *,
                 audit: bool = True) -> None:
        self._trial, self._names, self._audit = trial, metrics, audit
        self._optimizer: Any = None
        self._heard = False

    def resume(self) -> Optional[str]:
        """The folder of an earlier attempt's checkpoint on this machine, or None."""
        return (self._trial.resume_from or {}).get("path")

    def on_train_begin(self, args, state, control, optimizer=None, **_):
        self._optimizer = optimizer

    def on_evaluate(self, args, state, control, metrics=None, **_):
        told = self._named(metrics or {})
        bad = next((name for name, value in told.items()
                    if name in self._wanted() and not math.isfinite(value)), None)
        if bad is not None:
            self._trial.infeasible(f"{bad} is {told[bad]} at step {state.global_step}")
            control.should_training_stop = True
            return control
        if self._trial.ended or (state.global_step == self._trial.last_step and told):
            return control  # an evaluation after the end of training
        self._heard = True
        total = state.max_steps if state.max_steps and state.max_steps > 0 else None
        if self._trial.report(state.global_step, told, total_steps=total):
            control.should_training_stop = True
            control.should_save = control.should_save or self._trial.stop_reason in (
                "preempt", "drain", "hang")
        return control

    def on_save(self, args, state, control, **_):
        """A checkpoint of the Trainer lies in its output folder: the trial's folder has
        a link to it, by a name that the agent takes."""
        made = pathlib.Path(args.output_dir, f"checkpoint-{state.global_step}").absolute()
        if state.is_world_process_zero and made.is_dir() and not self._trial.ended:
            link = self._trial.folder / made.name
            if link.absolute() != made and not link.exists():
                os.symlink(made, link)
            self._trial.checkpoint(made.name, state.global_step)

    def on_train_end(self, args, state, control, model=None, **_):
        stopped = self._trial.alone or self._trial.ended or state.global_step == 0
        if self._audit and self._trial._audit is not None and model is not None \
                and not stopped:
            self._trial.audit(model, _plain(self._optimizer))
        if not self._heard and not self._trial.alone and not self._trial.ended:
            raise errors.NoMetric(
                "training ended and nothing was evaluated, so the trial has no metrics",
                "set eval_strategy in TrainingArguments and give an eval_dataset")

    def _wanted(self):
        return {one["metric"] for one in self._trial.objectives}

    def _named(self, metrics: Dict[str, Any]) -> Dict[str, float]:
        numbers = {name: float(value) for name, value in metrics.items()
                   if isinstance(value, (int, float)) and not isinstance(value, bool)}
        if self._names is not None:
            return {new: numbers[old] for old, new in self._names.items() if old in numbers}
        return {name[5:] if name.startswith("eval_") else name: value
                for name, value in numbers.items()}


def _plain(optimizer: Any) -> Any:
    """The optimizer below accelerate's wrapper."""
    return getattr(optimizer, "optimizer", optimizer)
