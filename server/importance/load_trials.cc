// SPDX-License-Identifier: Apache-2.0
//
// The trials as a question sees them.
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/importance/question.h"
#include "server/wire/filter.h"

namespace frostline::server {
namespace {

std::optional<double> LoadedUsageOf(const Observation& seen,
                                    const std::string& name) {
  // A usage of zeros says that nobody has measured.
  if (seen.cost_s > 0.0 && name == kTrainSeconds) return seen.cost_s;
  if ((seen.cost_s > 0.0 || seen.trained_parameters > 0.0) &&
      name == kTrainedParameters) {
    return seen.trained_parameters;
  }
  return std::nullopt;
}

// What a trial came to in one of the question's objectives.
std::optional<double> ValueOf(const KnownTrial& known, const std::string& name,
                              std::int64_t step) {
  std::optional<double> value;
  if (step == 0) {
    const auto found = known.row.metrics.find(name);
    value = found != known.row.metrics.end() ? found->second
                                             : LoadedUsageOf(known.seen, name);
  } else if (const auto& measured = known.steps.at(step)) {
    const auto found = measured->find(name);
    if (found != measured->end()) value = found->second;
  }
  return value.has_value() && std::isfinite(*value) ? value : std::nullopt;
}

// Where a trial counts at all: with a result or, at a step, however far it
// went.
bool Counts(const storage::TrialRow& trial, std::int64_t step) {
  return trial.state == TrialState::kSucceeded ||
         (step > 0 && trial.state == TrialState::kPruned);
}

absl::Status CheckTarget(const std::string& name, const std::string& field,
                         const ImportanceQuestion& question,
                         const CheckedStudy& study,
                         const std::map<std::int64_t, KnownTrial>& trials) {
  const std::int64_t step = question.used.at_step();
  std::set<std::string> names;
  for (const Objective& objective : study.objectives) {
    names.insert(objective.metric);
  }
  if (step == 0) names.insert({kTrainSeconds, kTrainedParameters});
  if (names.contains(name)) return absl::OkStatus();
  for (const auto& [number, known] : trials) {
    if (!Counts(known.row, step)) continue;
    if (ValueOf(known, name, step).has_value()) return absl::OkStatus();
    if (step == 0) {
      for (const auto& metric : known.row.metrics) {
        names.insert(metric.first);
      }
    } else if (const auto& measured = known.steps.at(step)) {
      for (const auto& metric : *measured) names.insert(metric.first);
    }
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("no trial has a \"", name, "\"",
                   step > 0 ? absl::StrCat(" at step ", step) : ""),
      absl::StrCat("there are: ", ListOf(names)), field);
}

// The trial with the values that the question asks for.
Observation AnswerTo(const ImportanceQuestion& question,
                     const KnownTrial& known) {
  Observation seen = known.seen;
  seen.values.clear();
  if (!Counts(known.row, question.used.at_step())) return seen;
  // A pruned trial that got to the step has a result there like any other.
  seen.state = TrialState::kSucceeded;
  for (const Objective& objective : question.objectives) {
    const std::optional<double> value =
        ValueOf(known, objective.metric, question.used.at_step());
    if (value.has_value()) seen.values.push_back(*value);
  }
  if (seen.values.size() < question.objectives.size()) seen.values.clear();
  return seen;
}

}  // namespace

std::optional<double> FinalValueOf(const KnownTrial& known,
                                   const std::string& metric) {
  return ValueOf(known, metric, 0);
}

absl::StatusOr<History> SelectHistory(
    const ImportanceQuestion& question, const CheckedStudy& study,
    const std::map<std::int64_t, KnownTrial>& trials) {
  ASSIGN_OR_RETURN(const TrialFilter filter,
                   TrialFilter::Parse(question.used.filter(), NamesOf(study)));
  RETURN_IF_ERROR(CheckTarget(question.used.target(), "options.target",
                              question, study, trials));
  if (!question.used.best_by().empty()) {
    RETURN_IF_ERROR(CheckTarget(question.used.best_by(), "options.best_by",
                                question, study, trials));
  }
  History history;
  for (const auto& [number, known] : trials) {
    if (!filter.Matches(known.row)) continue;
    history.Put(AnswerTo(question, known));
  }
  return history;
}

}  // namespace frostline::server
