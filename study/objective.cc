// SPDX-License-Identifier: Apache-2.0
#include "study/objective.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

// `field` is where the range would be found in the study.
absl::Status CheckRange(const Objective& objective, const std::string& field) {
  if (!objective.range.has_value()) return absl::OkStatus();
  const MetricRange& range = *objective.range;
  const auto bad = [&](const std::string& cause, const std::string& fix) {
    return MakeError(ErrorId::kRangeInvalid, cause, fix, field);
  };
  if (std::isnan(range.lo) || std::isnan(range.hi)) {
    return bad(absl::StrCat("an end of the range of ", objective.metric,
                            " is no number"),
               "give finite ends, or leave one out where it is open");
  }
  if (range.lo < range.hi) return absl::OkStatus();
  return bad(absl::StrCat("the range of ", objective.metric, " goes from ",
                          range.lo, " to ", range.hi),
             "give the lower end first: {range: [0, 1]}");
}

}  // namespace

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
    RETURN_IF_ERROR(
        CheckRange(objectives[i], absl::StrCat("objectives[", i, "].range")));
  }
  return absl::OkStatus();
}

RangeInForce EffectiveRange(const Objective& objective,
                            const std::vector<double>& seen) {
  RangeInForce in_force;
  if (objective.range.has_value()) {
    in_force.source = RangeSource::kStated;
    in_force.claimed = *objective.range;
  } else {
    in_force.claimed = PresumedRange(objective.metric);
    if (in_force.claimed.IsBounded()) in_force.source = RangeSource::kPresumed;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!std::isfinite(seen[i]) || in_force.claimed.Holds(seen[i])) continue;
    in_force.broken_by = i;
    in_force.broken_value = seen[i];
    return in_force;
  }
  in_force.range = in_force.claimed;
  return in_force;
}

std::string OutOfRangeSentence(const Objective& objective,
                               const RangeInForce& range, std::int64_t number) {
  const bool stated = range.source == RangeSource::kStated;
  return absl::StrCat(
      "trial ", number, " has ", objective.metric, " ", range.broken_value,
      ", outside of the ", stated ? "stated " : "presumed ",
      DescribeRange(range.claimed), ": predictions are bound to no range. ",
      stated ? "The next study should state another"
             : "A study can state it: {range: [lo, hi]}");
}

}  // namespace frostline
