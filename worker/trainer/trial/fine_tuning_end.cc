// SPDX-License-Identifier: Apache-2.0
//
// How a trial ends.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/plain/predictions_file.h"
#include "base/plain/sums.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {

// What a trial leaves of each example of its sets.

bool FineTuning::WantsExamples() const {
  return settings_.report_example_outcomes ||
         std::ranges::any_of(setup_.tasks, [](const TaskSetup& task) {
           return !task.predicted.empty();
         });
}

Expected<bool> FineTuning::TellKeptExamples() {
  if (!WantsExamples()) return true;
  if (kept_scores_.empty()) {
    // It went on from behind the evaluation that is kept.
    Metrics known;
    const Expected<bool> evaluated = EvaluateAll(known, kept_scores_);
    if (!evaluated.ok() || !evaluated.value()) return evaluated;
  }
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const TaskSetup& task = setup_.tasks[i];
    RETURN_IF_FAULT(TellExamples(task, "validation", task.validation.part,
                                 kept_scores_[i]));
  }
  return true;
}

Expected<Done> FineTuning::TellExamples(const TaskSetup& task,
                                        const std::string& set,
                                        const DataPart& part,
                                        const Scores& scores) {
  if (settings_.report_example_outcomes && part.data->labelled()) {
    auto outcomes = scores.Outcomes(part.fingerprint);
    if (outcomes.ok()) {
      evaluations_.push_back(std::move(outcomes).value());
      evaluations_.back().set = set;
      evaluations_.back().task = task.request.name;
    } else {
      listener_.Log(FaultText(outcomes.fault()));
    }
  }
  return Predicted(task, set, part, scores);
}

Expected<Done> FineTuning::Predicted(const TaskSetup& task,
                                     const std::string& set,
                                     const DataPart& part,
                                     const Scores& scores) {
  if (!task.predicted.contains(set)) return Done{};
  const std::string path =
      trial_.folder + "/" + PredictionsPath(set, task.request.name);
  Expected<Done> written = WritePredictions(path, part, scores);
  if (written.ok()) listener_.Log("predictions of " + set + ": " + path);
  return written;
}

Expected<bool> FineTuning::PredictTraining(std::size_t task) {
  const TaskSetup& setup = setup_.tasks[task];
  if (!setup.predicted.contains("train")) return true;
  ASSIGN_OR_FAULT(std::optional<Scores> scores,
                  Evaluate(task, {"train.", setup.data->train, setup.train}));
  if (!scores) return false;
  RETURN_IF_FAULT(Predicted(setup, "train", setup.data->train, *scores));
  return true;
}

// Trains a sample of the trials that froze virtually both ways, and compares.

namespace {

constexpr char kPrefix[] = "virtual_audit.";
constexpr double kAuditLifeSeconds = 60.0;

// Hands stops in, and signs of life out; the second run's metrics and steps are
// not the trial's.
class AuditListener : public TrialListener {
 public:
  AuditListener(TrialListener& listener, const TrialEnvironment& environment)
      : listener_(listener),
        environment_(environment),
        shown_(environment.seconds()) {}

  StopReason stop() const override { return listener_.stop(); }
  void Report(std::int64_t step, std::int64_t total_steps,
              const Metrics& /*metrics*/) override {
    const double now = environment_.seconds();
    if (now - shown_ < kAuditLifeSeconds) return;
    shown_ = now;
    Log("step " + std::to_string(step) + " of " + std::to_string(total_steps));
  }
  void Begun(std::int64_t /*step*/, Precision /*precision*/) override {}
  void Saved(const std::string& /*name*/, std::int64_t /*step*/,
             std::int64_t /*bytes*/) override {}
  void Log(const std::string& line) override {
    listener_.Log("audit of virtual freezing: " + line);
  }

 private:
  TrialListener& listener_;
  const TrialEnvironment& environment_;
  double shown_;
};

double Furthest(const std::vector<at::Tensor>& ours,
                const std::vector<at::Tensor>& theirs) {
  double most = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    most = std::max(most, (ours[i] - theirs[i]).abs().max().item<double>());
  }
  return most;
}

}  // namespace

// By the trial's own words, so that an attempt that goes on decides the same.
bool FineTuning::AuditIsDue() const {
  if (!virtually_frozen_ || settings_.virtual_audit == 0.0) return false;
  const auto drawn = static_cast<double>(
      std::stoul(trial_.identity.substr(0, 8), nullptr, 16));
  return drawn < settings_.virtual_audit * 4294967296.0;
}

Expected<Done> FineTuning::Audit(Metrics& metrics) {
  TrialMessage plain = trial_;
  plain.training.virtual_tau = 0.0;
  plain.training.virtual_audit = 0.0;
  plain.training.export_model = false;
  plain.training.report_example_outcomes = false;
  plain.resume_path.clear();
  plain.resume_step = 0;
  TrialSetup setup = setup_;
  for (TaskSetup& task : setup.tasks) {
    task.others.clear();
    task.predicted.clear();
  }
  TrialEnvironment environment = environment_;
  environment.checkpoint_seconds = std::numeric_limits<double>::infinity();
  AuditListener listener(listener_, environment);
  FineTuning other(plain, std::move(setup), environment, listener);
  const TrialEnd end = other.Run();
  if (end.state != TrialState::kSucceeded) {
    if (end.state != TrialState::kStopped) listener.Log(end.cause);
    return Done{};
  }
  std::vector<at::Tensor> ours;
  std::vector<at::Tensor> theirs;
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const EvaluationSet& set = setup_.tasks[i].validation;
    ASSIGN_OR_FAULT(const auto here, Evaluate(i, set, &ours));
    ASSIGN_OR_FAULT(const auto there, other.Evaluate(i, set, &theirs));
    if (!here || !there) return Done{};  // stopped
  }
  return CatchTorch([&]() -> Expected<Done> {
    metrics[std::string(kPrefix) + "logits"] = Furthest(ours, theirs);
    for (const auto& [name, value] : other.progress_.last) {
      metrics[kPrefix + name] = std::abs(value - progress_.last.at(name));
    }
    return Done{};
  });
}

// What a trial leaves behind to go on from, and how it goes on.

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

// Which evaluation a trial hands over, and how it goes back to it.

// Returns the first objective that evaluations measure, on their rows or on
// others: "test.accuracy" is kept by "accuracy". Without one it is what early
// stopping looks at.
TrialObjective FineTuning::WhatToKeepBy() const {
  if (!settings_.keep_best) return {};
  const std::vector<std::string> names = MeasuredNames();
  for (const TrialObjective& objective : trial_.objectives) {
    std::string metric = objective.metric;
    for (const TaskSetup& task : setup_.tasks) {
      for (const EvaluationSet& other : task.others) {
        if (!metric.starts_with(other.name)) continue;
        metric.replace(0, other.name.size(), task.validation.name);
      }
    }
    if (metric == "test.mean") metric = "mean";
    if (std::ranges::find(names, metric) == names.end()) continue;
    return {std::move(metric), objective.maximize};
  }
  return {settings_.early_stopping.metric, early_stopping_.maximizes()};
}

// Keeps the first of equal ones.
void FineTuning::NoteKept() {
  const std::string& metric = keep_by_.metric;
  if (!metric.empty() && !progress_.kept.empty()) {
    const double gain = progress_.last.at(metric) - progress_.kept.at(metric);
    const bool better = keep_by_.maximize ? gain > 0.0 : gain < 0.0;
    if (!better) return;
  }
  progress_.kept = progress_.last;
  progress_.kept_step = stepper_->steps();
  kept_scores_.clear();
  kept_weights_.clear();
}

Expected<Done> FineTuning::CopyKept() {
  const bool is_here = progress_.kept_step == stepper_->steps();
  if (keep_by_.metric.empty() || !is_here || IsOver()) return Done{};
  return CatchTorch([&]() -> Expected<Done> {
    kept_weights_ = CopyWeights(*model_, trains_);
    return Done{};
  });
}

Expected<Done> FineTuning::GoBackToKept() {
  if (progress_.kept.empty()) return Done{};  // from before one was kept
  if (progress_.kept_step != stepper_->steps()) {
    Expected<Done> back =
        CatchTorch([&] { return PutBack(kept_weights_, trains_, *model_); });
    if (!back.ok()) return back;
    listener_.Log("of the evaluations the one after step " +
                  std::to_string(progress_.kept_step) + " is the best by " +
                  keep_by_.metric + ": it is handed over");
  }
  progress_.last = progress_.kept;
  return Done{};
}

namespace {

constexpr std::size_t kMostMetrics = 240;  // of the 256 of an outcome

}  // namespace

TextReading FineTuning::TextsRead() const {
  const TextForm& form = setup_.tasks[0].data->train.data->form();
  return {.max_length = LongestText(settings_, model_->config()),
          .lowercase = form.lowercase,
          .strip_accents = form.strip_accents};
}

TrialEnd FineTuning::Finish() {
  if (Expected<Done> back = GoBackToKept(); !back.ok()) {
    return Fail(back.fault());
  }
  Expected<bool> told = TellKeptExamples();
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    if (!told.ok()) return Fail(told.fault());
    if (!told.value()) return Stop(listener_.stop());
    const TaskSetup& task = setup_.tasks[i];
    for (const EvaluationSet& other : task.others) {
      Expected<std::optional<Scores>> scores = Evaluate(i, other);
      if (!scores.ok()) return Fail(scores.fault());
      if (!scores.value()) return Stop(listener_.stop());
      // Nobody knows what is right in a set without labels.
      const Metrics measured =
          other.part.data->labelled() ? scores.value()->Compute() : Metrics();
      for (const auto& [name, value] : measured) {
        progress_.last[other.name + name] = value;
      }
      const Expected<Done> kept =
          TellExamples(task, task.SetOf(other), other.part, *scores.value());
      if (!kept.ok()) return Fail(kept.fault());
    }
    told = PredictTraining(i);
  }
  if (!told.ok()) return Fail(told.fault());
  if (!told.value()) return Stop(listener_.stop());
  if (HasTests()) AddMean("test.", progress_.last);
  if (settings_.export_model) {
    Enter(TrialPhase::kSaving);
    Expected<Done> exported = ExportModel(
        trial_.folder + "/model", *model_, setup_.pretrained->folder,
        setup_.tasks[0].data->labels.names(), TextsRead());
    if (!exported.ok()) return Fail(exported.fault());
    listener_.Log("exported to " + trial_.folder + "/model");
  }
  TrialEnd end = End(TrialState::kSucceeded);
  end.metrics["kept_step"] = static_cast<double>(
      progress_.kept.empty() ? stepper_->steps() : progress_.kept_step);
  if (AuditIsDue()) {
    Expected<Done> audited = Audit(end.metrics);
    if (!audited.ok()) return Fail(audited.fault());
    if (listener_.stop() != StopReason::kNone) return Stop(listener_.stop());
    end.usage->total_seconds = environment_.seconds() - started_;
  }
  for (const std::string& what : FitIntoFinish(evaluations_)) {
    listener_.Log("too much for one message, so not told: " + what);
  }
  end.evaluations = std::move(evaluations_);
  end.tells_evaluations = trial_.takes_evaluations;
  return end;
}

TrialEnd FineTuning::Stop(StopReason reason) {
  if (Ended ended = NoteLastStep()) return *std::move(ended);
  if (ComesBack(reason) && stepper_->steps() > 0) Save();
  return End(TrialState::kStopped);
}

TrialEnd FineTuning::Fail(const Fault& fault) const {
  TrialEnd end;
  end.state = TrialState::kFailed;
  end.cause = FaultText(fault);
  end.failure = ClassOf(fault.kind);
  if (stepper_) end.usage = Usage();
  return end;
}

TrialEnd FineTuning::EndOf(const Fault& fault) {
  return fault.kind == FaultKind::kStopped ? Stop(listener_.stop())
                                           : Fail(fault);
}

TrialEnd FineTuning::NotFinite(const std::string& what) const {
  TrialEnd end = End(TrialState::kInfeasible);
  end.cause = FaultText(kNotFiniteId, what + " became infinite or no number",
                        "search smaller learning rates");
  return end;
}

TrialEnd FineTuning::AdversaryLost(std::int64_t step) const {
  TrialEnd end = End(TrialState::kInfeasible);
  end.cause = FaultText(
      kNotFiniteId,
      "the gradient of the adversary (training.smart) at step " +
          std::to_string(step) + " became infinite or no number",
      "give smaller training.smart.radius, step_size and noise_variance");
  return end;
}

TrialEnd FineTuning::End(TrialState state) const {
  TrialEnd end;
  end.state = state;
  end.metrics = Fitting(progress_.last, kMostMetrics);
  end.metrics["train_seconds"] = progress_.train_seconds;
  end.metrics["trained_parameters"] = static_cast<double>(trained_weights_);
  end.metrics["steps"] = static_cast<double>(stepper_->steps());
  end.usage = Usage();
  return end;
}

// Returns the fingerprint of the validation rows, those of all tasks together.
std::string FineTuning::FingerprintOfRows() const {
  if (!setup_.many()) return setup_.tasks[0].validation.part.fingerprint;
  Sha256Sum sum;
  for (const TaskSetup& task : setup_.tasks) {
    sum.AddField(task.request.name);
    sum.AddField(task.validation.part.fingerprint);
  }
  return sum.Finish();
}

TrialUsage FineTuning::Usage() const {
  TrialUsage usage;
  usage.train_seconds = progress_.train_seconds;
  usage.total_seconds = environment_.seconds() - started_;
  usage.trained_parameters = trained_weights_;
  usage.flops_spent = progress_.flops_spent;
  usage.flops_skipped = progress_.flops_skipped;
  usage.flops_shared = progress_.flops_shared;
  usage.prefix = prefix_before_;
  if (boundaries_) usage.prefix += boundaries_->counts();
  if (noisy_) usage.prefix += noisy_->counts();
  usage.peak_memory_bytes = environment_.device.PeakMemoryBytes();
  if (const auto now = environment_.device.EnergyJoules();
      now && energy_before_) {
    usage.energy_joules = *now - *energy_before_;
  }
  usage.device = environment_.device.name();
  usage.precision = NameOf(precision_);
  usage.freeze = settings_.freeze;
  usage.virtual_tau = settings_.virtual_tau;
  usage.steps = stepper_->steps();
  usage.data_fingerprint = FingerprintOfRows();
  return usage;
}

}  // namespace frostline::trainer
