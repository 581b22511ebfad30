// SPDX-License-Identifier: Apache-2.0
//
// Which evaluation a trial hands over, and how it goes back to it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/trial/fault_text.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {

// Of the first objective that evaluations measure, on their rows or on others:
// "test.accuracy" is kept by "accuracy". Else what early stopping looks at.
TrialObjective FineTuning::WhatToKeepBy() const {
  if (!settings_.keep_best) return {};
  std::vector<std::string> names =
      MetricNames(setup_.head, setup_.data->labels);
  names.emplace_back("train_loss");
  for (const TrialObjective& objective : trial_.objectives) {
    std::string metric = objective.metric;
    for (const EvaluationSet& other : setup_.others) {
      if (metric.starts_with(other.name)) metric.erase(0, other.name.size());
    }
    if (std::ranges::find(names, metric) == names.end()) continue;
    return {std::move(metric), objective.maximize};
  }
  return {settings_.early_stopping.metric, early_stopping_.maximizes()};
}

// Of equal ones the first.
void FineTuning::NoteKept() {
  const std::string& metric = keep_by_.metric;
  if (!metric.empty() && !progress_.kept.empty()) {
    const double gain = progress_.last.at(metric) - progress_.kept.at(metric);
    const bool better = keep_by_.maximize ? gain > 0.0 : gain < 0.0;
    if (!better) return;
  }
  progress_.kept = progress_.last;
  progress_.kept_step = stepper_->steps();
  outcomes_noted_ = false;
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

void FineTuning::NoteOutcomes(const Scores& scores) {
  outcomes_noted_ = true;
  if (!settings_.report_example_outcomes) return;
  auto outcomes = scores.Outcomes(setup_.validation.part.fingerprint);
  if (outcomes.ok()) examples_ = std::move(outcomes).value();
  if (!outcomes.ok()) listener_.Log(FaultText(outcomes.fault()));
}

}  // namespace frostline::trainer
