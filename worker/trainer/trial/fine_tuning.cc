// SPDX-License-Identifier: Apache-2.0
//
// The loop, and what it does at every turn.
#include "worker/trainer/trial/fine_tuning.h"

#include <cmath>
#include <utility>

#include "worker/trainer/device/autocast.h"
#include "worker/trainer/trial/fault_text.h"
#include "worker/trainer/trial/thaw.h"

namespace frostline::trainer {
namespace {

// Of a batch of an evaluation, however small those of training are: without a
// graph it needs little memory, and a small one keeps no device busy.
constexpr std::int64_t kTokensOnCpu = 2048;
constexpr std::int64_t kTokensOnGpu = 16384;
constexpr double kLifeSeconds = 1.0;
constexpr double kEvaluationLifeSeconds = 60.0;

}  // namespace

TrialEnd FineTuning::Run() {
  environment_.device.ResetPeakMemory();
  if (Expected<Done> begun = Begin(); !begun.ok()) return EndOf(begun.fault());
  while (true) {
    const StopReason stop = listener_.stop();
    if (stop != StopReason::kNone) return Stop(stop);
    if (EvaluationIsDue()) {
      if (Ended ended = NoteLastStep()) return *std::move(ended);
      if (Ended ended = EvaluateNow()) return *std::move(ended);
      continue;  // a stop may have cut it short
    }
    if (IsOver()) return Finish();
    if (Ended ended = Step()) return *std::move(ended);
    ShowLife();
    if (!SaveIsDue()) continue;
    if (Ended ended = NoteLastStep()) return *std::move(ended);
    Save();
  }
}

bool FineTuning::IsOver() const {
  return ended_early_ || stepper_->steps() >= total_steps_;
}

FineTuning::Ended FineTuning::Step() {
  const double begun = environment_.seconds();
  epochs_ = {epochs_.back(), progress_.position.epoch};
  Expected<std::vector<Batch>> parts = NextParts();
  if (!parts.ok()) return Fail(parts.fault());
  if (TrainsFromBoundaries()) CountFill();
  Expected<std::optional<StepResult>> result =
      stepper_->StepAhead(parts.value());
  progress_.train_seconds += environment_.seconds() - begun;
  ++progress_.loss_steps;
  if (Ended ended = Note(result)) return ended;
  if (Expected<Done> thawed = ThawIfDue(); !thawed.ok()) {
    return EndOf(thawed.fault());
  }
  return std::nullopt;
}

// Of a step that may be the one before the last.
FineTuning::Ended FineTuning::Note(
    const Expected<std::optional<StepResult>>& result) {
  if (!result.ok()) return Fail(result.fault());
  if (!result.value()) return std::nullopt;
  if (!result.value()->finite) {
    const bool last = result.value()->step == stepper_->steps();
    return NotFinite("the loss or its gradient at step " +
                     std::to_string(result.value()->step) + ", epoch " +
                     std::to_string(epochs_[last ? 1 : 0] + 1) + ",");
  }
  progress_.loss_sum += result.value()->loss;
  return std::nullopt;
}

// Before anyone looks at the sum of losses.
FineTuning::Ended FineTuning::NoteLastStep() {
  const double begun = environment_.seconds();
  const Expected<std::optional<StepResult>> result = stepper_->ReadLast();
  progress_.train_seconds += environment_.seconds() - begun;
  return Note(result);
}

// As many batches as a step accumulates, and never of two epochs.
Expected<std::vector<Batch>> FineTuning::NextParts() {
  return CatchTorch([&]() -> Expected<std::vector<Batch>> {
    std::vector<Batch> parts;
    do {
      RowBatch rows = cursor_->Next();
      for (std::uint32_t& row : rows) row = train_->labelled()[row];
      parts.push_back(train_->Make(rows));
      if (TrainsFromBoundaries()) {
        const Expected<Done> given =
            GiveBoundary(*setup_.train, *train_, parts.back());
        if (!given.ok()) return given.fault();
      }
      progress_.position = cursor_->position();
      CountFlopsOf(parts.back());
    } while (std::cmp_less(parts.size(), settings_.accumulation) &&
             !cursor_->AtEpochEnd());
    return parts;
  });
}

// Right behind the step, so that a checkpoint has the plan that comes next.
Expected<Done> FineTuning::ThawIfDue() {
  const std::int64_t thawed =
      ThawedBlocks(stepper_->steps(), settings_.unfreeze_every_steps,
                   model_->config().layers);
  if (thawed == thawed_) return Done{};
  thawed_ = thawed;
  flops_.clear();
  Expected<FreezePlan> plan = PlanAfter(stepper_->steps());
  if (!plan.ok()) return plan.fault();
  if (Expected<Done> taken = stepper_->Replan(plan.value()); !taken.ok()) {
    return taken;
  }
  return MakeBoundaries();
}

bool FineTuning::EvaluationIsDue() const {
  if (progress_.loss_steps == 0) return false;  // this step has been evaluated
  const std::int64_t every = settings_.evaluate_every_steps;
  return IsOver() ||
         (every > 0 ? stepper_->steps() % every == 0 : cursor_->AtEpochEnd());
}

FineTuning::Ended FineTuning::EvaluateNow() {
  Expected<std::optional<Scores>> scores = Evaluate(setup_.validation);
  if (!scores.ok()) return Fail(scores.fault());
  if (!scores.value()) return std::nullopt;
  Metrics metrics = scores.value()->Compute();
  if (!std::isfinite(metrics.at("loss"))) {
    return NotFinite("the validation loss after step " +
                     std::to_string(stepper_->steps()));
  }
  progress_.last = std::move(metrics);
  progress_.last["train_loss"] =
      progress_.loss_sum / static_cast<double>(progress_.loss_steps);
  progress_.loss_sum = 0.0;
  progress_.loss_steps = 0;
  listener_.Report(stepper_->steps(), total_steps_, progress_.last);
  shown_ = environment_.seconds();
  NoteOutcomes(*scores.value());
  const std::string& metric = settings_.early_stopping.metric;
  if (metric.empty()) return std::nullopt;
  ended_early_ = early_stopping_.Note(progress_.last.at(metric));
  progress_.early_stopping = early_stopping_.state();
  if (ended_early_) {
    listener_.Log("early stopping at step " +
                  std::to_string(stepper_->steps()) + ": " + metric +
                  " has not become better");
  }
  return std::nullopt;
}

void FineTuning::NoteOutcomes(const Scores& scores) {
  outcomes_noted_ = true;
  if (!settings_.report_example_outcomes) return;
  auto outcomes = scores.Outcomes(setup_.validation.part.fingerprint);
  if (outcomes.ok()) examples_ = std::move(outcomes).value();
  if (!outcomes.ok()) listener_.Log(FaultText(outcomes.fault()));
}

Expected<std::optional<Scores>> FineTuning::Evaluate(
    const EvaluationSet& set, std::vector<at::Tensor>* logits) {
  BatchMaker maker(set.tokens, model_->config(), model_->head().spec(),
                   environment_.device.is_cpu());
  Scores scores(model_->head().spec(), setup_.data->labels, maker.size());
  const BatchPlanner planner(
      maker.lengths(),
      {.batch_tokens = static_cast<std::size_t>(
           environment_.device.is_cpu() ? kTokensOnCpu : kTokensOnGpu)});
  // Casts of weights hold for all batches.
  const Autocast autocast(precision_, model_->device());
  std::size_t done = 0;
  if (boundaries_) {
    const Expected<Done> prepared = boundaries_->Prepare(*set.tokens);
    if (!prepared.ok() && prepared.fault().kind == FaultKind::kStopped) {
      return std::optional<Scores>();
    }
    if (!prepared.ok()) return prepared.fault();
  }
  for (const RowBatch& rows : planner.Ordered()) {
    if (listener_.stop() != StopReason::kNone) return std::optional<Scores>();
    Expected<Done> added = CatchTorch([&]() -> Expected<Done> {
      Batch batch = maker.Make(rows);
      if (boundaries_) {
        const Expected<Done> given = GiveBoundary(*set.tokens, maker, batch);
        if (!given.ok()) return given.fault();
      }
      Expected<Prediction> prediction = stepper_->Predict(batch);
      if (!prediction.ok()) return prediction.fault();
      scores.Add(rows, batch, prediction.value());
      if (logits != nullptr) logits->push_back(prediction.value().logits);
      return Done{};
    });
    if (!added.ok()) return added.fault();
    done += rows.size();
    if (environment_.seconds() - shown_ < kEvaluationLifeSeconds) continue;
    shown_ = environment_.seconds();
    listener_.Log("evaluated " + std::to_string(done) + " of " +
                  std::to_string(maker.size()));
  }
  if (boundaries_) boundaries_->TakeComputed();  // no step's
  return std::optional<Scores>(std::move(scores));
}

// Not where an evaluation will report this step.
void FineTuning::ShowLife() {
  if (environment_.seconds() - shown_ < kLifeSeconds || EvaluationIsDue()) {
    return;
  }
  shown_ = environment_.seconds();
  listener_.Report(stepper_->steps(), total_steps_, {});
}

}  // namespace frostline::trainer
