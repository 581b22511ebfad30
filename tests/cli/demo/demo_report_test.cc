// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cli/demo/demo.h"
#include "cli/demo/demo_registry.h"
#include "cli/study_file/study_file.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

v1::PlannedModule& AddModule(v1::FreezePlan& plan, const std::string& name,
                             bool freeze, double cost) {
  v1::PlannedModule& module = *plan.add_modules();
  module.set_module(name);
  module.set_freeze(freeze);
  module.mutable_cost_of_freezing()->set_value(cost);
  module.set_reason("a reason: with # marks");
  return module;
}

v1::SearchSpace SpaceAfter(const v1::FreezePlan& plan) {
  const auto study =
      ParseStudyFile(NextStudyFile(kDemoRecipe, "demo-next", plan), "next");
  EXPECT_OK(study.status());
  EXPECT_EQ(study->id, "demo-next");
  EXPECT_EQ(study->spec.training().batch_size(), 32);
  return study->spec.space();
}

TEST(DemoPlan, WritesAStudyFileThatFreezesWhatThePlanFreezes) {
  v1::FreezePlan plan;
  AddModule(plan, "embeddings", true, 0.0);
  AddModule(plan, "layer.3", false, 0.1);
  AddModule(plan, "pooler", false, std::nan("")).set_rate(1e-3);
  const v1::SearchSpace space = SpaceAfter(plan);
  ASSERT_EQ(space.modules_size(), 4);  // with pooler and head
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_EQ(space.modules(0).fixed(), 0.0);
  EXPECT_EQ(space.modules(1).levels().rates_size(), 5);
}

TEST(DemoPlan, FreezesOnlyWhatIsSureWhereSomethingIs) {
  v1::FreezePlan plan;
  AddModule(plan, "embeddings", true, 0.0).set_advice(v1::PLAN_ADVICE_FREEZE);
  AddModule(plan, "layer.0", true, 0.0).set_advice(v1::PLAN_ADVICE_NOT_KNOWN);
  const v1::SearchSpace space = SpaceAfter(plan);
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_TRUE(space.modules(1).has_levels());
}

TEST(DemoPlan, LeavesSomethingToSearch) {
  v1::FreezePlan plan;
  AddModule(plan, "embeddings", true, 0.01);
  AddModule(plan, "layer.0", true, 0.02);
  const v1::SearchSpace space = SpaceAfter(plan);
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_TRUE(space.modules(1).has_levels());
}

TEST(WaysOn, OfTheSyntheticDemoLookAtItsStudy) {
  EXPECT_EQ(WaysOnText({.folder = "demo"}, "frostline"),
            "Next, type\n"
            "  frostline serve --data demo &\n"
            "  frostline study show demo\n");
  EXPECT_EQ(WaysOnText({.folder = "demo", .has_importance = true}, "frostline"),
            "Next, type\n"
            "  frostline serve --data demo &\n"
            "  frostline study show demo\n"
            "  frostline importance demo\n");
}

TEST(WaysOn, OfTheRealOneSearchAgain) {
  const WaysOn ways = {.folder = "my demo",
                       .has_importance = true,
                       .has_next = true,
                       .has_example = true};
  EXPECT_EQ(WaysOnText(ways, "bin/frostline"),
            "Next, type\n"
            "  bin/frostline serve --data 'my demo' &\n"
            "  bin/frostline worker --registry 'my demo/registry' --slots 2 &\n"
            "  bin/frostline study create 'my demo/next.yaml'"
            "  # then: study watch demo-next\n"
            "  bin/frostline report example -o example.html\n");
}

}  // namespace
}  // namespace frostline::cli
