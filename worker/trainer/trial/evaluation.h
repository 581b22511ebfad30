// SPDX-License-Identifier: Apache-2.0
//
// File: evaluation.h
//
// Evaluates the model of a trial on its sets, and keeps what the study wants to
// know about each example.
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
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// Predicts whole sets with the model as it is by now. One thread uses it.
class Evaluator {
 public:
  // All outlive it.
  Evaluator(const TrialSetup& setup, const TrainedModel& trained,
            FrozenPrefix& prefix, Pace& pace)
      : setup_(setup), trained_(trained), prefix_(prefix), pace_(pace) {}

  // Predicts a set and scores it. Returns nothing if a stop came in between.
  // `logits`, if given, receives those of each batch.
  Expected<std::optional<Scores>> Evaluate(
      std::size_t task, const EvaluationSet& set,
      std::vector<at::Tensor>* logits = nullptr);

  // Evaluates the validation sets of all tasks. Each task's metrics have its
  // name as a prefix. Returns false when a stop came in between.
  Expected<bool> Validate(Metrics& metrics, std::vector<Scores>& scores);

 private:
  Expected<Done> AddBatch(const RowBatch& rows, BatchMaker& maker,
                          Scores& scores, std::vector<at::Tensor>* logits);

  const TrialSetup& setup_;
  const TrainedModel& trained_;
  FrozenPrefix& prefix_;
  Pace& pace_;
};

// What a trial reports about each example, if the study wants it: outcomes in
// its last message, and predictions in files. One thread uses it.
class ExampleReport {
 public:
  // All outlive it.
  ExampleReport(const TrialMessage& trial, const TrialSetup& setup,
                Evaluator& evaluator, TrialListener& listener)
      : trial_(trial),
        setup_(setup),
        evaluator_(evaluator),
        listener_(listener) {}

  // Keeps this evaluation of the validation sets, by task, in place of an
  // earlier one.
  void Keep(std::vector<Scores> scores);

  // Tells the examples of the validation sets as the kept evaluation saw them.
  // If an earlier attempt made that evaluation, evaluates again. Returns false
  // if a stop came in between.
  Expected<bool> TellKept();
  // Keeps the outcomes of one set for the last message, and writes its
  // predictions, each if the study wants them.
  Expected<Done> Tell(const TaskSetup& task, const std::string& set,
                      const DataPart& part, const Scores& scores);
  // Predicts the rows that a task was trained on, if the study wants that.
  // Returns false if a stop came in between.
  Expected<bool> TellTraining(std::size_t task);

  // Returns the outcomes that fit into one message, and logs which do not.
  std::vector<ExampleOutcomes> TakeOutcomes();

 private:
  bool IsWanted() const;
  // Writes the set's predictions, if the study wants them.
  Expected<Done> WriteIfWanted(const TaskSetup& task, const std::string& set,
                               const DataPart& part, const Scores& scores);

  const TrialMessage& trial_;
  const TrialSetup& setup_;
  Evaluator& evaluator_;
  TrialListener& listener_;
  std::vector<Scores> kept_;  // by task; empty if nobody wants examples
  std::vector<ExampleOutcomes> outcomes_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_EVALUATION_H_
