// SPDX-License-Identifier: Apache-2.0
#include "cli/view/objective_range.h"

#include "absl/strings/str_cat.h"
#include "cli/view/format.h"

namespace frostline::cli {

MetricRange ClaimedRange(const v1::Objective& objective) {
  if (!objective.has_range()) return PresumedRange(objective.metric());
  MetricRange range;
  if (objective.range().has_lo()) range.lo = objective.range().lo();
  if (objective.range().has_hi()) range.hi = objective.range().hi();
  return range;
}

std::string OutOfRangeText(const v1::StudySpec& spec,
                           const v1::ImportedTrial& trial) {
  for (const v1::Objective& objective : spec.objectives()) {
    const auto told = trial.metrics().find(objective.metric());
    if (told == trial.metrics().end()) continue;
    const MetricRange range = ClaimedRange(objective);
    if (range.Holds(told->second)) continue;
    return absl::StrCat(
        objective.metric(), " ", FormatNumber(told->second), " is not in ",
        DescribeRange(range),
        objective.has_range() ? "" : ", presumed from its name",
        ": it stands, and predictions are bound to no range from now on");
  }
  return "";
}

}  // namespace frostline::cli
