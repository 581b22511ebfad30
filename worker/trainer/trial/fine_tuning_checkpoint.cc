// SPDX-License-Identifier: Apache-2.0
//
// What a trial leaves behind to go on from, and how it goes on.
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/plain/sha256.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/fault_text.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {
namespace {

constexpr char kTrialNote[] = "trial";

}  // namespace

bool FineTuning::SaveIsDue() const {
  return environment_.seconds() - saved_ >= environment_.checkpoint_seconds &&
         stepper_->steps() < total_steps_;
}

// A checkpoint that cannot be written costs nothing but what it would save.
void FineTuning::Save() {
  saved_ = environment_.seconds();
  const std::string name =
      "step-" + std::to_string(stepper_->steps()) + ".safetensors";
  if (name == newest_) return;
  const std::filesystem::path path =
      std::filesystem::path(trial_.folder) / name;
  Expected<Done> saved = SaveCheckpoint(path.string(), *stepper_, NotesNow());
  if (!saved.ok()) return listener_.Log(FaultText(saved.fault()));
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  listener_.Saved(name, stepper_->steps(),
                  error ? 0 : static_cast<std::int64_t>(bytes));
  // Only now: until the new one is known the old one counts.
  if (!newest_.empty()) {
    std::filesystem::remove(std::filesystem::path(trial_.folder) / newest_,
                            error);
  }
  newest_ = name;
}

std::string FineTuning::Identity() const {
  Sha256Sum sum;
  sum.AddField(trial_.identity);
  sum.AddField(setup_.pretrained->sha256);
  sum.AddField(setup_.data->train.fingerprint);
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
  Expected<Notes> notes = LoadCheckpoint(trial_.resume_path, *stepper_);
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
      return Done{};
    }
    notes = progress.fault();
  }
  listener_.Log("begins anew: " + FaultText(notes.fault()));
  resume_step_ = 0;
  return MakeStepper();
}

}  // namespace frostline::trainer
