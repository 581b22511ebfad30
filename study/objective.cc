// SPDX-License-Identifier: Apache-2.0
#include "study/objective.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline {

bool Dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

absl::Status CheckObjectives(const std::vector<Objective>& objectives) {
  const auto bad = [](const std::string& cause, const std::string& fix,
                      const std::string& field) {
    return MakeError(ErrorId::kObjectiveInvalid, cause, fix, field);
  };
  if (objectives.empty()) {
    return bad("the study has no objective",
               "name a metric, e.g. {metric: accuracy, direction: maximize}",
               "objectives");
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const std::string field = absl::StrCat("objectives[", i, "].metric");
    if (objectives[i].metric.empty()) {
      return bad("an objective names no metric", "name the metric", field);
    }
    if (!seen.insert(objectives[i].metric).second) {
      return bad(absl::StrCat(objectives[i].metric, " is listed twice"),
                 "list each metric once", field);
    }
  }
  return absl::OkStatus();
}

}  // namespace frostline
