// SPDX-License-Identifier: Apache-2.0
//
// The loop, and what it does at every turn.
#include "worker/trainer/trial/fine_tuning.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "worker/trainer/device/device.h"
#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/train/smart.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kMostMeasured = 64;  // metrics of one report
// The least time between two signs of life: reports without metrics while
// training, log lines during an evaluation.
constexpr double kLifeSeconds = 1.0;
constexpr double kEvaluationLifeSeconds = 60.0;

}  // namespace

TrialEnd FineTuning::Run() {
  TrialEnd end = Train();
  AwaitSaved();
  return end;
}

TrialEnd FineTuning::Train() {
  environment_.device.ResetPeakMemory();
  if (Expected<Done> begun = Begin(); !begun.ok()) return EndOf(begun.fault());
  phase_ = TrialPhase::kTraining;
  listener_.NotePace(PaceNow());
  listener_.Begun(stepper_->steps(), precision_);
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
    phase_ = TrialPhase::kTraining;
    ReportTraining();
    ShowLife();
    if (auto written = writer_.Take()) TellSaved(*written);
    if (!SaveIsDue()) continue;
    if (Ended ended = NoteLastStep()) return *std::move(ended);
    SaveBeside();
  }
}

bool FineTuning::IsOver() const {
  return ended_early_ || stepper_->steps() >= total_steps_;
}

FineTuning::Ended FineTuning::Step() {
  const double begun = environment_.seconds();
  epochs_ = {epochs_.back(), progress_.position.all.epoch};
  Expected<std::vector<Batch>> parts = NextParts();
  if (!parts.ok()) return EndOf(parts.fault());
  StepNorms norms;
  const bool reports = ReportsStep(stepper_->steps() + 1);
  Expected<std::optional<StepResult>> result =
      stepper_->StepAhead(parts.value(), reports ? &norms : nullptr);
  progress_.train_seconds += environment_.seconds() - begun;
  ++progress_.loss_steps;
  if (Ended ended = Note(result)) return ended;
  if (reports) {
    if (Ended ended = NoteLastStep()) return ended;
    CollectTraining(norms);
  }
  if (Expected<Done> thawed = ThawIfDue(); !thawed.ok()) {
    return EndOf(thawed.fault());
  }
  return std::nullopt;
}

// Notes the result of a step, which may be that of the step before.
FineTuning::Ended FineTuning::Note(
    const Expected<std::optional<StepResult>>& result) {
  if (!result.ok()) return Fail(result.fault());
  if (!result.value()) return std::nullopt;
  if (!result.value()->finite) {
    const bool last = result.value()->step == stepper_->steps();
    if (!result.value()->adversary_finite) {
      return AdversaryLost(result.value()->step);
    }
    return NotFinite("the loss or its gradient at step " +
                     std::to_string(result.value()->step) + ", epoch " +
                     std::to_string(epochs_[last ? 1 : 0] + 1) + ",");
  }
  if (result.value()->skipped) LogSkip(*result.value());
  progress_.loss_sum += result.value()->loss;
  progress_.step_loss_sum += result.value()->loss;
  if (result.value()->conflict) ++progress_.conflicts;
  ++progress_.step_loss_steps;
  last_step_ = *result.value();
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
    std::int64_t batches = 0;
    do {
      for (const TaskRows& some : batches_->Next()) {
        BatchMaker& maker = train_[some.task];
        parts.push_back(maker.Make(Labelled(maker, some.rows)));
        maker.AddNoise({noise_seed_, some.epoch}, parts.back());
        if (!TrainsFromBoundaries()) continue;
        RETURN_IF_FAULT(GiveTrainingBoundary(maker, parts.back()));
      }
    } while (++batches < settings_.accumulation && !batches_->AtEpochEnd());
    // Only now: a stop in between takes no step.
    progress_.position = batches_->position();
    for (const Batch& part : parts) CountFlopsOf(part);
    return parts;
  });
}

RowBatch FineTuning::Labelled(const BatchMaker& maker, const RowBatch& rows) {
  RowBatch labelled;
  for (const std::uint32_t row : rows) {
    labelled.push_back(maker.labelled()[row]);
  }
  return labelled;
}

// Right behind the step, so that a checkpoint has the plan that comes next.
Expected<Done> FineTuning::ThawIfDue() {
  const std::int64_t thawed = ThawedAfter(stepper_->steps());
  if (thawed == thawed_) return Done{};
  thawed_ = thawed;
  flops_.clear();
  ASSIGN_OR_FAULT(FreezePlan plan, PlanAfter(stepper_->steps()));
  if (Expected<Done> taken = stepper_->Replan(plan); !taken.ok()) {
    return taken;
  }
  return MakeBoundaries();
}

bool FineTuning::EvaluationIsDue() const {
  if (progress_.loss_steps == 0) return false;  // this step has been evaluated
  const std::int64_t every = settings_.evaluate_every_steps;
  return IsOver() ||
         (every > 0 ? stepper_->steps() % every == 0 : batches_->AtEpochEnd());
}

FineTuning::Ended FineTuning::EvaluateNow() {
  Metrics metrics;
  std::vector<Scores> scores;  // by task
  const double begun = environment_.seconds();
  const Expected<bool> evaluated = EvaluateAll(metrics, scores);
  if (!evaluated.ok()) return Fail(evaluated.fault());
  if (!evaluated.value()) return std::nullopt;
  evaluation_seconds_ += environment_.seconds() - begun;
  ++evaluations_done_;
  for (const TaskSetup& task : setup_.tasks) {
    if (!std::isfinite(metrics.at(task.validation.name + "loss"))) {
      return NotFinite("the validation loss after step " +
                       std::to_string(stepper_->steps()));
    }
  }
  progress_.last = std::move(metrics);
  progress_.last["train_loss"] =
      progress_.loss_sum / static_cast<double>(progress_.loss_steps);
  progress_.loss_sum = 0.0;
  progress_.loss_steps = 0;
  Metrics told = Fitting(progress_.last, kMostMeasured);
  told.merge(training_);
  training_.clear();
  if (!IsOver()) phase_ = TrialPhase::kTraining;
  listener_.NotePace(PaceNow());
  listener_.Report(stepper_->steps(), total_steps_, told);
  shown_ = environment_.seconds();
  NoteKept();
  if (progress_.kept_step == stepper_->steps() && WantsExamples()) {
    kept_scores_ = std::move(scores);
  }
  StopEarlyIfDue();
  Expected<Done> copied = CopyKept();
  if (!copied.ok()) return Fail(copied.fault());
  return std::nullopt;
}

void FineTuning::StopEarlyIfDue() {
  const std::string& metric = settings_.early_stopping.metric;
  if (metric.empty()) return;
  ended_early_ = early_stopping_.Note(progress_.last.at(metric));
  progress_.early_stopping = early_stopping_.state();
  if (ended_early_) {
    listener_.Log("early stopping at step " +
                  std::to_string(stepper_->steps()) + ": " + metric +
                  " has not become better");
  }
}

Expected<std::optional<Scores>> FineTuning::Evaluate(
    std::size_t task, const EvaluationSet& set,
    std::vector<at::Tensor>* logits) {
  Enter(TrialPhase::kEvaluating);
  const HeadSpec& head = setup_.tasks[task].head;
  BatchMaker maker(set.tokens, model_->config(), head,
                   environment_.device.is_cpu(), task);
  Scores scores(head, setup_.tasks[task].data->labels, maker.size());
  const BatchPlanner planner(
      maker.lengths(),
      {.batch_tokens = EvaluationTokens(environment_.device.is_cpu())});
  // Casts of weights hold for all batches.
  const Autocast autocast(precision_, model_->device());
  std::size_t done = 0;
  if (boundaries_) {
    const Expected<Done> prepared = boundaries_->Prepare(*set.tokens);
    if (!prepared.ok() && prepared.fault().kind == FaultKind::kStopped) {
      return std::optional<Scores>();
    }
    if (!prepared.ok()) return prepared.fault();
    Enter(TrialPhase::kEvaluating);  // again, where the store was filled
  }
  for (const RowBatch& rows : planner.Ordered()) {
    if (listener_.stop() != StopReason::kNone) return std::optional<Scores>();
    Expected<Done> added = CatchTorch([&]() -> Expected<Done> {
      Batch batch = maker.Make(rows);
      if (boundaries_) {
        RETURN_IF_FAULT(GiveBoundary(*boundaries_, maker, batch));
      }
      ASSIGN_OR_FAULT(Prediction prediction, stepper_->Predict(batch));
      scores.Add(rows, batch, prediction);
      if (logits != nullptr) logits->push_back(prediction.logits);
      return Done{};
    });
    if (!added.ok()) return added.fault();
    done += rows.size();
    if (environment_.seconds() - shown_ < kEvaluationLifeSeconds) continue;
    shown_ = environment_.seconds();
    listener_.Log("evaluated " + std::to_string(done) + " of " +
                  std::to_string(maker.size()));
  }
  for (std::size_t row = 0; row < set.tokens->size(); ++row) {
    const auto unread = set.tokens->unread(row);
    if (!unread.empty()) scores.AddUnread(row, unread);
  }
  if (boundaries_) boundaries_->TakeComputed();  // no step's
  return std::optional<Scores>(std::move(scores));
}

// Reports a sign of life, at most once in kLifeSeconds. Where an evaluation is
// due it reports nothing: the evaluation reports this step.
void FineTuning::ShowLife() {
  if (environment_.seconds() - shown_ < kLifeSeconds || EvaluationIsDue()) {
    return;
  }
  shown_ = environment_.seconds();
  listener_.NotePace(PaceNow());
  listener_.Report(stepper_->steps(), total_steps_, {});
}

// How far a trial is, and how long it needs still. It reads clocks and counts
// alone: nothing here waits for a device.

namespace {

// A backward pass costs about two forward passes.
constexpr double kForwardShare = 1.0 / 3.0;
// Keeps an epoch that has just ended from counting as one under way.
constexpr double kRounding = 1e-9;

}  // namespace

void FineTuning::Enter(TrialPhase phase) {
  if (phase_ == phase) return;
  phase_ = phase;
  listener_.EnterPhase(PaceNow());
}

double FineTuning::TotalEpochs() const {
  const auto asked = static_cast<double>(settings_.epochs);
  if (settings_.max_steps == 0) return asked;
  return std::min(asked, static_cast<double>(total_steps_) /
                             static_cast<double>(StepsOf(0)));
}

TrialPace FineTuning::PaceNow() const {
  TrialPace pace;
  pace.phase = phase_;
  pace.total_epochs = total_epochs_;
  if (!stepper_ || total_steps_ == 0) return pace;
  pace.epoch = total_epochs_ * static_cast<double>(stepper_->steps()) /
               static_cast<double>(total_steps_);
  pace.remaining_seconds = RemainingSeconds();
  return pace;
}

std::int64_t FineTuning::EvaluationsLeft() const {
  const auto steps = static_cast<double>(stepper_->steps());
  const auto total = static_cast<double>(total_steps_);
  const double every = settings_.evaluate_every_steps > 0
                           ? static_cast<double>(settings_.evaluate_every_steps)
                           : total / std::max(total_epochs_, kRounding);
  const double all = std::ceil(total / every - kRounding);
  const double begun = IsOver() ? all : std::floor(steps / every + kRounding);
  return static_cast<std::int64_t>(std::max(0.0, all - begun)) +
         (EvaluationIsDue() ? 1 : 0);
}

// As those that were; before the first, as training did with as many rows.
double FineTuning::EvaluationSeconds() const {
  if (evaluations_done_ > 0) {
    return evaluation_seconds_ / static_cast<double>(evaluations_done_);
  }
  double trained = 0.0;
  double evaluated = 0.0;
  for (const TaskSetup& task : setup_.tasks) {
    trained += static_cast<double>(task.train->size());
    evaluated += static_cast<double>(task.validation.tokens->size());
  }
  const double epochs_done = total_epochs_ *
                             static_cast<double>(stepper_->steps()) /
                             static_cast<double>(total_steps_);
  const double rows = trained * epochs_done;
  return rows > 0.0 ? kForwardShare * progress_.train_seconds / rows * evaluated
                    : 0.0;
}

std::optional<double> FineTuning::RemainingSeconds() const {
  const auto steps = stepper_->steps();
  if (steps == 0 || phase_ == TrialPhase::kSaving) return std::nullopt;
  double validated = 0.0;
  double others = 0.0;  // rows that are evaluated once, at the end
  for (const TaskSetup& task : setup_.tasks) {
    validated += static_cast<double>(task.validation.tokens->size());
    for (const EvaluationSet& other : task.others) {
      others += static_cast<double>(other.tokens->size());
    }
  }
  const double evaluations = static_cast<double>(EvaluationsLeft()) +
                             others / std::max(validated, 1.0);
  const auto left =
      static_cast<double>(ended_early_ ? 0 : total_steps_ - steps);
  return std::max(0.0,
                  left * progress_.train_seconds / static_cast<double>(steps) +
                      evaluations * EvaluationSeconds());
}

// What steps cost by count, and what they were spared.

// Texts of a batch cost the same, each shape is counted once for a plan.
FineTuning::Flops FineTuning::FlopsOf(std::int64_t texts, std::int64_t tokens,
                                      std::size_t task) {
  const std::array shape = {texts, tokens, static_cast<std::int64_t>(task)};
  if (const auto known = flops_.find(shape); known != flops_.end()) {
    return known->second;
  }
  FreezePlan plan = stepper_->plan();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    for (const std::string& module : setup_.tasks[task].request.freeze) {
      if (!IsWithin(model_->weights()[i].spec, module)) continue;
      plan.parameters[i].needs_gradient = false;
    }
  }
  const StepFlops step =
      CountFlops(model_->config(), model_->heads(), plan, texts, tokens, task);
  Flops flops = {step.spent(), step.skipped(), 0.0};
  for (std::size_t i = 0; std::cmp_less(i, plan.frozen_blocks); ++i) {
    flops.prefix += step.modules[i].forward;
  }
  const SmartFlops smart =
      CountSmart(settings_.smart, model_->config(), model_->heads(),
                 plan.frozen_blocks, step, texts, tokens, task);
  flops.spent += smart.spent;
  flops.skipped += smart.skipped;
  flops.prefix += smart.prefix;
  return flops_.emplace(shape, flops).first->second;
}

void FineTuning::CountFlopsOf(const Batch& batch) {
  const Flops flops = FlopsOf(batch.ids.size(0), batch.ids.size(1), batch.task);
  const double shared = batch.boundary.defined() ? flops.prefix : 0.0;
  progress_.flops_spent += flops.spent - shared;
  progress_.flops_skipped += flops.skipped;
  progress_.flops_shared += shared;
}

// Texts whose boundary was computed on the way to a step: what they took, and
// what they did not, as a lower one was there.
void FineTuning::CountFill(Boundaries& boundaries) {
  for (const ComputedTexts& each : boundaries.TakeComputed()) {
    const double below = ForwardOf(each, each.from);
    progress_.flops_spent +=
        ForwardOf(each, stepper_->plan().frozen_blocks) - below;
    progress_.flops_shared += below;
  }
}

// Through the leading blocks.
double FineTuning::ForwardOf(const ComputedTexts& texts,
                             std::int64_t blocks) const {
  return CountPrefix(model_->config(), model_->heads(), blocks, texts.texts,
                     texts.batches, static_cast<std::int64_t>(texts.tokens));
}

// What training tells of itself between evaluations.

namespace {

// A report has 64 metrics; an evaluation at the same step brings its own.
constexpr std::size_t kMostTold = 50;

// All of a kind or none: half of the modules would look like all of them.
void AddIfTheyFit(const std::string& prefix,
                  const std::map<std::string, double>& by_module,
                  Metrics& told) {
  if (told.size() + by_module.size() > kMostTold) return;
  for (const auto& [module, value] : by_module) told[prefix + module] = value;
}

}  // namespace

bool FineTuning::ReportsStep(std::int64_t step) const {
  const std::int64_t every = settings_.report_every_steps;
  return every > 0 && step % every == 0;
}

void FineTuning::LogSkip(const StepResult& step) {
  const auto scale = static_cast<std::int64_t>(stepper_->loss_scale()->value());
  listener_.Log("step " + std::to_string(step.step) +
                " was skipped: its gradients overflowed in fp16; the loss is "
                "scaled by " +
                std::to_string(scale) + " from here on");
}

void FineTuning::CollectTraining(const StepNorms& norms) {
  training_ = {
      {"step_loss", progress_.step_loss_sum /
                        static_cast<double>(progress_.step_loss_steps)},
      {"grad_norm", last_step_.grad_norm},
      {"rate_factor", last_step_.factor}};
  if (stepper_->loss_scale()) {
    training_["loss_scale"] = stepper_->loss_scale()->value();
  }
  progress_.step_loss_sum = 0.0;
  progress_.step_loss_steps = 0;
  std::map<std::string, double> rates;
  for (const auto& [module, rate] :
       ThawedRates(rates_, thawed_, model_->config().layers)) {
    if (rate > 0.0) rates[module] = rate * last_step_.factor;
  }
  AddIfTheyFit("grad_norm.", norms.gradients, training_);
  AddIfTheyFit("update_norm.", norms.updates, training_);
  AddIfTheyFit("rate.", rates, training_);
}

void FineTuning::ReportTraining() {
  if (training_.empty() || EvaluationIsDue()) return;
  shown_ = environment_.seconds();
  listener_.NotePace(PaceNow());
  listener_.Report(stepper_->steps(), total_steps_,
                   std::exchange(training_, {}));
}

}  // namespace frostline::trainer
