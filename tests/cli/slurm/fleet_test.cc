// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/fleet.h"

#include "gmock/gmock.h"

namespace frostline::cli {
namespace {

v1::Study Active(int budget, int used, int running, int useful) {
  v1::Study study;
  study.set_state(v1::STUDY_STATE_ACTIVE);
  study.mutable_settings()->mutable_budget()->set_trials(budget);
  study.mutable_counts()->set_budget_used(used);
  study.mutable_counts()->set_running(running);
  study.set_useful_parallelism(useful);
  return study;
}

int Workers(const v1::Study& study, int most = 100) {
  return WorkersFor(DemandOf(study), 1, most);
}

TEST(DemandTest, IsWhatTeachesTheSampler) {
  EXPECT_EQ(Workers(Active(200, 0, 0, 14)), 14);
}

TEST(DemandTest, IsNoMoreThanTrialsAreLeft) {
  EXPECT_EQ(Workers(Active(200, 190, 4, 28)), 10);
  EXPECT_EQ(Workers(Active(200, 200, 0, 28)), 0);
}

TEST(DemandTest, IsWhatItsOwnerDecidedIfAnything) {
  v1::Study study = Active(200, 0, 0, 14);
  study.mutable_settings()->set_max_parallel(64);
  EXPECT_EQ(Workers(study), 64);
  study.mutable_settings()->set_max_parallel(2);
  EXPECT_EQ(Workers(study), 2);
}

TEST(DemandTest, CountsWhatWaitsInTheQueueThoughNoSamplerAskedForIt) {
  v1::Study study = Active(200, 0, 2, 14);
  study.mutable_counts()->set_queued(30);
  EXPECT_EQ(Workers(study), 32);
  // A retry belongs to no budget.
  study = Active(200, 200, 0, 14);
  study.mutable_counts()->set_queued(1);
  EXPECT_EQ(Workers(study), 1);
}

TEST(DemandTest, OfAPausedStudyIsWhatRunsAndOfAnEndedOneNothing) {
  v1::Study study = Active(200, 20, 3, 14);
  study.set_state(v1::STUDY_STATE_PAUSED);
  EXPECT_EQ(Workers(study), 3);
  study.set_state(v1::STUDY_STATE_STOPPED);
  EXPECT_EQ(Workers(study), 0);
}

TEST(DemandTest, OfStudiesIsTheirSumInWholeWorkersUpToTheMost) {
  const Demand both = DemandOf({Active(200, 0, 0, 14), Active(9, 0, 0, 20)});
  EXPECT_EQ(both.left, 209);
  EXPECT_EQ(both.usable, 23);
  EXPECT_EQ(WorkersFor(both, 4, 100), 6);
  EXPECT_EQ(WorkersFor(both, 4, 5), 5);
  EXPECT_EQ(WorkersFor(both, 4, 0), 0);
}

TEST(DemandTest, IsSaidInALine) {
  EXPECT_EQ(DescribeWish(DemandOf(Active(1200, 0, 0, 12)), 6, 6),
            "6 at a time (1,200 trials left, 12 useful at a time, at most 6)");
}

}  // namespace
}  // namespace frostline::cli
