// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter_values.h"

#include <cstddef>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/ids.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::server {
namespace {

// What stands in `map` at the name after the dot of "labels.team".
template <typename Map>
Looked Named(const Map& map, const std::string& field) {
  const auto found = map.find(field.substr(field.find('.') + 1));
  if (found == map.end()) return std::nullopt;
  return found->second;
}

// "TRIAL_STATE_SUCCEEDED" -> "SUCCEEDED".
std::string Short(const std::string& name, const std::string& prefix) {
  return std::string(absl::StripPrefix(name, prefix));
}

Looked Look(const storage::TrialRow& trial, const std::string& field) {
  if (field == "state") {
    const auto state = static_cast<v1::TrialState>(trial.state);
    return Short(v1::TrialState_Name(state), "TRIAL_STATE_");
  }
  if (field == "origin") {
    const auto origin = static_cast<v1::TrialOrigin>(trial.origin);
    return Short(v1::TrialOrigin_Name(origin), "TRIAL_ORIGIN_");
  }
  if (field == "worker") {
    return trial.worker.empty() ? "" : WorkerNameOf(trial.worker);
  }
  if (field == "number") return static_cast<double>(trial.number);
  if (field == "attempt") return static_cast<double>(trial.attempt);
  if (absl::StartsWith(field, "metrics.")) return Named(trial.metrics, field);
  if (absl::StartsWith(field, "labels.")) {
    v1::Trial noted;
    noted.ParseFromString(trial.labels);
    return Named(noted.labels(), field);
  }
  std::size_t index = 0;
  if (!absl::SimpleAtoi(field.substr(7, field.size() - 8), &index) ||
      index >= trial.values.size()) {
    return std::nullopt;
  }
  return trial.values[index];
}

// "adam" of "\"adam\"": choices are kept as JSON.
std::string WithoutQuotes(const std::string& choice) {
  const bool is_text = choice.size() >= 2 && choice.front() == '"';
  return is_text ? choice.substr(1, choice.size() - 2) : choice;
}

Looked LookAtParameter(const Point& point, const FilterTerm& term) {
  if (*term.place >= point.size() || IsAbsent(point[*term.place])) {
    return std::nullopt;
  }
  const double value = point[*term.place];
  const auto at = static_cast<std::size_t>(value);
  if (const auto* levels = std::get_if<Levels>(&term.domain)) {
    return levels->rates[at];
  }
  if (const auto* choices = std::get_if<Categorical>(&term.domain)) {
    return WithoutQuotes(choices->choices[at]);
  }
  return value;
}

Looked Look(const v1::Study& study, const std::string& field) {
  if (field == "state") {
    return Short(v1::StudyState_Name(study.state()), "STUDY_STATE_");
  }
  return Named(study.settings().labels(), field);
}

Looked Look(const v1::Worker& worker, const std::string& field) {
  if (field == "state") {
    return Short(v1::WorkerState_Name(worker.state()), "WORKER_STATE_");
  }
  return Named(worker.labels(), field);
}

// "studies/imdb" of "studies/imdb/trials/7".
std::string StudyOf(const std::string& resource) {
  if (!absl::StartsWith(resource, "studies/")) return "";
  return resource.substr(0, resource.find('/', sizeof("studies/") - 1));
}

Looked Look(const v1::AuditEntry& entry, const std::string& field) {
  if (field == "subject") return entry.subject();
  if (field == "role") return Short(v1::Role_Name(entry.role()), "ROLE_");
  if (field == "method") return entry.method();
  if (field == "study") return StudyOf(entry.resource());
  if (field == "address") return entry.address();
  return entry.outcome();
}

}  // namespace

Looked LookAt(const storage::TrialRow& trial, const FilterTerm& term) {
  return term.place.has_value() ? LookAtParameter(trial.point, term)
                                : Look(trial, term.field);
}

Looked LookAt(const v1::Study& study, const FilterTerm& term) {
  return Look(study, term.field);
}

Looked LookAt(const v1::Worker& worker, const FilterTerm& term) {
  return Look(worker, term.field);
}

Looked LookAt(const v1::AuditEntry& entry, const FilterTerm& term) {
  return Look(entry, term.field);
}

}  // namespace frostline::server
