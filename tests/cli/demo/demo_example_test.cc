// SPDX-License-Identifier: Apache-2.0
//
// The demo's recorded study, as it is built in.
#include "cli/demo/demo_example.h"

#include "base/error.h"
#include "cli/demo/demo_recipe.h"
#include "cli/study_file/study_file.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

TEST(DemoExample, HasTrialsOfItsStudy) {
  ASSERT_OK_AND_ASSIGN(const StudyFile study,
                       ParseStudyFile(kExampleRecipe, "example"));
  ASSERT_OK_AND_ASSIGN(const auto trials, ReadImported(kExampleTrials));
  EXPECT_EQ(study.id, "example");
  ASSERT_EQ(trials.size(), 200U);
  const std::string metric = study.spec.objectives(0).metric();
  for (const v1::ImportedTrial& trial : trials) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED);
    EXPECT_EQ(trial.parameters_size(), 7);
    EXPECT_EQ(trial.metrics().count(metric), 1U);
    EXPECT_GT(trial.usage().train_seconds(), 0.0);
  }
}

TEST(DemoExample, RefusesALineThatIsNoTrial) {
  EXPECT_TRUE(HasErrorId(ReadImported("{\"state\": 1}\n{\n").status(),
                         ErrorId::kInternal));
}

}  // namespace
}  // namespace frostline::cli
