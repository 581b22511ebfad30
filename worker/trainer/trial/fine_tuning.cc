// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/fine_tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/plain/sums.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/measures.h"

namespace frostline::trainer {

FineTuning::FineTuning(const TrialMessage& trial, TrialSetup setup,
                       const TrialEnvironment& environment,
                       TrialListener& listener)
    : trial_(trial),
      settings_(trial.training),
      setup_(std::move(setup)),
      environment_(environment),
      listener_(listener),
      started_(environment.seconds()),
      energy_before_(environment.device.EnergyJoules()),
      early_stopping_(StopsByMaximum(trial),
                      trial.training.early_stopping.patience,
                      trial.training.early_stopping.min_delta) {}

TrialEnd FineTuning::Run() {
  TrialEnd end = Train();
  if (checkpoints_) checkpoints_->Await();
  return end;
}

// What must be there before the first step.

Expected<Done> FineTuning::Begin() {
  RETURN_IF_FAULT(CheckMetrics(trial_, setup_));
  ASSIGN_OR_FAULT(const Precision precision,
                  environment_.device.Choose(settings_.precision));
  environment_.device.Multiply(precision);
  ModuleRates rates = RatesOfTasks(trial_, setup_, listener_);
  RETURN_IF_FAULT(MakeBatches());
  LogWordsCut(setup_, listener_);
  LogAnswersCut(setup_, listener_);
  LogLabelsMissing(setup_, listener_);
  course_.emplace(settings_, *batches_, progress_,
                  setup_.pretrained->loaded.model.config().layers);
  trained_.emplace(trial_, setup_, *course_, precision, std::move(rates),
                   listener_);
  RETURN_IF_FAULT(ChooseLayers());
  if (trained_->freezes_on_the_way()) ReadWhatFroze();
  RETURN_IF_FAULT(trained_->Make(trial_.resume_step));
  pace_.emplace(*course_, setup_, environment_.seconds, started_, listener_);
  kept_.emplace(WhatToKeepBy(trial_, setup_), *trained_, progress_);
  checkpoints_.emplace(trial_, setup_, environment_.checkpoint_seconds,
                       started_, *trained_, *pace_);
  flops_.emplace(setup_, settings_.smart, *trained_, progress_);
  prefix_.emplace(trial_, setup_, environment_, *course_, *trained_, *flops_,
                  *pace_);
  evaluator_.emplace(setup_, *trained_, *prefix_, *pace_);
  examples_.emplace(trial_, setup_, *evaluator_, listener_);
  if (!trial_.resume_path.empty()) RETURN_IF_FAULT(Resume());
  freezing_.emplace(setup_, *trained_, listener_);
  RETURN_IF_FAULT(freezing_->Begin());
  batches_->Seek(progress_.position);
  return prefix_->Follow();
}

Expected<Done> FineTuning::MakeBatches() {
  std::vector<std::vector<std::uint32_t>> lengths;
  MixOptions options;
  options.mixing = settings_.mixing;
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const TaskSetup& task = setup_.tasks[i];
    const BatchMaker& maker = makers_.emplace_back(
        task.train, setup_.pretrained->loaded.model.config(), task.head,
        environment_.device.is_cpu(), i);
    if (maker.labelled().empty()) {
      return Fault{
          FaultKind::kMisuse,
          (setup_.many() ? "the task " + task.request.name + ": " : "") +
              "no row to train on has a label",
          "see data.columns, data.task and training.max_length"};
    }
    lengths.emplace_back();
    for (const std::uint32_t row : maker.labelled()) {
      lengths.back().push_back(maker.lengths()[row]);
    }
    const double share = task.request.share;
    options.shares.push_back(
        share > 0.0 ? share : static_cast<double>(lengths.back().size()));
  }
  options.batches = {
      .batch_size = static_cast<std::size_t>(settings_.batch_size),
      .batch_tokens = static_cast<std::size_t>(settings_.batch_tokens),
      .bucket = settings_.bucket,
      .seed = SeedOf(trial_, Draws::kBatches)};
  batches_.emplace(lengths, std::move(options));
  return Done{};
}

// An attempt that goes on chooses once more, and the same: the choice is of
// the pretrained weights, the seed and the data alone.
Expected<Done> FineTuning::ChooseLayers() {
  const TrainingTime begun = Now();
  std::vector<Batch> probed;
  if (settings_.layers.rule == LayerRule::kGradient) {
    ASSIGN_OR_FAULT(probed, FirstBatches(settings_.layers.batches));
  }
  RETURN_IF_FAULT(trained_->ChooseLayers(probed));
  CountSince(begun);
  return Done{};
}

Expected<std::vector<Batch>> FineTuning::FirstBatches(std::int64_t count) {
  return CatchTorch([&]() -> Expected<std::vector<Batch>> {
    std::vector<Batch> first;
    do {
      for (const TaskRows& some : batches_->Next()) {
        BatchMaker& maker = makers_[some.task];
        first.push_back(maker.Make(maker.Labelled(some.rows)));
        maker.AddNoise({SeedOf(trial_, Draws::kDropout), some.epoch},
                       first.back());
      }
    } while (--count > 0 && !batches_->AtEpochEnd());
    return first;
  });
}

// What a checkpoint holds depends on what had frozen by then. One that cannot
// be read is told of by Resume.
void FineTuning::ReadWhatFroze() {
  if (trial_.resume_path.empty()) return;
  const Expected<Notes> notes = ReadNotes(trial_.resume_path);
  if (!notes.ok()) return;
  Expected<TrialProgress> progress = ParseProgress(notes.value());
  if (progress.ok()) {
    progress_.auto_freeze = std::move(progress).value().auto_freeze;
  }
}

// Goes on from the checkpoint. If it cannot be used, the trial begins anew,
// which is slower but still right.
Expected<Done> FineTuning::Resume() {
  WeightCopies kept;
  Expected<TrialProgress> progress =
      checkpoints_->Load(trial_.resume_path, kept);
  if (!progress.ok()) {
    listener_.Log("begins anew: " + FaultText(progress.fault()));
    progress_.auto_freeze = {};
    return trained_->Make(0);
  }
  progress_ = std::move(progress).value();
  early_stopping_.Restore(progress_.early_stopping);
  kept_->Restore(std::move(kept));
  listener_.Log("goes on from step " + std::to_string(progress_.steps));
  return HoldKept();
}

// The loop, and what it does at every turn.

TrialEnd FineTuning::Train() {
  environment_.device.ResetPeakMemory();
  if (Expected<Done> begun = Begin(); !begun.ok()) return EndOf(begun.fault());
  pace_->BeginTraining(trained_->precision());
  while (true) {
    const StopReason stop = listener_.stop();
    if (stop != StopReason::kNone) return Stop(stop);
    if (course_->EvaluationIsDue()) {
      if (Ended ended = NoteLastStep()) return *std::move(ended);
      if (Ended ended = EvaluateNow()) return *std::move(ended);
      continue;  // a stop may have cut it short
    }
    if (course_->IsOver()) return Finish();
    if (Ended ended = Step()) return *std::move(ended);
    pace_->GoOnTraining();
    ReportTraining();
    pace_->ShowLife();
    checkpoints_->TakeWritten();
    if (!checkpoints_->IsDue() || progress_.steps >= course_->total_steps()) {
      continue;
    }
    if (Ended ended = NoteLastStep()) return *std::move(ended);
    checkpoints_->SaveBeside(progress_, kept_->weights());
  }
}

FineTuning::TrainingTime FineTuning::Now() const {
  const auto& processor = environment_.processor_seconds;
  return {environment_.seconds(), processor ? processor() : 0.0};
}

void FineTuning::CountSince(const TrainingTime& begun) {
  const TrainingTime now = Now();
  progress_.train_seconds += now.seconds - begun.seconds;
  progress_.processor_seconds +=
      now.processor_seconds - begun.processor_seconds;
}

FineTuning::Ended FineTuning::Step() {
  Stepper& stepper = trained_->stepper();
  const TrainingTime begun = Now();
  epochs_ = {epochs_.back(), progress_.position.all.epoch};
  Expected<std::vector<Batch>> parts = NextParts();
  if (!parts.ok()) return EndOf(parts.fault());
  StepNorms norms;
  const bool reports = course_->ReportsStep(stepper.steps() + 1);
  const bool watches = trained_->freezes_on_the_way();
  Expected<std::optional<StepResult>> result =
      stepper.StepAhead(parts.value(), reports || watches ? &norms : nullptr,
                        /*gradients_alone=*/!reports);
  CountSince(begun);
  progress_.steps = stepper.steps();
  ++progress_.loss_steps;
  if (Ended ended = Note(result)) return ended;
  if (reports) {
    if (Ended ended = NoteLastStep()) return ended;
    CollectTraining(norms);
  }
  if (watches) FreezeOnTheWay(norms);
  const Expected<bool> replanned = trained_->ReplanIfDue();
  if (!replanned.ok()) return EndOf(replanned.fault());
  if (!replanned.value()) return std::nullopt;
  const Expected<Done> followed = prefix_->Follow();
  if (!followed.ok()) return EndOf(followed.fault());
  return std::nullopt;
}

// What autofreeze freezes, if an interval ends with this step.
void FineTuning::FreezeOnTheWay(const StepNorms& norms) {
  AutoFreezeState& state = progress_.auto_freeze;
  const std::vector<std::string>& blocks = trained_->blocks();
  state.Note(blocks, norms.gradients);
  if (progress_.steps % settings_.layers.every_steps != 0) return;
  const std::size_t first = state.frozen;
  std::string frozen;
  const std::size_t count = state.EndInterval(blocks, settings_.layers.share);
  for (std::size_t i = first; i < first + count; ++i) {
    frozen += (frozen.empty() ? "" : ", ") + blocks[i];
  }
  if (frozen.empty()) return;
  listener_.Log("autofreeze after step " + std::to_string(progress_.steps) +
                ": " + frozen + " frozen, " +
                std::to_string(blocks.size() - state.frozen) + " go on");
}

// Returns as many batches as a step accumulates, all from one epoch.
Expected<std::vector<Batch>> FineTuning::NextParts() {
  const std::uint64_t noise_seed = SeedOf(trial_, Draws::kDropout);
  return CatchTorch([&]() -> Expected<std::vector<Batch>> {
    std::vector<Batch> parts;
    std::int64_t batches = 0;
    do {
      for (const TaskRows& some : batches_->Next()) {
        BatchMaker& maker = makers_[some.task];
        parts.push_back(maker.Make(maker.Labelled(some.rows)));
        maker.AddNoise({noise_seed, some.epoch}, parts.back());
        RETURN_IF_FAULT(prefix_->GiveTraining(maker, *batches_, parts.back()));
      }
    } while (++batches < settings_.accumulation && !batches_->AtEpochEnd());
    // Only now: a stop in between takes no step.
    progress_.position = batches_->position();
    for (const Batch& part : parts) flops_->AddStep(part);
    freezing_->NoteStep(parts);
    return parts;
  });
}

// Notes the result of a step, which may be that of the step before.
FineTuning::Ended FineTuning::Note(
    const Expected<std::optional<StepResult>>& noted) {
  if (!noted.ok()) return Fail(noted.fault());
  if (!noted.value()) return std::nullopt;
  const StepResult& result = *noted.value();
  const std::string step = std::to_string(result.step);
  if (!result.finite && !result.adversary_finite) {
    return Infeasible(
        "the gradient of the adversary (training.smart) at step " + step,
        "give smaller training.smart.radius, step_size and noise_variance");
  }
  if (!result.finite) {
    const bool last = result.step == progress_.steps;
    return Infeasible("the loss or its gradient at step " + step + ", epoch " +
                          std::to_string(epochs_[last ? 1 : 0] + 1) + ",",
                      "search smaller learning rates");
  }
  if (result.skipped) {
    const double scale = trained_->stepper().loss_scale()->value();
    listener_.Log("step " + step +
                  " was skipped: its gradients overflowed in fp16; the loss is "
                  "scaled by " +
                  std::to_string(static_cast<std::int64_t>(scale)) +
                  " from here on");
  }
  progress_.loss_sum += result.loss;
  progress_.step_loss_sum += result.loss;
  if (result.conflict) ++progress_.conflicts;
  ++progress_.step_loss_steps;
  last_step_ = result;
  return std::nullopt;
}

// Waits for the result of the last step. Call it before the sum of losses is
// read.
FineTuning::Ended FineTuning::NoteLastStep() {
  const TrainingTime begun = Now();
  const Expected<std::optional<StepResult>> result =
      trained_->stepper().ReadLast();
  CountSince(begun);
  return Note(result);
}

namespace {

constexpr std::size_t kMostMeasured = 64;  // metrics of one report
// The most metrics of training in a report. An evaluation at the same step adds
// its own.
constexpr std::size_t kMostTold = 50;

// Adds the figures of all modules or of none: half of them would look like all.
void AddIfTheyFit(const std::string& prefix,
                  const std::map<std::string, double>& by_module,
                  Metrics& told) {
  if (told.size() + by_module.size() > kMostTold) return;
  for (const auto& [module, value] : by_module) told[prefix + module] = value;
}

}  // namespace

void FineTuning::CollectTraining(const StepNorms& norms) {
  training_ = {
      {"step_loss", progress_.step_loss_sum /
                        static_cast<double>(progress_.step_loss_steps)},
      {"grad_norm", last_step_.grad_norm},
      {"rate_factor", last_step_.factor}};
  if (const auto& scale = trained_->stepper().loss_scale()) {
    training_["loss_scale"] = scale->value();
  }
  progress_.step_loss_sum = 0.0;
  progress_.step_loss_steps = 0;
  std::map<std::string, double> rates;
  for (const auto& [module, rate] : trained_->RatesNow()) {
    if (rate > 0.0) rates[module] = rate * last_step_.factor;
  }
  AddIfTheyFit("grad_norm.", norms.gradients, training_);
  AddIfTheyFit("update_norm.", norms.updates, training_);
  AddIfTheyFit("rate.", rates, training_);
}

void FineTuning::ReportTraining() {
  if (training_.empty() || course_->EvaluationIsDue()) return;
  pace_->Report(std::exchange(training_, {}));
}

FineTuning::Ended FineTuning::EvaluateNow() {
  Metrics metrics;
  std::vector<Scores> scores;  // by task
  const double begun = environment_.seconds();
  const Expected<bool> evaluated = evaluator_->Validate(metrics, scores);
  if (!evaluated.ok()) return Fail(evaluated.fault());
  if (!evaluated.value()) return std::nullopt;
  pace_->NoteEvaluation(environment_.seconds() - begun);
  for (const TaskSetup& task : setup_.tasks) {
    if (std::isfinite(metrics.at(task.validation.name + "loss"))) continue;
    return Infeasible(
        "the validation loss after step " + std::to_string(progress_.steps),
        "search smaller learning rates");
  }
  AddMean(setup_, "", metrics);
  if (settings_.surgery != Surgery::kNone) {
    metrics[kConflictsMetric] = static_cast<double>(progress_.conflicts);
  }
  metrics["train_loss"] =
      progress_.loss_sum / static_cast<double>(progress_.loss_steps);
  progress_.last = std::move(metrics);
  progress_.loss_sum = 0.0;
  progress_.loss_steps = 0;
  Metrics told = Fitting(trial_, setup_, progress_.last, kMostMeasured);
  told.merge(training_);
  training_.clear();
  if (!course_->IsOver()) pace_->GoOnTraining();
  pace_->Report(told);
  if (kept_->Note()) examples_->Keep(std::move(scores));
  StopEarlyIfDue();
  Expected<Done> copied = HoldKept();
  if (!copied.ok()) return Fail(copied.fault());
  return std::nullopt;
}

void FineTuning::StopEarlyIfDue() {
  const std::string& metric = settings_.early_stopping.metric;
  if (metric.empty()) return;
  const bool ends = early_stopping_.Note(progress_.last.at(metric));
  progress_.early_stopping = early_stopping_.state();
  if (ends) {
    listener_.Log("early stopping at step " + std::to_string(progress_.steps) +
                  ": " + metric + " has not become better");
  }
}

Expected<Done> FineTuning::HoldKept() {
  return course_->IsOver() ? Done{} : kept_->HoldWeights();
}

// How a trial ends.

namespace {

constexpr std::size_t kMostMetrics = 240;  // of the 256 of an outcome

// Returns how an exported model reads texts.
TextReading ReadingOf(const DataPart& rows, std::int64_t max_length) {
  const TextForm& form = rows.data->form();
  return {.max_length = max_length,
          .lowercase = form.lowercase,
          .strip_accents = form.strip_accents,
          .chat = form.chat};
}

// Returns the fingerprint of the validation rows, those of all tasks together.
std::string FingerprintOfRows(const TrialSetup& setup) {
  if (!setup.many()) return setup.tasks[0].validation.part.fingerprint;
  Sha256Sum sum;
  for (const TaskSetup& task : setup.tasks) {
    sum.AddField(task.request.name);
    sum.AddField(task.validation.part.fingerprint);
  }
  return sum.Finish();
}

}  // namespace

FineTuning::Ended FineTuning::AuditFreezing() {
  Expected<FreezeAudit> audit = freezing_->Audit();
  if (!audit.ok()) return Fail(audit.fault());
  audit_ = std::move(audit.value().modules);
  const std::vector<std::string>& wrong = audit.value().wrong;
  if (wrong.empty()) return std::nullopt;
  std::string all;
  for (const std::string& one : wrong) all += (all.empty() ? "" : "; ") + one;
  return Fail(FaultText(kFrozenMovedId, all,
                        "report this with the study file: the score would be "
                        "that of another point"),
              FailureClass::kTrial);
}

TrialEnd FineTuning::Finish() {
  // Before it goes back to the weights that are kept.
  if (Ended ended = AuditFreezing()) return *std::move(ended);
  if (Expected<Done> back = kept_->GoBack(listener_); !back.ok()) {
    return Fail(back.fault());
  }
  const Expected<bool> evaluated = EvaluateTheRest();
  if (!evaluated.ok()) return Fail(evaluated.fault());
  if (!evaluated.value()) return Stop(listener_.stop());
  if (settings_.export_model) {
    pace_->Enter(TrialPhase::kSaving);
    const TaskData& data = *setup_.tasks[0].data;
    const Model& model = trained_->model();
    Expected<Done> exported = ExportModel(
        trial_.folder + "/model", model, setup_.pretrained->folder,
        data.labels.names(),
        ReadingOf(data.train, LongestText(settings_, model.config())));
    if (!exported.ok()) return Fail(exported.fault());
    listener_.Log("exported to " + trial_.folder + "/model");
    const Expected<bool> adapters =
        ExportAdapters(trial_.folder + "/model/adapter", model,
                       trained_->TrainedNames(), trial_.model.id);
    if (!adapters.ok()) return Fail(adapters.fault());
    if (adapters.value()) {
      listener_.Log("its adapters, as peft reads them: " + trial_.folder +
                    "/model/adapter");
    }
  }
  TrialEnd end = End(TrialState::kSucceeded);
  end.metrics["kept_step"] = static_cast<double>(
      progress_.kept.empty() ? progress_.steps : progress_.kept_step);
  if (AuditIsDue()) {
    Expected<Done> audited = Audit(end.metrics);
    if (!audited.ok()) return Fail(audited.fault());
    if (listener_.stop() != StopReason::kNone) return Stop(listener_.stop());
    end.usage->total_seconds = environment_.seconds() - started_;
  }
  end.evaluations = examples_->TakeOutcomes();
  end.tells_evaluations = trial_.takes_evaluations;
  return end;
}

Expected<bool> FineTuning::EvaluateTheRest() {
  Expected<bool> told = examples_->TellKept();
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    if (!told.ok() || !told.value()) return told;
    const TaskSetup& task = setup_.tasks[i];
    for (const EvaluationSet& other : task.others) {
      ASSIGN_OR_FAULT(std::optional<Scores> scores,
                      evaluator_->Evaluate(i, other));
      if (!scores) return false;
      // Nobody knows what is right in a set without labels.
      const Metrics measured =
          other.part.data->labelled() ? scores->Compute() : Metrics();
      for (const auto& [name, value] : measured) {
        progress_.last[other.name + name] = value;
      }
      RETURN_IF_FAULT(
          examples_->Tell(task, task.SetOf(other), other.part, *scores));
    }
    told = examples_->TellTraining(i);
  }
  if (told.ok() && told.value() && HaveTests(setup_)) {
    AddMean(setup_, "test.", progress_.last);
  }
  return told;
}

TrialEnd FineTuning::Stop(StopReason reason) {
  if (Ended ended = NoteLastStep()) return *std::move(ended);
  if (ComesBack(reason) && progress_.steps > 0) {
    checkpoints_->Save(progress_, kept_->weights());
  }
  // What was measured until then counts.
  if (reason == StopReason::kPruned) {
    if (Ended ended = AuditFreezing()) return *std::move(ended);
  }
  return End(TrialState::kStopped);
}

TrialEnd FineTuning::Fail(const Fault& fault) const {
  return Fail(FaultText(fault), ClassOf(fault.kind));
}

TrialEnd FineTuning::Fail(const std::string& cause,
                          FailureClass failure) const {
  TrialEnd end;
  end.state = TrialState::kFailed;
  end.cause = cause;
  end.failure = failure;
  if (prefix_) end.usage = Usage();  // else there was nothing to train
  return end;
}

TrialEnd FineTuning::EndOf(const Fault& fault) {
  return fault.kind == FaultKind::kStopped ? Stop(listener_.stop())
                                           : Fail(fault);
}

TrialEnd FineTuning::Infeasible(const std::string& what,
                                const std::string& fix) const {
  TrialEnd end = End(TrialState::kInfeasible);
  end.cause =
      FaultText(kNotFiniteId, what + " became infinite or no number", fix);
  return end;
}

namespace {

constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;

}  // namespace

TrialEnd FineTuning::End(TrialState state) const {
  TrialEnd end;
  end.state = state;
  end.metrics = Fitting(trial_, setup_, progress_.last, kMostMetrics);
  end.metrics["train_seconds"] = progress_.train_seconds;
  end.metrics["trained_parameters"] =
      static_cast<double>(trained_->trained_weights());
  end.metrics["steps"] = static_cast<double>(progress_.steps);
  end.usage = Usage();
  if (const auto peak = end.usage->peak_memory_bytes; peak > 0) {
    end.metrics["peak_memory_mib"] =
        static_cast<double>(peak) / kBytesPerMebibyte;
  }
  return end;
}

TrialUsage FineTuning::Usage() const {
  TrialUsage usage;
  usage.train_seconds = progress_.train_seconds;
  usage.processor_seconds = progress_.processor_seconds;
  usage.total_seconds = environment_.seconds() - started_;
  usage.trained_parameters = trained_->trained_weights();
  usage.flops_spent = progress_.flops_spent;
  usage.flops_skipped = progress_.flops_skipped;
  usage.flops_shared = progress_.flops_shared;
  usage.prefix = prefix_->counts();
  usage.peak_memory_bytes = environment_.device.PeakMemoryBytes();
  if (const auto now = environment_.device.EnergyJoules();
      now && energy_before_) {
    usage.energy_joules = *now - *energy_before_;
  }
  usage.device = environment_.device.name();
  usage.precision = NameOf(trained_->precision());
  usage.freeze = settings_.freeze;
  usage.virtual_tau = settings_.virtual_tau;
  usage.steps = progress_.steps;
  usage.data_fingerprint = FingerprintOfRows(setup_);
  if (trial_.takes_audit) usage.audit = audit_;
  return usage;
}

// The audit: a sample of virtually frozen trials is trained again, unfrozen.

namespace {

constexpr char kAuditPrefix[] = "virtual_audit.";
constexpr double kAuditLifeSeconds = 60.0;

// Hears the second run: it passes stops in and signs of life out. The metrics
// and steps of that run are not the trial's.
class AuditListener : public TrialListener {
 public:
  AuditListener(TrialListener& listener, const TrialEnvironment& environment)
      : listener_(listener),
        environment_(environment),
        shown_(environment.seconds()) {}

  StopReason stop() const override { return listener_.stop(); }
  void Report(std::int64_t step, std::int64_t total_steps,
              const Metrics& /*metrics*/) override {
    const double now = environment_.seconds();
    if (now - shown_ < kAuditLifeSeconds) return;
    shown_ = now;
    Log("step " + std::to_string(step) + " of " + std::to_string(total_steps));
  }
  void Begun(std::int64_t /*step*/, Precision /*precision*/) override {}
  void Saved(const std::string& /*name*/, std::int64_t /*step*/,
             std::int64_t /*bytes*/) override {}
  void Log(const std::string& line) override {
    listener_.Log("audit of virtual freezing: " + line);
  }

 private:
  TrialListener& listener_;
  const TrialEnvironment& environment_;
  double shown_;
};

double Furthest(const std::vector<at::Tensor>& ours,
                const std::vector<at::Tensor>& theirs) {
  double most = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    most = std::max(most, (ours[i] - theirs[i]).abs().max().item<double>());
  }
  return most;
}

}  // namespace

// Returns whether the trial froze virtually and is in the sample. Its identity
// draws, so that every attempt decides the same.
bool FineTuning::AuditIsDue() const {
  if (!trained_->virtually_frozen() || settings_.virtual_audit == 0.0) {
    return false;
  }
  const auto drawn = static_cast<double>(
      std::stoul(trial_.identity.substr(0, 8), nullptr, 16));
  return drawn < settings_.virtual_audit * 4294967296.0;
}

Expected<Done> FineTuning::Audit(Metrics& metrics) {
  TrialMessage plain = trial_;
  plain.training.virtual_tau = 0.0;
  plain.training.virtual_audit = 0.0;
  plain.training.export_model = false;
  plain.training.report_example_outcomes = false;
  plain.resume_path.clear();
  plain.resume_step = 0;
  TrialSetup setup = setup_;
  for (TaskSetup& task : setup.tasks) {
    task.others.clear();
    task.predicted.clear();
  }
  TrialEnvironment environment = environment_;
  environment.checkpoint_seconds = std::numeric_limits<double>::infinity();
  AuditListener listener(listener_, environment);
  FineTuning other(plain, std::move(setup), environment, listener);
  const TrialEnd end = other.Run();
  if (end.state != TrialState::kSucceeded) {
    if (end.state != TrialState::kStopped) listener.Log(end.cause);
    return Done{};
  }
  std::vector<at::Tensor> ours;
  std::vector<at::Tensor> theirs;
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const EvaluationSet& set = setup_.tasks[i].validation;
    ASSIGN_OR_FAULT(const auto here, evaluator_->Evaluate(i, set, &ours));
    ASSIGN_OR_FAULT(const auto there,
                    other.evaluator_->Evaluate(i, set, &theirs));
    if (!here || !there) return Done{};  // stopped
  }
  return CatchTorch([&]() -> Expected<Done> {
    metrics[std::string(kAuditPrefix) + "logits"] = Furthest(ours, theirs);
    for (const auto& [name, value] : other.progress_.last) {
      metrics[kAuditPrefix + name] = std::abs(value - progress_.last.at(name));
    }
    return Done{};
  });
}

}  // namespace frostline::trainer
