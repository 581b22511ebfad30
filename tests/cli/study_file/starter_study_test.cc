// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/starter_study.h"

#include "cli/study_file/study_file.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StarterFacts Facts() {
  StarterFacts facts;
  facts.id = "my";
  facts.model = "minilm";
  facts.layers = 6;
  facts.longest_text = 512;
  facts.data = "my-data";
  facts.task = "classification";
  facts.rows = 1'000'000;
  facts.largest_class = 0.5;
  facts.text_tokens = 61;
  return facts;
}

TEST(StarterStudy, IsAStudyFileOfFewRowsWhateverTheData) {
  const StarterStudy study = WriteStarterStudy(Facts());
  EXPECT_EQ(study.max_length, 64);
  EXPECT_EQ(study.train_rows, 200);
  EXPECT_EQ(study.metric, "accuracy");
  ASSERT_OK_AND_ASSIGN(const StudyFile file,
                       ParseStudyFile(study.text, "my.yaml"));
  EXPECT_EQ(file.id, "my");
  EXPECT_EQ(file.spec.model().layers(), 6);
  EXPECT_EQ(file.spec.data().train_rows(), 200);
  EXPECT_NEAR(file.spec.data().validation_share(), 0.0002, 1e-9);
  EXPECT_EQ(file.spec.sampler().name(), "auto");
  EXPECT_EQ(file.settings.budget().trials(), 24);
}

TEST(StarterStudy, OfLittleDataItTakesAllThatIsNotHeldOut) {
  StarterFacts facts = Facts();
  facts.rows = 100;
  EXPECT_EQ(WriteStarterStudy(facts).train_rows, 80);
  facts.has_validation = true;
  const StarterStudy study = WriteStarterStudy(facts);
  EXPECT_EQ(study.train_rows, 100);
  EXPECT_THAT(study.text, Not(HasSubstr("validation_share")));
  EXPECT_THAT(study.text, Not(HasSubstr("train_rows")));
}

TEST(StarterStudy, TheMetricIsOfTheTaskAndOfTheClasses) {
  StarterFacts facts = Facts();
  facts.largest_class = 0.95;
  EXPECT_EQ(WriteStarterStudy(facts).metric, "f1_macro");
  facts.task = "tagging";
  EXPECT_EQ(WriteStarterStudy(facts).metric, "f1");
  facts.task = "regression";
  EXPECT_THAT(WriteStarterStudy(facts).text, HasSubstr("minimize: rmse"));
}

TEST(StarterStudy, TextsAreCutWhereTheModelOrTheClockWantsIt) {
  StarterFacts facts = Facts();
  facts.text_tokens = 3;
  EXPECT_EQ(WriteStarterStudy(facts).max_length, 16);
  facts.text_tokens = 8'000;
  EXPECT_EQ(WriteStarterStudy(facts).max_length, 128);
  facts.longest_text = 40;
  EXPECT_EQ(WriteStarterStudy(facts).max_length, 40);
}

}  // namespace
}  // namespace frostline::cli
