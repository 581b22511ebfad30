// SPDX-License-Identifier: Apache-2.0
//
// File: evaluation.h
//
// Evaluates the model of a trial on its sets, and leaves what is wanted of each
// of their examples.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_EVALUATION_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_EVALUATION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/trial/frozen_prefix.h"
#include "worker/trainer/trial/pace.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// Predicts whole sets with the model as it is by now. One thread uses it.
class Evaluator {
 public:
  // All outlive it.
  Evaluator(const TrialSetup& setup, const TrainedModel& trained,
            FrozenPrefix& prefix, Pace& pace)
      : setup_(setup), trained_(trained), prefix_(prefix), pace_(pace) {}

  // Returns nothing when a stop came in between. `logits`, when given, receives
  // those of each batch.
  Expected<std::optional<Scores>> Evaluate(
      std::size_t task, const EvaluationSet& set,
      std::vector<at::Tensor>* logits = nullptr);

  // Evaluates all tasks' validation sets; the metrics of each go behind its
  // name. Returns false when a stop came in between.
  Expected<bool> Validate(Metrics& metrics, std::vector<Scores>& scores);

 private:
  Expected<Done> AddBatch(const RowBatch& rows, BatchMaker& maker,
                          Scores& scores, std::vector<at::Tensor>* logits);

  const TrialSetup& setup_;
  const TrainedModel& trained_;
  FrozenPrefix& prefix_;
  Pace& pace_;
};

// What a trial leaves of each example, as far as the study wants it: outcomes
// for its last message, and predictions in files. One thread uses it.
class ExampleReport {
 public:
  // All outlive it.
  ExampleReport(const TrialMessage& trial, const TrialSetup& setup,
                Evaluator& evaluator, TrialListener& listener)
      : trial_(trial),
        setup_(setup),
        evaluator_(evaluator),
        listener_(listener) {}

  // From here on this evaluation of the validation sets is kept, by task.
  void Keep(std::vector<Scores> scores);

  // Tells the examples of the validation sets as the kept evaluation saw them,
  // and evaluates again where that was before this attempt. Returns false where
  // a stop came in between, as does TellTraining.
  Expected<bool> TellKept();
  Expected<Done> Tell(const TaskSetup& task, const std::string& set,
                      const DataPart& part, const Scores& scores);
  // Predicts the rows that a task was trained on, where that is wanted.
  Expected<bool> TellTraining(std::size_t task);

  // Those that fit into one message; it logs which do not.
  std::vector<ExampleOutcomes> TakeOutcomes();

 private:
  bool IsWanted() const;
  // Writes the set's predictions, where they are wanted.
  Expected<Done> WriteIfWanted(const TaskSetup& task, const std::string& set,
                               const DataPart& part, const Scores& scores);

  const TrialMessage& trial_;
  const TrialSetup& setup_;
  Evaluator& evaluator_;
  TrialListener& listener_;
  std::vector<Scores> kept_;  // empty where nobody wants examples
  std::vector<ExampleOutcomes> outcomes_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_EVALUATION_H_
