// SPDX-License-Identifier: Apache-2.0
//
// What a trial leaves behind to go on from, and how it goes on.
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/plain/sums.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {
namespace {

constexpr char kTrialNote[] = "trial";

}  // namespace

bool FineTuning::SaveIsDue() const {
  return environment_.seconds() - saved_ >= environment_.checkpoint_seconds &&
         stepper_->steps() < total_steps_;
}

// The step goes on while a copy is written. Where the one before is not written
// yet, the disk cannot do it more often; told to save after every step, it
// waits.
void FineTuning::SaveBeside() {
  if (environment_.checkpoint_seconds == 0.0) AwaitSaved();
  if (writer_.writes()) return;
  saved_ = environment_.seconds();
  Expected<CheckpointCopy> copy =
      CopyForCheckpoint(*stepper_, NotesNow(), KeptElsewhere());
  if (!copy.ok()) return listener_.Log(FaultText(copy.fault()));
  const std::string name = CheckpointName();
  writer_.Begin(name, stepper_->steps(),
                [path = PathOf(name),
                 held = std::move(copy).value()]() mutable -> Expected<Done> {
                  return WriteCheckpoint(path, std::move(held));
                });
}

// At the end of an attempt, when there is time for the disk.
void FineTuning::Save() {
  AwaitSaved();
  const std::string name = CheckpointName();
  if (name == newest_) return;
  Enter(TrialPhase::kSaving);
  TellSaved(
      {name, stepper_->steps(),
       SaveCheckpoint(PathOf(name), *stepper_, NotesNow(), KeptElsewhere())});
}

// The weights themselves, where the step is the one that is kept.
WeightCopies FineTuning::KeptElsewhere() const {
  return progress_.kept_step == stepper_->steps() ? WeightCopies()
                                                  : kept_weights_;
}

void FineTuning::AwaitSaved() {
  if (auto written = writer_.Await()) TellSaved(*written);
}

// A checkpoint that cannot be written costs nothing but what it would save.
void FineTuning::TellSaved(const WrittenCheckpoint& written) {
  if (!written.done.ok()) {
    return listener_.Log(FaultText(written.done.fault()));
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(PathOf(written.name), error);
  listener_.Saved(written.name, written.step,
                  error ? 0 : static_cast<std::int64_t>(bytes));
  // Only now: until the new one is known the old one counts.
  if (!newest_.empty()) std::filesystem::remove(PathOf(newest_), error);
  newest_ = written.name;
}

std::string FineTuning::CheckpointName() const {
  return "step-" + std::to_string(stepper_->steps()) + ".safetensors";
}

std::string FineTuning::PathOf(const std::string& name) const {
  return (std::filesystem::path(trial_.folder) / name).string();
}

std::string FineTuning::Identity() const {
  Sha256Sum sum;
  sum.AddField(trial_.identity);
  sum.AddField(setup_.pretrained->sha256);
  for (const TaskSetup& task : setup_.tasks) {
    sum.AddField(task.data->train.fingerprint);
  }
  sum.AddField(NameOf(precision_));
  return sum.Finish();
}

Notes FineTuning::NotesNow() const {
  Notes notes = PrintProgress(progress_);
  notes[kTrialNote] = Identity();
  return notes;
}

// From a checkpoint that cannot be used the trial begins anew: slower, and
// still right.
Expected<Done> FineTuning::Resume() {
  Expected<Notes> notes =
      LoadCheckpoint(trial_.resume_path, *stepper_, &kept_weights_);
  if (notes.ok()) {
    Expected<TrialProgress> progress = ParseProgress(notes.value());
    if (notes.value()[kTrialNote] != Identity()) {
      progress = Fault{FaultKind::kInconsistent,
                       trial_.resume_path + " is of another trial",
                       "resume from one of this trial's own checkpoints"};
    }
    if (progress.ok()) {
      progress_ = std::move(progress).value();
      early_stopping_.Restore(progress_.early_stopping);
      ended_early_ = early_stopping_.ended();
      listener_.Log("goes on from step " + std::to_string(stepper_->steps()));
      return CopyKept();
    }
    notes = progress.fault();
  }
  listener_.Log("begins anew: " + FaultText(notes.fault()));
  resume_step_ = 0;
  kept_weights_.clear();
  return MakeStepper();
}

}  // namespace frostline::trainer
