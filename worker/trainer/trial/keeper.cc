// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/keeper.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/plain/sums.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

KeptEvaluation::KeptEvaluation(TrialObjective by, TrainedModel& trained,
                               TrialProgress& progress)
    : by_(std::move(by)), trained_(trained), progress_(progress) {}

// Keeps the first one of equal evaluations.
bool KeptEvaluation::Note() {
  if (!by_.metric.empty() && !progress_.kept.empty()) {
    const double gain =
        progress_.last.at(by_.metric) - progress_.kept.at(by_.metric);
    const bool better = by_.maximize ? gain > 0.0 : gain < 0.0;
    if (!better) return false;
  }
  progress_.kept = progress_.last;
  progress_.kept_step = progress_.steps;
  weights_.clear();
  return true;
}

Expected<Done> KeptEvaluation::HoldWeights() {
  if (by_.metric.empty() || !IsOfThisStep()) return Done{};
  return CatchTorch([&]() -> Expected<Done> {
    weights_ = CopyWeights(trained_.model(), trained_.trains());
    return Done{};
  });
}

Expected<Done> KeptEvaluation::GoBack(TrialListener& listener) {
  if (progress_.kept.empty()) return Done{};  // from before one was kept
  if (!IsOfThisStep()) {
    RETURN_IF_FAULT(CatchTorch([&] {
      return PutBack(weights_, trained_.trains(), trained_.model());
    }));
    listener.Log("of the evaluations the one after step " +
                 std::to_string(progress_.kept_step) + " is the best by " +
                 by_.metric + ": it is handed over");
  }
  progress_.last = progress_.kept;
  return Done{};
}

WeightCopies KeptEvaluation::weights() const {
  return IsOfThisStep() ? WeightCopies() : weights_;
}

namespace {

constexpr char kTrialNote[] = "trial";

// Returns a sum that is equal for every attempt that computes the same bits.
std::string CheckpointIdentity(const TrialMessage& trial,
                               const TrialSetup& setup, Precision precision) {
  Sha256Sum sum;
  sum.AddField(trial.identity);
  sum.AddField(setup.pretrained->sha256);
  for (const TaskSetup& task : setup.tasks) {
    sum.AddField(task.data->train.fingerprint);
  }
  sum.AddField(NameOf(precision));
  return sum.Finish();
}

}  // namespace

Checkpoints::Checkpoints(const TrialMessage& trial, const TrialSetup& setup,
                         double every_seconds, double started,
                         TrainedModel& trained, Pace& pace)
    : folder_(trial.folder),
      identity_(CheckpointIdentity(trial, setup, trained.precision())),
      every_seconds_(every_seconds),
      trained_(trained),
      pace_(pace),
      saved_(started) {}

Expected<TrialProgress> Checkpoints::Load(const std::string& path,
                                          WeightCopies& kept) {
  ASSIGN_OR_FAULT(Notes notes, LoadCheckpoint(path, trained_.stepper(), &kept));
  if (notes[kTrialNote] != identity_) {
    return Fault{FaultKind::kInconsistent, path + " is of another trial",
                 "resume from one of this trial's own checkpoints"};
  }
  ASSIGN_OR_FAULT(TrialProgress progress, ParseProgress(notes));
  progress.steps = trained_.stepper().steps();
  return progress;
}

bool Checkpoints::IsDue() const {
  return pace_.seconds() - saved_ >= every_seconds_;
}

void Checkpoints::SaveBeside(const TrialProgress& progress,
                             const WeightCopies& kept) {
  if (every_seconds_ == 0.0) Await();
  if (writer_.writes()) return;
  saved_ = pace_.seconds();
  Expected<CheckpointCopy> copy =
      CopyForCheckpoint(trained_.stepper(), NotesOf(progress), kept);
  if (!copy.ok()) return pace_.listener().Log(FaultText(copy.fault()));
  const std::string name = Name();
  writer_.Begin(name, trained_.stepper().steps(),
                [path = PathOf(name),
                 held = std::move(copy).value()]() mutable -> Expected<Done> {
                  return WriteCheckpoint(path, std::move(held));
                });
}

void Checkpoints::Save(const TrialProgress& progress,
                       const WeightCopies& kept) {
  Await();
  const std::string name = Name();
  if (name == newest_) return;
  pace_.Enter(TrialPhase::kSaving);
  Tell({name, trained_.stepper().steps(),
        SaveCheckpoint(PathOf(name), trained_.stepper(), NotesOf(progress),
                       kept)});
}

void Checkpoints::TakeWritten() {
  if (auto written = writer_.Take()) Tell(*written);
}

void Checkpoints::Await() {
  if (auto written = writer_.Await()) Tell(*written);
}

// Reports a checkpoint, or logs why it was not written; training goes on.
void Checkpoints::Tell(const WrittenCheckpoint& written) {
  TrialListener& listener = pace_.listener();
  if (!written.done.ok()) return listener.Log(FaultText(written.done.fault()));
  std::error_code error;
  const auto bytes = std::filesystem::file_size(PathOf(written.name), error);
  listener.Saved(written.name, written.step,
                 error ? 0 : static_cast<std::int64_t>(bytes));
  // Not earlier: the old one counts until the new one is reported.
  if (!newest_.empty()) std::filesystem::remove(PathOf(newest_), error);
  newest_ = written.name;
}

Notes Checkpoints::NotesOf(const TrialProgress& progress) const {
  Notes notes = PrintProgress(progress);
  notes[kTrialNote] = identity_;
  return notes;
}

std::string Checkpoints::Name() const {
  return "step-" + std::to_string(trained_.stepper().steps()) + ".safetensors";
}

std::string Checkpoints::PathOf(const std::string& name) const {
  return (std::filesystem::path(folder_) / name).string();
}

}  // namespace frostline::trainer
