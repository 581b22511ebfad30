#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hf_test.py PROGRAMS: a Trainer of transformers under a real agent, and two ranks of
torchrun that train one trial."""
import re
import shlex
import sys
import unittest

import world
from world import attempts, scratch, script, study

from totals import run_and_count

# A tiny BERT that learns whether the first token is large.
TRAIN = """
import os, sys, torch, transformers, frostline
from transformers import Trainer, TrainingArguments
transformers.set_seed(1)
trial = frostline.trial()
model = transformers.BertForSequenceClassification(transformers.BertConfig(
    vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=32))
rows = [{"input_ids": torch.randint(0, 20, (4,))} for _ in range(64)]
for row in rows:
    row["labels"] = (row["input_ids"][0] >= 10).long()
def accuracy(p):
    return {"accuracy": (p.predictions.argmax(-1) == p.label_ids).mean().item()}
report = frostline.hf.Report(trial)
args = TrainingArguments(str(trial.folder / "out"), eval_strategy="epoch", report_to=[],
    num_train_epochs=EPOCHS, per_device_train_batch_size=16, use_cpu=True,
    save_strategy="no", disable_tqdm=True, log_level="error")
trainer = Trainer(model, args, train_dataset=rows, eval_dataset=rows[:32],
    compute_metrics=accuracy, callbacks=[report],
    optimizers=(torch.optim.AdamW(trial.apply(model, lr=1e-3)), None))
trainer.train()
# In one piece: ranks share the log.
sys.stderr.write(f"rank {os.environ.get('RANK')} ended at step {trainer.state.global_step}\\n")
if torch.distributed.is_initialized():
    torch.distributed.barrier()  # rank 0's end is the trial's, and ends whoever still writes
"""
SPACE = {"modules": {"embeddings": [0, 1e-3], "layer.*": [0, 1e-3], "pooler": 1e-3,
                     "head": 1e-2}}
MODEL = {"id": "tiny", "layers": 2}


class HuggingFace(unittest.TestCase):
    def train(self, command, text=TRAIN, epochs=2, budget=2, **keys):
        with scratch() as folder, study(budget=budget, space=SPACE, model=MODEL,
                                        maximize="accuracy", **keys) as (client, toy):
            train = script(folder, text.replace("EPOCHS", str(epochs)))
            said = world.work(client, shlex.join([*command, str(train)]), folder / "runs",
                              "--keep", "all")
            log = "".join(p.read_text() for p in sorted((folder / "runs").rglob("*.log")))
            curve = client.call("StudyService", "ListMeasurements",
                                name="studies/toy/trials/0").get("measurements", [])
            return list(toy.results()), curve, attempts(client), said.stderr + log

    def test_a_trainer_reports_and_its_weights_are_audited(self):
        results, curve, _, log = self.train([sys.executable])
        self.assertEqual(["SUCCEEDED"] * 2, [one.state for one in results], log)
        self.assertEqual(["4", "8"], [one["step"] for one in curve])
        self.assertEqual(curve[-1]["metrics"]["accuracy"], results[0].values[0])

    def test_a_module_that_does_not_train_fails_the_trial_by_its_name(self):
        text = TRAIN.replace("trial.apply(model, lr=1e-3)",
                             "[g for g in trial.apply(model) if g['name'] != 'pooler']")
        results, _, tries, log = self.train([sys.executable], text, budget=1)
        self.assertEqual("FAILED", results[0].state, log)
        self.assertIn("pooler should have moved", tries[0]["cause"])

    def test_the_same_script_runs_alone(self):
        with scratch() as folder:
            train = script(folder, TRAIN.replace("EPOCHS", "1"))
            said = world.run_python(f"exec(open({str(train)!r}).read())")
            self.assertIn("ended at step 4", said.stderr)

    def test_the_next_attempt_goes_on_from_the_last_checkpoint(self):
        text = TRAIN.replace('save_strategy="no"', 'save_strategy="epoch"').replace(
            "trainer.train()", """
class Crash(transformers.TrainerCallback):
    def on_save(self, args, state, control, **_):
        if trial.attempt == 1:
            os._exit(1)
trainer.add_callback(Crash())
trainer.train(resume_from_checkpoint=report.resume())
print("went on from", report.resume(), file=sys.stderr)""")
        results, curve, tries, log = self.train([sys.executable], text, budget=1)
        self.assertEqual(("SUCCEEDED", 2), (results[0].state, len(tries)), log)
        self.assertIn("checkpoint-4", log.split("went on from")[1])
        self.assertEqual(["8"], [one["step"] for one in curve])

    def test_a_callback_that_raises_fails_the_trial_with_its_words(self):
        text = TRAIN.replace("trainer.train()", """
class Bad(transformers.TrainerCallback):
    def on_epoch_end(self, args, state, control, **_):
        raise ValueError("the disk for samples is full")
trainer.add_callback(Bad())
trainer.train()""")
        results, _, tries, log = self.train([sys.executable], text, budget=1,
                                            lease={"max_trial_faults": 1})
        self.assertEqual(("FAILED", 1), (results[0].state, len(tries)), log)
        self.assertIn("ValueError: the disk for samples is full", tries[0]["cause"])

    def test_two_ranks_train_one_trial(self):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2",
                    "--rdzv_backend=c10d", "--rdzv_endpoint=127.0.0.1:0"]
        results, curve, tries, log = self.train(torchrun, budget=1)
        self.assertEqual("SUCCEEDED", results[0].state, log)
        self.assertEqual((1, 2), (len(tries), len(curve)))
        for rank in (0, 1):
            self.assertIn(f"rank {rank} ended at step 4", log)

    def test_accelerate_launches_two_ranks_as_the_page_says(self):
        page = (world.ROOT / "docs/how-to/transformers-trainer.md").read_text()
        command = re.search(r'--exec "accelerate launch ([^"]*) train.py', page).group(1)
        results, curve, tries, log = self.train(
            [sys.executable, "-m", "accelerate.commands.launch", *command.split()], budget=1)
        self.assertEqual("SUCCEEDED", results[0].state, log)
        self.assertEqual((1, ["2", "4"]), (len(tries), [one["step"] for one in curve]))
        for rank in (0, 1):
            self.assertIn(f"rank {rank} ended at step 4\n", log)

    def test_a_rank_that_fails_fails_the_trial_with_its_cause(self):
        text = TRAIN.split("model = ")[0] + """
trial.report(1, accuracy=0.5)
if os.environ["RANK"] == "1":
    raise ValueError("no such shard")
"""
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2",
                    "--rdzv_backend=c10d", "--rdzv_endpoint=127.0.0.1:0"]
        results, _, tries, log = self.train(torchrun, text, budget=1, lease={
            "max_trial_faults": 1})
        self.assertEqual("FAILED", results[0].state, log)
        self.assertIn("rank 1: ValueError: no such shard", tries[0]["cause"])

    def test_a_stop_reaches_both_ranks_at_one_step(self):
        # Rank 0 alone knows of the stop, between two reports: the next one tells both.
        text = TRAIN.replace("trainer.train()", """
import time
class Cancel(transformers.TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        with open(os.environ["STEPS"] + os.environ["RANK"], "w") as file:
            file.write(str(state.global_step))
    def on_epoch_begin(self, args, state, control, **_):
        if state.global_step == 12 and os.environ["RANK"] == "0":
            frostline.connect(os.environ["COORDINATOR"]).call("StudyService", "CancelTrial",
                name=trial.name, request_id="cancel-" + "0" * 16)
            while not trial._link._link.stop_reason():
                time.sleep(0.02)
trainer.add_callback(Cancel())
trainer.train()""")
        torchrun = ["env", "COORDINATOR=", "STEPS=", sys.executable, "-m", "torch.distributed.run",
                    "--nproc_per_node=2", "--rdzv_backend=c10d",
                    "--rdzv_endpoint=127.0.0.1:0"]
        with scratch() as folder, study(budget=1, space=SPACE, model=MODEL,
                                        maximize="accuracy", lease={
                                            "ttl": 30, "heartbeat_interval": 0.2}) as (client, toy):
            train = script(folder, text.replace("EPOCHS", "40"))
            torchrun[1] += client.address
            torchrun[2] += str(folder / "step-of-rank-")
            world.work(client, shlex.join([*torchrun, str(train)]), folder / "runs",
                       "--keep", "all", "--stop-grace", "60")
            log = "".join(p.read_text() for p in sorted((folder / "runs").rglob("*.log")))
            # Not by the log: what a rank writes once the trial is over may come too late.
            steps = [(folder / f"step-of-rank-{rank}").read_text() for rank in (0, 1)]
            self.assertEqual(["14", "14"], steps, log)
            self.assertEqual("CANCELLED", next(toy.results()).state)


if __name__ == "__main__":
    sys.exit(run_and_count())
