// SPDX-License-Identifier: Apache-2.0
//
// What a trial of several tasks does besides: whose batches come when, which
// weights each trains, what is measured of all of them.
#include <algorithm>
#include <string>
#include <utility>

#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {
namespace {

constexpr char kMean[] = "mean";
constexpr char kConflicts[] = "gradient_conflicts";

}  // namespace

std::vector<TaskOptions> FineTuning::OptionsOfTasks() const {
  std::vector<TaskOptions> options;
  if (!setup_.many()) return options;  // as of old, label by label
  for (const TaskSetup& task : setup_.tasks) {
    options.push_back({task.request.loss_weight, task.request.freeze});
  }
  return options;
}

// Then it is frozen: its prefix can be shared.
void FineTuning::FreezeWhatNoTaskTrains() {
  if (!setup_.many()) return;
  for (auto& [module, rate] : rates_) {
    const bool of_head = module.starts_with("head.");
    const bool trains = std::ranges::any_of(
        setup_.tasks, [&, name = module](const TaskSetup& task) {
          const bool another = of_head && name != "head." + task.request.name;
          return !another && !task.request.freeze.contains(name);
        });
    if (trains || rate == 0.0) continue;
    rate = 0.0;
    listener_.Log("frozen, as no task trains it: " + module);
  }
}

void FineTuning::MakeBatches() {
  std::vector<std::vector<std::uint32_t>> lengths;
  MixOptions options;
  options.mixing = settings_.mixing;
  for (std::size_t i = 0; i < train_.size(); ++i) {
    lengths.emplace_back();
    for (const std::uint32_t row : train_[i].labelled()) {
      lengths.back().push_back(train_[i].lengths()[row]);
    }
    const double share = setup_.tasks[i].request.share;
    options.shares.push_back(
        share > 0.0 ? share : static_cast<double>(lengths.back().size()));
  }
  options.batches = {
      .batch_size = static_cast<std::size_t>(settings_.batch_size),
      .batch_tokens = static_cast<std::size_t>(settings_.batch_tokens),
      .bucket = settings_.bucket,
      .seed = batch_seed_};
  batches_.emplace(lengths, std::move(options));
}

std::vector<std::string> FineTuning::MeasuredNames() const {
  std::vector<std::string> names;
  for (const TaskSetup& task : setup_.tasks) {
    for (const std::string& name : MetricNames(task.head, task.data->labels)) {
      names.push_back(task.validation.name + name);
    }
  }
  if (setup_.many()) names.emplace_back(kMean);
  if (settings_.surgery != Surgery::kNone) names.emplace_back(kConflicts);
  names.emplace_back("train_loss");
  return names;
}

bool FineTuning::HasTests() const {
  return setup_.many() &&
         std::ranges::all_of(setup_.tasks, [](const TaskSetup& task) {
           const auto is_test = [&task](const EvaluationSet& other) {
             return task.SetOf(other) == "test" && other.part.data->labelled();
           };
           return std::ranges::any_of(task.others, is_test);
         });
}

void FineTuning::AddMean(const std::string& set, Metrics& metrics) const {
  if (!setup_.many()) return;
  double sum = 0.0;
  for (const TaskSetup& task : setup_.tasks) {
    sum += metrics.at(task.request.prefix() + set +
                      FirstMetric(task.head, task.data->labels));
  }
  metrics[set + kMean] = sum / static_cast<double>(setup_.tasks.size());
}

Expected<bool> FineTuning::EvaluateAll(Metrics& metrics,
                                       std::vector<Scores>& all) {
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const EvaluationSet& set = setup_.tasks[i].validation;
    ASSIGN_OR_FAULT(std::optional<Scores> scores, Evaluate(i, set));
    if (!scores) return false;
    for (const auto& [name, value] : scores->Compute()) {
      metrics[set.name + name] = value;
    }
    all.push_back(*std::move(scores));
  }
  AddMean("", metrics);
  if (settings_.surgery != Surgery::kNone) {
    metrics[kConflicts] = static_cast<double>(progress_.conflicts);
  }
  return true;
}

// Keeps each task's first metric and loss, and what the study asks for.
Metrics FineTuning::Fitting(const Metrics& metrics, std::size_t most) const {
  if (metrics.size() <= most) return metrics;
  Metrics fitting;
  const auto take = [&](const std::string& name) {
    const auto found = metrics.find(name);
    if (found != metrics.end()) fitting.insert(*found);
  };
  for (const TaskSetup& task : setup_.tasks) {
    const std::string first = FirstMetric(task.head, task.data->labels);
    for (const std::string& name : {first, std::string("loss")}) {
      take(task.request.prefix() + name);
      take(task.request.prefix() + "test." + name);
    }
  }
  for (const TrialObjective& objective : trial_.objectives) {
    take(objective.metric);
  }
  take(settings_.early_stopping.metric);
  for (const auto& [name, value] : metrics) {
    const std::string head = name.substr(0, name.find('.'));
    const bool of_task = std::ranges::any_of(
        setup_.tasks,
        [&](const TaskSetup& task) { return task.request.name == head; });
    if (!of_task) fitting.emplace(name, value);
  }
  return fitting;
}

}  // namespace frostline::trainer
