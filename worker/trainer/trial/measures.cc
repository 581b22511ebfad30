// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/measures.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/data/load.h"

namespace frostline::trainer {
namespace {

constexpr char kMean[] = "mean";

// Returns the names of what each evaluation measures, for all tasks.
std::vector<std::string> MeasuredNames(const TrialMessage& trial,
                                       const TrialSetup& setup) {
  std::vector<std::string> names;
  for (const TaskSetup& task : setup.tasks) {
    for (const std::string& name : MetricNames(task.head, task.data->labels)) {
      names.push_back(task.validation.name + name);
    }
  }
  if (setup.many()) names.emplace_back(kMean);
  if (trial.training.surgery != Surgery::kNone) {
    names.emplace_back(kConflictsMetric);
  }
  names.emplace_back("train_loss");
  return names;
}

// Returns "test" or the id of a data set, after the task's name if it has one.
std::string ShownName(const EvaluationSet& other) {
  return other.name.substr(0, other.name.size() - 1);
}

}  // namespace

Expected<Done> CheckMetrics(const TrialMessage& trial,
                            const TrialSetup& setup) {
  std::vector<std::string> names = MeasuredNames(trial, setup);
  const auto known = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  const std::string& stopping = trial.training.early_stopping.metric;
  const bool stopping_known = stopping.empty() || known(stopping);
  for (const TaskSetup& task : setup.tasks) {
    for (const EvaluationSet& other : task.others) {
      if (!other.part.data->labelled()) continue;
      for (const std::string& name :
           MetricNames(task.head, task.data->labels)) {
        names.push_back(other.name + name);
      }
    }
  }
  if (HaveTests(setup)) names.emplace_back("test.mean");
  names.insert(names.end(), {"train_seconds", "trained_parameters",
                             "peak_memory_mib", "steps", "kept_step"});
  std::string missing = stopping_known ? "" : stopping;
  for (const TrialObjective& objective : trial.objectives) {
    if (!known(objective.metric)) missing = objective.metric;
  }
  if (missing.empty()) return Done{};
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return Fault{FaultKind::kMisuse, "this task has no metric " + Shown(missing),
               "use one of " + all};
}

bool StopsByMaximum(const TrialMessage& trial) {
  const std::string& metric = trial.training.early_stopping.metric;
  for (const TrialObjective& objective : trial.objectives) {
    if (objective.metric == metric) return objective.maximize;
  }
  return metric != "train_loss" && metric != "loss" && metric != "mse" &&
         metric != "rmse" && metric != "perplexity";
}

TrialObjective WhatToKeepBy(const TrialMessage& trial,
                            const TrialSetup& setup) {
  if (!trial.training.keep_best) return {};
  const std::vector<std::string> names = MeasuredNames(trial, setup);
  for (const TrialObjective& objective : trial.objectives) {
    std::string metric = objective.metric;
    for (const TaskSetup& task : setup.tasks) {
      for (const EvaluationSet& other : task.others) {
        if (!metric.starts_with(other.name)) continue;
        metric.replace(0, other.name.size(), task.validation.name);
      }
    }
    if (metric == "test.mean") metric = "mean";
    if (std::ranges::find(names, metric) == names.end()) continue;
    return {std::move(metric), objective.maximize};
  }
  return {trial.training.early_stopping.metric, StopsByMaximum(trial)};
}

bool HaveTests(const TrialSetup& setup) {
  return setup.many() &&
         std::ranges::all_of(setup.tasks, [](const TaskSetup& task) {
           const auto is_test = [&task](const EvaluationSet& other) {
             return task.SetOf(other) == "test" && other.part.data->labelled();
           };
           return std::ranges::any_of(task.others, is_test);
         });
}

void AddMean(const TrialSetup& setup, const std::string& set,
             Metrics& metrics) {
  if (!setup.many()) return;
  double sum = 0.0;
  for (const TaskSetup& task : setup.tasks) {
    sum += metrics.at(task.request.prefix() + set +
                      FirstMetric(task.head, task.data->labels));
  }
  metrics[set + kMean] = sum / static_cast<double>(setup.tasks.size());
}

Metrics Fitting(const TrialMessage& trial, const TrialSetup& setup,
                const Metrics& metrics, std::size_t most) {
  if (metrics.size() <= most) return metrics;
  Metrics fitting;
  const auto take = [&](const std::string& name) {
    const auto found = metrics.find(name);
    if (found != metrics.end()) fitting.insert(*found);
  };
  for (const TaskSetup& task : setup.tasks) {
    const std::string first = FirstMetric(task.head, task.data->labels);
    for (const std::string& name : {first, std::string("loss")}) {
      take(task.request.prefix() + name);
      take(task.request.prefix() + "test." + name);
    }
  }
  for (const TrialObjective& objective : trial.objectives) {
    take(objective.metric);
  }
  take(trial.training.early_stopping.metric);
  for (const auto& [name, value] : metrics) {
    const std::string head = name.substr(0, name.find('.'));
    const bool of_task = std::ranges::any_of(
        setup.tasks,
        [&](const TaskSetup& task) { return task.request.name == head; });
    if (!of_task) fitting.emplace(name, value);
  }
  return fitting;
}

void LogWordsCut(const TrialSetup& setup, TrialListener& listener) {
  const auto log = [&](const std::string& set, const TokenStore& tokens,
                       const char* what) {
    if (tokens.unread_total() == 0) return;
    listener.Log(set + ": " + std::to_string(tokens.unread_total()) + " of " +
                 std::to_string(tokens.word_total()) +
                 " words are cut off by training.max_length, " + what);
  };
  constexpr char kWrong[] = "and count as wrong (metric words_cut)";
  for (const TaskSetup& task : setup.tasks) {
    const std::string of = task.request.prefix();
    log(of + "training rows", *task.train, "and nothing is learnt from them");
    log(of + "validation rows", *task.validation.tokens, kWrong);
    for (const EvaluationSet& other : task.others) {
      log(ShownName(other), *other.tokens, kWrong);
    }
  }
}

void LogAnswersCut(const TrialSetup& setup, TrialListener& listener) {
  const auto log = [&](const std::string& set, const TokenStore& tokens) {
    if (tokens.cut_total() == 0) return;
    listener.Log(set + ": " + std::to_string(tokens.cut_total()) + " of " +
                 std::to_string(tokens.size()) +
                 " answers are cut off by training.max_length (metric "
                 "answers_cut)");
  };
  for (const TaskSetup& task : setup.tasks) {
    const std::string of = task.request.prefix();
    log(of + "training rows", *task.train);
    log(of + "validation rows", *task.validation.tokens);
    for (const EvaluationSet& other : task.others) {
      log(ShownName(other), *other.tokens);
    }
  }
}

void LogLabelsMissing(const TrialSetup& setup, TrialListener& listener) {
  const auto log = [&](const std::string& set, const DataPart& part,
                       const LabelSet& labels) {
    std::string all;
    for (const std::string& label : LabelsWithoutRows(part, labels)) {
      all += (all.empty() ? "" : ", ") + Shown(label);
    }
    if (!part.data->labelled() || all.empty()) return;
    listener.Log(set + ": no row has the label " + all +
                 " (metric labels_missing)");
  };
  for (const TaskSetup& task : setup.tasks) {
    const LabelSet& labels = task.data->labels;
    if (labels.size() == 0) continue;
    log(task.request.prefix() + "validation rows", task.validation.part,
        labels);
    for (const EvaluationSet& other : task.others) {
      log(ShownName(other), other.part, labels);
    }
  }
}

}  // namespace frostline::trainer
