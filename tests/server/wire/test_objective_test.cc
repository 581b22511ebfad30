// SPDX-License-Identifier: Apache-2.0
#include "server/wire/test_objective.h"

#include "gmock/gmock.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;

v1::StudySpec Maximizing(const std::string& metric) {
  v1::StudySpec spec = ExampleSpec();
  spec.mutable_objectives(0)->set_metric(metric);
  return spec;
}

TEST(TestObjective, IsRefusedUnlessAllowed) {
  for (const char* const metric : {"test.accuracy", "sts.test.pearson"}) {
    v1::StudySpec spec = Maximizing(metric);
    EXPECT_THAT(CheckTestObjective(spec),
                FailsAt(ErrorId::kObjectiveInvalid, "objectives[0].metric"));
    spec.set_allow_test_objective(true);
    EXPECT_OK(CheckTestObjective(spec));
  }
}

TEST(TestObjective, OtherMetricsAndOtherSetsPass) {
  for (const char* const metric :
       {"accuracy", "imdb.accuracy", "latest.accuracy", "test_accuracy"}) {
    EXPECT_OK(CheckTestObjective(Maximizing(metric))) << metric;
    EXPECT_FALSE(TestObjectiveWarning(Maximizing(metric)).has_value());
  }
}

// A trial that breaks one is worse than any that does not.
TEST(TestObjective, AConstraintChoosesToo) {
  v1::StudySpec spec = ExampleSpec();
  spec.add_constraints()->set_metric("test.loss");
  EXPECT_THAT(CheckTestObjective(spec),
              FailsAt(ErrorId::kObjectiveInvalid, "constraints[0].metric"));
}

TEST(TestObjective, ReportsSayItAllowedOrNot) {
  const auto warning = TestObjectiveWarning(Maximizing("test.accuracy"));
  ASSERT_TRUE(warning.has_value());
  EXPECT_THAT(*warning, HasSubstr("trials are chosen by test.accuracy"));
}

}  // namespace
}  // namespace frostline::server
