// SPDX-License-Identifier: Apache-2.0
//
// Which evaluation a trial hands over, and how it goes back to it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer
