#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peer.py MODEL TRAIN VALIDATION: what ./dev bench study compares with.

The Trainer of transformers and Optuna as people use them, behind the trainer's
protocol: each message is a point that Optuna is given (enqueue_trial) and whose
result it is told. Freezing is a rate of 0 under lr0, and requires_grad = False
under hard; dropout is the model's. One thread.
"""
import csv
import json
import os
import sys
import tempfile

import optuna
import torch
import transformers
from transformers import (AutoModelForSequenceClassification, AutoTokenizer,
                          DataCollatorWithPadding, Trainer, TrainingArguments)

torch.set_num_threads(1)
optuna.logging.set_verbosity(optuna.logging.ERROR)
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def module_of(name):
    """The module of Frostline that a parameter of BERT belongs to."""
    parts = name.split(".")
    if "embeddings" in parts:
        return "embeddings"
    if "layer" in parts:
        return "layer." + parts[parts.index("layer") + 1]
    return "pooler" if "pooler" in parts else "head"


class Rows(torch.utils.data.Dataset):
    def __init__(self, path, tokenizer, labels, longest):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t",
                                       quoting=csv.QUOTE_NONE))
        labels = labels or sorted({row["label"] for row in rows})
        self.labels = labels
        self.rows = [dict(tokenizer(row["text"], truncation=True,
                                    max_length=longest),
                          labels=labels.index(row["label"])) for row in rows]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]


def arguments_of(training, folder, seed):
    wanted = {
        "output_dir": folder, "seed": seed, "use_cpu": True,
        "num_train_epochs": training["epochs"],
        "per_device_train_batch_size": training["batch_size"],
        "per_device_eval_batch_size": 64, "eval_strategy": "epoch",
        "save_strategy": "no", "logging_strategy": "no", "report_to": [],
        "disable_tqdm": True, "lr_scheduler_type": "linear",
        "warmup_ratio": training["warmup_share"], "weight_decay": 0.0,
        "max_grad_norm": 1.0, "dataloader_pin_memory": False,
        "group_by_length": True, "train_sampling_strategy": "group_by_length"}
    known = TrainingArguments.__dataclass_fields__
    if "warmup_ratio" not in known:
        wanted["warmup_steps"] = training["warmup_share"]
    return TrainingArguments(**{name: value for name, value in wanted.items()
                                if name in known})


class Peer:
    def __init__(self, model, train, validation):
        self.model = model
        self.tokenizer = AutoTokenizer.from_pretrained(model)
        self.train = Rows(train, self.tokenizer, None, 64)
        self.validation = Rows(validation, self.tokenizer, self.train.labels, 64)
        self.study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))

    def run(self, message):
        """The accuracy at this point."""
        rates = message["rates"]
        self.study.enqueue_trial({"seed": message["seed"], **rates})

        def objective(trial):
            point = {name: trial.suggest_float(name, 0.0, 1e-2)
                     for name in rates}
            seed = trial.suggest_int("seed", 1, 1000)
            return self.train_at(point, seed, message)
        self.study.optimize(objective, n_trials=1)
        return self.study.trials[-1].value

    def train_at(self, rates, seed, message):
        transformers.set_seed(seed)
        model = AutoModelForSequenceClassification.from_pretrained(
            self.model, num_labels=len(self.train.labels))
        groups = {}
        for name, parameter in model.named_parameters():
            rate = rates[module_of(name)]
            if rate == 0.0 and message["freeze"]["mode"] == "hard":
                parameter.requires_grad = False
            else:
                groups.setdefault(rate, []).append(parameter)
        optimizer = torch.optim.AdamW(
            [{"params": some, "lr": rate} for rate, some in groups.items()],
            weight_decay=0.0)
        with tempfile.TemporaryDirectory() as folder:
            trainer = Trainer(
                model=model, optimizers=(optimizer, None),
                args=arguments_of(message["training"], folder, seed),
                train_dataset=self.train, eval_dataset=self.validation,
                data_collator=DataCollatorWithPadding(self.tokenizer),
                compute_metrics=lambda seen: {"accuracy": float(
                    (seen.predictions.argmax(-1) == seen.label_ids).mean())})
            trainer.train()
            logged = [entry["eval_accuracy"] for entry in
                      trainer.state.log_history if "eval_accuracy" in entry]
        return logged[-1]


def main():
    # Whatever a library prints is no message.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**message):
        out.write(json.dumps(message) + "\n")
        out.flush()
    peer = Peer(*sys.argv[1:])
    say(type="hello", protocol=1,
        software=f"transformers {transformers.__version__}, "
                 f"optuna {optuna.__version__}, torch {torch.__version__}")
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "exit":
            break
        say(type="finish", state="succeeded",
            metrics={"accuracy": peer.run(message)})


if __name__ == "__main__":
    main()
