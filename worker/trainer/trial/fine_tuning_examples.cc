// SPDX-License-Identifier: Apache-2.0
//
// What a trial leaves of each example of its sets.
#include <algorithm>
#include <string>
#include <utility>

#include "base/plain/predictions_file.h"
#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer
