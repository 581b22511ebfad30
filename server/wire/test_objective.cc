// SPDX-License-Identifier: Apache-2.0
#include "server/wire/test_objective.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "study/objective.h"

namespace frostline::server {
namespace {

struct TestMetric {
  std::string metric;
  std::string field;
};

// The first that trials are compared by.
std::optional<TestMetric> FindTestMetric(const v1::StudySpec& spec) {
  for (int i = 0; i < spec.objectives_size(); ++i) {
    const std::string& metric = spec.objectives(i).metric();
    if (!IsOfTestSplit(metric)) continue;
    return TestMetric{metric, absl::StrCat("objectives[", i, "].metric")};
  }
  for (int i = 0; i < spec.constraints_size(); ++i) {
    const std::string& metric = spec.constraints(i).metric();
    if (!IsOfTestSplit(metric)) continue;
    return TestMetric{metric, absl::StrCat("constraints[", i, "].metric")};
  }
  return std::nullopt;
}

}  // namespace

absl::Status CheckTestObjective(const v1::StudySpec& spec) {
  if (spec.allow_test_objective()) return absl::OkStatus();
  const auto found = FindTestMetric(spec);
  if (!found.has_value()) return absl::OkStatus();
  return MakeError(
      ErrorId::kObjectiveInvalid,
      absl::StrCat("trials would be chosen by ", found->metric,
                   ", and the test split would be none any more"),
      "choose by a metric of the validation rows, e.g. accuracy; or say "
      "allow_test_objective: true, which every report will carry",
      found->field);
}

std::optional<std::string> TestObjectiveWarning(const v1::StudySpec& spec) {
  const auto found = FindTestMetric(spec);
  if (!found.has_value()) return std::nullopt;
  return TestObjectiveSentence(found->metric);
}

}  // namespace frostline::server
