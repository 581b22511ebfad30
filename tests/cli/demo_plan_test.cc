// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_plan.h"

#include <cmath>

#include "cli/demo_recipe.h"
#include "cli/study_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

using ::testing::HasSubstr;

class DemoPlanTest : public testing::Test {
 protected:
  void AddModule(const std::string& name, int rank, bool distinguishable,
                 double direction) {
    v1::ParameterImportance& added = *report_.add_parameters();
    added.set_parameter(name);
    added.set_rank(rank);
    added.set_distinguishable(distinguishable);
    added.set_direction(direction);
  }
  // Two trials, so that there are enough to compare.
  void AddTrials(const std::string& module, double rate, double accuracy) {
    for (int i = 0; i < 2; ++i) {
      v1::Trial trial;
      v1::ParameterValue& value = *trial.add_parameters();
      value.set_name(module);
      value.mutable_value()->set_number_value(rate);
      trial.add_values(accuracy);
      trials_.push_back(trial);
    }
  }

  v1::ImportanceReport report_;
  std::vector<v1::Trial> trials_;
};

TEST_F(DemoPlanTest, FreezesWhatHasNoEffectAndIsNoWorseFrozen) {
  AddModule("layer.0", 2, false, 0.0);
  AddTrials("layer.0", 0.0, 0.9);
  AddTrials("layer.0", 1e-4, 0.8);
  const NextStep step = PlanNext(report_, trials_).at(0);
  EXPECT_TRUE(step.freeze);
  EXPECT_EQ(step.frozen.trials, 2);
  EXPECT_DOUBLE_EQ(step.frozen.mean, 0.9);
  EXPECT_DOUBLE_EQ(step.trained.mean, 0.8);
}

TEST_F(DemoPlanTest, GoesOnSearchingWhatWasBetterTrained) {
  AddModule("layer.0", 2, false, -1.0);
  AddTrials("layer.0", 0.0, 0.8);
  AddTrials("layer.0", 1e-4, 0.9);
  EXPECT_FALSE(PlanNext(report_, trials_).at(0).freeze);
}

TEST_F(DemoPlanTest, FreezesWhatMattersOnlyWhereLowRatesAreBetter) {
  for (const char* const name : {"layer.0", "layer.1"}) {
    AddTrials(name, 0.0, 0.9);
    AddTrials(name, 1e-4, 0.8);
  }
  AddModule("layer.0", 2, true, -0.8);
  AddModule("layer.1", 3, true, 0.8);
  const auto steps = PlanNext(report_, trials_);
  EXPECT_TRUE(steps.at(0).freeze);
  EXPECT_FALSE(steps.at(1).freeze);
}

TEST_F(DemoPlanTest, NeverFreezesTheMostImportantModule) {
  AddModule("layer.0", 1, false, -1.0);
  AddTrials("layer.0", 0.0, 0.9);
  AddTrials("layer.0", 1e-4, 0.8);
  EXPECT_FALSE(PlanNext(report_, trials_).at(0).freeze);
}

TEST_F(DemoPlanTest, SaysWhenThereIsNothingToCompare) {
  AddModule("layer.0", 2, false, 0.0);
  AddTrials("layer.0", 1e-4, 0.8);
  const auto steps = PlanNext(report_, trials_);
  EXPECT_FALSE(steps.at(0).freeze);
  EXPECT_TRUE(std::isnan(steps.at(0).frozen.mean));
  EXPECT_THAT(RenderNext(steps, 0), HasSubstr("too few trials to say"));
}

TEST_F(DemoPlanTest, WritesAStudyFileThatFreezesThem) {
  std::vector<NextStep> steps(2);
  steps[0] = {"embeddings", {}, {}, true, "no effect: none"};
  steps[1] = {"layer.3", {}, {}, false, "matters # most"};
  ASSERT_OK_AND_ASSIGN(
      const StudyFile study,
      ParseStudyFile(NextStudyFile(kDemoRecipe, "demo-next", steps), "next"));
  EXPECT_EQ(study.id, "demo-next");
  EXPECT_EQ(study.spec.training().batch_size(), 32);
  const v1::SearchSpace& space = study.spec.space();
  ASSERT_EQ(space.modules_size(), 4);  // with pooler and head
  EXPECT_EQ(space.modules(0).fixed(), 0.0);
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_EQ(space.modules(1).levels().rates_size(), 5);
}

}  // namespace
}  // namespace frostline
