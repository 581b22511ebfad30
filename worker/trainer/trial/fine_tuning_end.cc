// SPDX-License-Identifier: Apache-2.0
//
// How a trial ends.
#include <string>
#include <utility>

#include "base/plain/sums.h"
#include "worker/trainer/train/export.h"
#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {
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
