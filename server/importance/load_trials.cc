// SPDX-License-Identifier: Apache-2.0
//
// The trials as a question sees them.
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "server/importance/question.h"
#include "server/wire/filter.h"

namespace frostline::server {
namespace {

std::optional<double> UsageOf(const v1::Trial& trial, const std::string& name) {
  const double seconds = trial.usage().train_seconds();
  const std::int64_t parameters = trial.usage().trained_parameters();
  // A usage of zeros says that nobody has measured.
  if (seconds > 0.0 && name == kTrainSeconds) return seconds;
  if ((seconds > 0.0 || parameters > 0) && name == kTrainedParameters) {
    return static_cast<double>(parameters);
  }
  return std::nullopt;
}

// What a trial came to in one of the question's objectives.
std::optional<double> ValueOf(const KnownTrial& known, const std::string& name,
                              std::int64_t step) {
  std::optional<double> value;
  if (step == 0) {
    const auto found = known.shown.metrics().find(name);
    value = found != known.shown.metrics().end() ? found->second
                                                 : UsageOf(known.shown, name);
  } else if (const auto& measured = known.steps.at(step)) {
    const auto found = measured->find(name);
    if (found != measured->end()) value = found->second;
  }
  return value.has_value() && std::isfinite(*value) ? value : std::nullopt;
}

// Where a trial counts at all: with a result or, at a step, however far it
// went.
bool Counts(const v1::Trial& trial, std::int64_t step) {
  return trial.state() == v1::TRIAL_STATE_SUCCEEDED ||
         (step > 0 && trial.state() == v1::TRIAL_STATE_PRUNED);
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
    if (!Counts(known.shown, step)) continue;
    if (ValueOf(known, name, step).has_value()) return absl::OkStatus();
    if (step == 0) {
      for (const auto& metric : known.shown.metrics()) {
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

Observation ObservationOf(const KnownTrial& known,
                          const ImportanceQuestion& question) {
  Observation seen;
  seen.number = known.shown.number();
  seen.point = known.point;
  seen.seed = known.shown.seed();
  seen.repeat = known.shown.repeat();
  seen.cost_s = known.shown.usage().train_seconds();
  seen.trained_parameters =
      static_cast<double>(known.shown.usage().trained_parameters());
  seen.state = static_cast<TrialState>(known.shown.state());
  if (!Counts(known.shown, question.used.at_step())) return seen;
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
                   TrialFilter::Parse(question.used.filter()));
  RETURN_IF_ERROR(CheckTarget(question.used.target(), "options.target",
                              question, study, trials));
  if (!question.used.best_by().empty()) {
    RETURN_IF_ERROR(CheckTarget(question.used.best_by(), "options.best_by",
                                question, study, trials));
  }
  History history;
  for (const auto& [number, known] : trials) {
    if (!filter.Matches(known.shown)) continue;
    history.Put(ObservationOf(known, question));
  }
  return history;
}

}  // namespace frostline::server
