// SPDX-License-Identifier: Apache-2.0
#include "server/wire/predicted_sets.h"

#include "gmock/gmock.h"
#include "server/wire/training_bounds.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

v1::StudySpec Predicting(const std::vector<std::string>& sets) {
  v1::StudySpec spec;
  for (const std::string& set : sets) {
    spec.mutable_training()->add_predictions(set);
  }
  return spec;
}

TEST(PredictedSets, OfEveryStudyAreTheRowsItTrainsAndValidatesWith) {
  EXPECT_OK(CheckTrainingBounds(Predicting({"validation", "dev", "train"})));
}

TEST(PredictedSets, TheTestSplitMustBeThere) {
  v1::StudySpec spec = Predicting({"dev", "test"});
  const absl::Status status = CheckTrainingBounds(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.predictions[1]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("data has no test split"),
                    HasSubstr("give data.test_split, or name some of "
                              "validation, train")));
  spec.mutable_data()->set_test_split("test");
  EXPECT_OK(CheckTrainingBounds(spec));
}

TEST(PredictedSets, FurtherDataSetsAreThoseThatAreEvaluated) {
  v1::StudySpec spec = Predicting({"imdb"});
  spec.mutable_training()->add_also_evaluate("imbd");
  spec.mutable_training()->add_also_evaluate("yelp");
  const absl::Status status = CheckTrainingBounds(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.predictions[0]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("names 'imdb'"), HasSubstr("mean 'imbd'?"),
                    HasSubstr("validation, train, imbd, yelp")));
  spec.mutable_training()->add_also_evaluate("imdb");
  EXPECT_OK(CheckTrainingBounds(spec));
}

TEST(PredictedSets, OfSeveralTasksEachMustHaveATestSplit) {
  v1::StudySpec spec = Predicting({"test"});
  for (const char* const name : {"sst", "sts"})
    spec.add_tasks()->set_name(name);
  spec.mutable_tasks(0)->mutable_data()->set_test_split("test");
  const absl::Status status = CheckPredictedSets(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.predictions[0]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("the task 'sts' has no test split"),
                    HasSubstr("give tasks[1].data.test_split")));
  spec.mutable_tasks(1)->mutable_data()->set_test_split("test");
  EXPECT_OK(CheckPredictedSets(spec));
}

}  // namespace
}  // namespace frostline::server
