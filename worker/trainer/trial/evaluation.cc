// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/evaluation.h"

#include <algorithm>
#include <utility>

#include "base/plain/predictions_file.h"
#include "worker/trainer/device/device.h"

namespace frostline::trainer {

Expected<std::optional<Scores>> Evaluator::Evaluate(
    std::size_t task, const EvaluationSet& set,
    std::vector<at::Tensor>* logits) {
  pace_.Enter(TrialPhase::kEvaluating);
  const HeadSpec& head = setup_.tasks[task].head;
  const at::Device device = trained_.model().device();
  BatchMaker maker(set.tokens, trained_.model().config(), head, device.is_cpu(),
                   task);
  Scores scores(head, setup_.tasks[task].data->labels, maker.size());
  const BatchPlanner planner(
      maker.lengths(), {.batch_tokens = EvaluationTokens(device.is_cpu())});
  // Casts each weight once for all batches.
  const Autocast autocast(trained_.precision(), device);
  if (Expected<Done> prepared = prefix_.Prepare(*set.tokens); !prepared.ok()) {
    if (prepared.fault().kind != FaultKind::kStopped) return prepared.fault();
    return std::optional<Scores>();
  }
  pace_.Enter(TrialPhase::kEvaluating);  // again, where the store was filled
  std::size_t done = 0;
  for (const RowBatch& rows : planner.Ordered()) {
    if (pace_.listener().stop() != StopReason::kNone) {
      return std::optional<Scores>();
    }
    RETURN_IF_FAULT(AddBatch(rows, maker, scores, logits));
    done += rows.size();
    pace_.LogNowAndThen("evaluated " + std::to_string(done) + " of " +
                        std::to_string(maker.size()));
  }
  for (std::size_t row = 0; row < set.tokens->size(); ++row) {
    const auto unread = set.tokens->unread(row);
    if (!unread.empty()) scores.AddUnread(row, unread);
  }
  scores.NoteAnswers(*set.tokens);
  prefix_.EndEvaluation();
  return std::optional<Scores>(std::move(scores));
}

Expected<Done> Evaluator::AddBatch(const RowBatch& rows, BatchMaker& maker,
                                   Scores& scores,
                                   std::vector<at::Tensor>* logits) {
  return CatchTorch([&]() -> Expected<Done> {
    Batch batch = maker.Make(rows);
    RETURN_IF_FAULT(prefix_.Give(maker, batch));
    ASSIGN_OR_FAULT(Prediction prediction, trained_.stepper().Predict(batch));
    scores.Add(rows, batch, prediction);
    if (logits != nullptr) logits->push_back(prediction.logits);
    return Done{};
  });
}

Expected<bool> Evaluator::Validate(Metrics& metrics, std::vector<Scores>& all) {
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const EvaluationSet& set = setup_.tasks[i].validation;
    ASSIGN_OR_FAULT(std::optional<Scores> scores, Evaluate(i, set));
    if (!scores) return false;
    for (const auto& [name, value] : scores->Compute()) {
      metrics[set.name + name] = value;
    }
    all.push_back(*std::move(scores));
  }
  return true;
}

bool ExampleReport::IsWanted() const {
  return trial_.training.report_example_outcomes ||
         std::ranges::any_of(setup_.tasks, [](const TaskSetup& task) {
           return !task.predicted.empty();
         });
}

void ExampleReport::Keep(std::vector<Scores> scores) {
  if (IsWanted()) kept_ = std::move(scores);
}

Expected<bool> ExampleReport::TellKept() {
  if (!IsWanted()) return true;
  if (kept_.empty()) {
    // An earlier attempt made the evaluation that is kept.
    Metrics known;
    const Expected<bool> evaluated = evaluator_.Validate(known, kept_);
    if (!evaluated.ok() || !evaluated.value()) return evaluated;
  }
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const TaskSetup& task = setup_.tasks[i];
    RETURN_IF_FAULT(Tell(task, "validation", task.validation.part, kept_[i]));
  }
  return true;
}

Expected<Done> ExampleReport::Tell(const TaskSetup& task,
                                   const std::string& set, const DataPart& part,
                                   const Scores& scores) {
  if (trial_.training.report_example_outcomes && part.data->labelled()) {
    auto outcomes = scores.Outcomes(part.fingerprint);
    if (outcomes.ok()) {
      outcomes_.push_back(std::move(outcomes).value());
      outcomes_.back().set = set;
      outcomes_.back().task = task.request.name;
    } else {
      listener_.Log(FaultText(outcomes.fault()));
    }
  }
  return WriteIfWanted(task, set, part, scores);
}

Expected<Done> ExampleReport::WriteIfWanted(const TaskSetup& task,
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

Expected<bool> ExampleReport::TellTraining(std::size_t task) {
  const TaskSetup& setup = setup_.tasks[task];
  if (!setup.predicted.contains("train")) return true;
  ASSIGN_OR_FAULT(
      std::optional<Scores> scores,
      evaluator_.Evaluate(task, {"train.", setup.data->train, setup.train}));
  if (!scores) return false;
  RETURN_IF_FAULT(WriteIfWanted(setup, "train", setup.data->train, *scores));
  return true;
}

std::vector<ExampleOutcomes> ExampleReport::TakeOutcomes() {
  for (const std::string& what : FitIntoFinish(outcomes_)) {
    listener_.Log("too much for one message, so not told: " + what);
  }
  return std::move(outcomes_);
}

}  // namespace frostline::trainer
