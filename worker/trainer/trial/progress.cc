// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/progress.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace frostline::trainer {

bool EarlyStopping::Note(double value) {
  const double gain =
      state_.best ? (maximize_ ? value - *state_.best : *state_.best - value)
                  : min_delta_ + 1.0;
  if (std::isfinite(value) && gain > min_delta_) {
    state_ = {value, 0};
    return false;
  }
  ++state_.worse;
  return ended();
}

namespace {

constexpr std::string_view kMetric = "metric.";
constexpr std::string_view kKept = "kept.";
// Lengths of gradients, by block (layer_rules.h).
constexpr std::string_view kBefore = "gradient_before.";
constexpr std::string_view kNow = "gradient_now.";

// Returns the shortest digits that read back as the same number; also inf and
// nan.
std::string Print(auto number) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return {text, end};
}

// A reader of notes by name. It remembers whether one did not fit.
class NoteReader {
 public:
  explicit NoteReader(const Notes& notes) : notes_(notes) {}

  template <typename Number>
  void Read(const std::string& name, Number& into) {
    const auto found = notes_.find(name);
    if (found == notes_.end()) return Miss(name);
    Parse(name, found->second, into);
  }

  template <typename Number>
  void Parse(const std::string& name, const std::string& text, Number& into) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, into);
    if (error != std::errc() || stop != end) Miss(name);
  }

  const std::string& missed() const { return missed_; }

 private:
  void Miss(const std::string& name) {
    if (missed_.empty()) missed_ = name;
  }

  const Notes& notes_;
  std::string missed_;
};

void PrintMetrics(std::string_view prefix, const Metrics& metrics,
                  Notes& notes) {
  for (const auto& [name, value] : metrics) {
    notes[std::string(prefix) + name] = Print(value);
  }
}

void ReadMetrics(std::string_view prefix, const Notes& notes,
                 NoteReader& reader, Metrics& metrics) {
  for (const auto& [name, text] : notes) {
    if (!name.starts_with(prefix)) continue;
    reader.Parse(name, text, metrics[name.substr(prefix.size())]);
  }
}

// Returns the name of a note on a task's own pass: "task.2.epoch".
std::string TaskNote(std::size_t task, const char* what) {
  return "task." + std::to_string(task) + "." + what;
}

}  // namespace

Notes PrintProgress(const TrialProgress& progress) {
  Notes notes = {{"epoch", Print(progress.position.all.epoch)},
                 {"batch", Print(progress.position.all.batch)},
                 {"loss_sum", Print(progress.loss_sum)},
                 {"loss_steps", Print(progress.loss_steps)},
                 {"step_loss_sum", Print(progress.step_loss_sum)},
                 {"step_loss_steps", Print(progress.step_loss_steps)},
                 {"worse", Print(progress.early_stopping.worse)},
                 {"kept_step", Print(progress.kept_step)},
                 {"train_seconds", Print(progress.train_seconds)},
                 {"processor_seconds", Print(progress.processor_seconds)},
                 {"flops_spent", Print(progress.flops_spent)},
                 {"flops_skipped", Print(progress.flops_skipped)},
                 {"flops_shared", Print(progress.flops_shared)}};
  if (progress.early_stopping.best) {
    notes["best"] = Print(*progress.early_stopping.best);
  }
  if (progress.conflicts > 0) notes["conflicts"] = Print(progress.conflicts);
  for (std::size_t i = 0; i < progress.position.tasks.size(); ++i) {
    const BatchPosition& own = progress.position.tasks[i];
    notes[TaskNote(i, "epoch")] = Print(own.epoch);
    notes[TaskNote(i, "batch")] = Print(own.batch);
  }
  PrintMetrics(kMetric, progress.last, notes);
  PrintMetrics(kKept, progress.kept, notes);
  const AutoFreezeState& freezes = progress.auto_freeze;
  if (freezes.frozen > 0) notes["auto_frozen"] = Print(freezes.frozen);
  PrintMetrics(kBefore, freezes.before, notes);
  PrintMetrics(kNow, freezes.now, notes);
  return notes;
}

Expected<TrialProgress> ParseProgress(const Notes& notes) {
  NoteReader reader(notes);
  TrialProgress progress;
  reader.Read("epoch", progress.position.all.epoch);
  reader.Read("batch", progress.position.all.batch);
  reader.Read("loss_sum", progress.loss_sum);
  reader.Read("loss_steps", progress.loss_steps);
  reader.Read("worse", progress.early_stopping.worse);
  reader.Read("train_seconds", progress.train_seconds);
  reader.Read("flops_spent", progress.flops_spent);
  reader.Read("flops_skipped", progress.flops_skipped);
  if (notes.contains("processor_seconds")) {  // older ones did not count
    reader.Read("processor_seconds", progress.processor_seconds);
  }
  if (notes.contains("flops_shared")) {  // older ones shared nothing
    reader.Read("flops_shared", progress.flops_shared);
  }
  if (notes.contains("best")) {
    reader.Read("best", progress.early_stopping.best.emplace());
  }
  if (notes.contains("step_loss_sum")) {  // older ones did not report it
    reader.Read("step_loss_sum", progress.step_loss_sum);
    reader.Read("step_loss_steps", progress.step_loss_steps);
  }
  if (notes.contains("kept_step")) {  // older ones kept nothing
    reader.Read("kept_step", progress.kept_step);
  }
  if (notes.contains("conflicts")) {
    reader.Read("conflicts", progress.conflicts);
  }
  for (std::size_t i = 0; notes.contains(TaskNote(i, "epoch")); ++i) {
    BatchPosition& own = progress.position.tasks.emplace_back();
    reader.Read(TaskNote(i, "epoch"), own.epoch);
    reader.Read(TaskNote(i, "batch"), own.batch);
  }
  ReadMetrics(kMetric, notes, reader, progress.last);
  ReadMetrics(kKept, notes, reader, progress.kept);
  AutoFreezeState& freezes = progress.auto_freeze;
  if (notes.contains("auto_frozen")) {
    reader.Read("auto_frozen", freezes.frozen);
  }
  ReadMetrics(kBefore, notes, reader, freezes.before);
  ReadMetrics(kNow, notes, reader, freezes.now);
  if (reader.missed().empty()) return progress;
  return Fault{FaultKind::kInconsistent,
               "the checkpoint's note \"" + reader.missed() + "\" is no number",
               "begin this trial anew"};
}

namespace {

constexpr std::string_view kLayer = "layer.";

// Returns how many blocks must have thawed before this module trains.
std::int64_t NeededFor(std::string_view module, std::int64_t layers) {
  if (module == "embeddings") return layers + 1;
  if (!module.starts_with(kLayer)) return 0;  // pooler, head
  const std::string_view number = module.substr(kLayer.size());
  std::int64_t layer = 0;
  std::from_chars(number.data(), number.data() + number.size(), layer);
  return layers - layer;
}

}  // namespace

std::int64_t ThawedBlocks(std::int64_t done, std::int64_t every,
                          std::int64_t layers) {
  return every == 0 ? layers + 1 : std::min(done / every, layers + 1);
}

ModuleRates ThawedRates(const ModuleRates& rates, std::int64_t thawed,
                        std::int64_t layers) {
  ModuleRates result = rates;
  for (auto& [module, rate] : result) {
    if (NeededFor(module, layers) > thawed) rate = 0.0;
  }
  return result;
}

namespace {

// Keeps an epoch that has just ended from counting as one under way.
constexpr double kRounding = 1e-9;

}  // namespace

Course::Course(const TrainingSettings& settings, const TaskBatches& batches,
               const TrialProgress& progress, std::int64_t layers)
    : settings_(settings),
      batches_(batches),
      progress_(progress),
      layers_(layers),
      steps_of_first_(StepsOf(0)),
      total_steps_(CountSteps()),
      total_epochs_(settings.max_steps == 0
                        ? static_cast<double>(settings.epochs)
                        : std::min(static_cast<double>(settings.epochs),
                                   static_cast<double>(total_steps_) /
                                       static_cast<double>(steps_of_first_))),
      epoch_ends_(EpochEnds()) {}

std::int64_t Course::StepsOf(std::uint64_t epoch) const {
  const auto batches = static_cast<std::int64_t>(batches_.BatchesOf(epoch));
  return (batches + settings_.accumulation - 1) / settings_.accumulation;
}

std::int64_t Course::CountSteps() const {
  const std::int64_t most = settings_.max_steps > 0
                                ? settings_.max_steps
                                : std::numeric_limits<std::int64_t>::max();
  // Only with a budget of tokens have epochs different numbers of steps.
  if (settings_.batch_tokens == 0) {
    return std::min(most, settings_.epochs * steps_of_first_);
  }
  std::int64_t steps = 0;
  for (std::int64_t e = 0; e < settings_.epochs && steps < most; ++e) {
    steps += StepsOf(static_cast<std::uint64_t>(e));
  }
  return std::min(most, steps);
}

std::vector<std::int64_t> Course::EpochEnds() const {
  std::vector<std::int64_t> ends;
  const std::int64_t asked = std::min(
      settings_.epochs, settings_.unfreeze_every_epochs * (layers_ + 1));
  std::int64_t steps = 0;
  for (std::int64_t e = 0; e < asked && steps < total_steps_; ++e) {
    steps += settings_.batch_tokens == 0
                 ? steps_of_first_
                 : StepsOf(static_cast<std::uint64_t>(e));
    ends.push_back(steps);
  }
  return ends;
}

double Course::epochs_done() const {
  return total_epochs_ * static_cast<double>(progress_.steps) /
         static_cast<double>(total_steps_);
}

std::int64_t Course::EpochsBegun() const {
  return settings_.max_steps > 0
             ? (total_steps_ + steps_of_first_ - 1) / steps_of_first_
             : settings_.epochs;
}

std::int64_t Course::ThawedAfter(std::int64_t steps) const {
  if (settings_.unfreeze_every_epochs == 0) {
    return ThawedBlocks(steps, settings_.unfreeze_every_steps, layers_);
  }
  const std::int64_t epochs =
      std::ranges::upper_bound(epoch_ends_, steps) - epoch_ends_.begin();
  return ThawedBlocks(epochs, settings_.unfreeze_every_epochs, layers_);
}

bool Course::ended_early() const {
  return progress_.early_stopping.worse >= settings_.early_stopping.patience;
}

bool Course::IsOver() const {
  return ended_early() || progress_.steps >= total_steps_;
}

bool Course::EvaluationIsDue() const {
  if (progress_.loss_steps == 0) return false;  // this step has been evaluated
  const std::int64_t every = settings_.evaluate_every_steps;
  return IsOver() ||
         (every > 0 ? progress_.steps % every == 0 : batches_.AtEpochEnd());
}

std::int64_t Course::EvaluationsLeft() const {
  const auto steps = static_cast<double>(progress_.steps);
  const auto total = static_cast<double>(total_steps_);
  const double every = settings_.evaluate_every_steps > 0
                           ? static_cast<double>(settings_.evaluate_every_steps)
                           : total / std::max(total_epochs_, kRounding);
  const double all = std::ceil(total / every - kRounding);
  const double begun = IsOver() ? all : std::floor(steps / every + kRounding);
  return static_cast<std::int64_t>(std::max(0.0, all - begun)) +
         (EvaluationIsDue() ? 1 : 0);
}

bool Course::ReportsStep(std::int64_t step) const {
  const std::int64_t every = settings_.report_every_steps;
  return every > 0 && step % every == 0;
}

}  // namespace frostline::trainer
