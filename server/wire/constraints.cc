// SPDX-License-Identifier: Apache-2.0
#include "server/wire/constraints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double OneOf(const storage::TrialRow& row,
             const v1::MetricConstraint& constraint) {
  const auto metric = row.metrics.find(constraint.metric());
  if (metric == row.metrics.end()) {
    return row.state == TrialState::kPruned ? -kInfinity : kInfinity;
  }
  const double above = metric->second - constraint.upper_bound();
  return std::isnan(above) ? kInfinity : above;
}

}  // namespace

absl::Status CheckConstraints(const v1::StudySpec& spec) {
  if (spec.constraints_size() > kMaxConstraints) {
    return MakeError(
        ErrorId::kFieldTooLarge,
        absl::StrCat("there are ", spec.constraints_size(), " constraints"),
        absl::StrCat("give at most ", kMaxConstraints), "constraints");
  }
  std::set<std::string> seen;
  for (int i = 0; i < spec.constraints_size(); ++i) {
    const v1::MetricConstraint& constraint = spec.constraints(i);
    const std::string field = absl::StrCat("constraints[", i, "]");
    const std::string& metric = constraint.metric();
    if (metric.empty() || metric.size() > kMaxMetricNameBytes) {
      return MakeError(ErrorId::kRequestInvalid,
                       metric.empty() ? "a constraint names no metric"
                                      : "a constraint's metric has a name of "
                                        "more bytes than any metric",
                       "name a metric that the trainer reports at the end",
                       field + ".metric");
    }
    if (!seen.insert(metric).second) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat(metric, " is constrained twice"),
                       "keep the lower of the two bounds", field + ".metric");
    }
    if (!std::isfinite(constraint.upper_bound())) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("the bound of ", metric, " is ",
                                    constraint.upper_bound()),
                       "give a finite bound, or leave the constraint out",
                       field + ".upper_bound");
    }
  }
  return absl::OkStatus();
}

std::vector<double> ConstraintsOf(const storage::TrialRow& row,
                                  const v1::StudySpec& spec) {
  std::vector<double> constraints;
  const bool is_measured =
      row.state == TrialState::kSucceeded || row.state == TrialState::kPruned;
  if (!is_measured) return constraints;
  for (const v1::MetricConstraint& constraint : spec.constraints()) {
    constraints.push_back(OneOf(row, constraint));
  }
  return constraints;
}

double ViolationOf(const storage::TrialRow& row, const v1::StudySpec& spec) {
  double violation = 0.0;
  for (const double one : ConstraintsOf(row, spec)) {
    violation += std::max(0.0, one);
  }
  return violation;
}

std::vector<double> RankedValuesOf(const storage::TrialRow& row,
                                   const v1::StudySpec& spec) {
  std::vector<double> values = row.values;
  if (spec.constraints_size() > 0) values.push_back(ViolationOf(row, spec));
  return values;
}

}  // namespace frostline::server
