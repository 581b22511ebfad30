// SPDX-License-Identifier: Apache-2.0
//
// How a trial ends.
#include <utility>

#include "worker/trainer/train/export.h"
#include "worker/trainer/trial/fault_text.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {

TrialEnd FineTuning::Finish() {
  if (settings_.report_example_outcomes && !outcomes_noted_) {
    // It went on from behind its last evaluation.
    Expected<std::optional<Scores>> scores = Evaluate(setup_.validation);
    if (!scores.ok()) return Fail(scores.fault());
    if (!scores.value()) return Stop(listener_.stop());
    NoteOutcomes(*scores.value());
  }
  for (const EvaluationSet& other : setup_.others) {
    Expected<std::optional<Scores>> scores = Evaluate(other);
    if (!scores.ok()) return Fail(scores.fault());
    if (!scores.value()) return Stop(listener_.stop());
    for (const auto& [name, value] : scores.value()->Compute()) {
      progress_.last[other.name + name] = value;
    }
  }
  if (settings_.export_model) {
    Expected<Done> exported =
        ExportModel(trial_.folder + "/model", *model_,
                    setup_.pretrained->folder, setup_.data->labels.names());
    if (!exported.ok()) return Fail(exported.fault());
    listener_.Log("exported to " + trial_.folder + "/model");
  }
  TrialEnd end = End(TrialState::kSucceeded);
  if (AuditIsDue()) {
    Expected<Done> audited = Audit(end.metrics);
    if (!audited.ok()) return Fail(audited.fault());
    if (listener_.stop() != StopReason::kNone) return Stop(listener_.stop());
    end.usage->total_seconds = environment_.seconds() - started_;
  }
  end.examples = std::move(examples_);
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

TrialEnd FineTuning::End(TrialState state) const {
  TrialEnd end;
  end.state = state;
  end.metrics = progress_.last;
  end.metrics["train_seconds"] = progress_.train_seconds;
  end.metrics["trained_parameters"] = static_cast<double>(trained_weights_);
  end.metrics["steps"] = static_cast<double>(stepper_->steps());
  end.usage = Usage();
  return end;
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
  usage.data_fingerprint = setup_.validation.part.fingerprint;
  return usage;
}

}  // namespace frostline::trainer
