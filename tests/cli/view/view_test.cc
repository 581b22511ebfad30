// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::StudySpec AccuracySpec() {
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  return spec;
}

v1::Trial ExampleTrial() {
  v1::Trial trial;
  trial.set_name("studies/demo/trials/17");
  trial.set_number(17);
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.add_values(0.93125);
  trial.set_worker("workers/a");
  trial.mutable_start_time()->set_seconds(100);
  trial.mutable_end_time()->set_seconds(112);
  auto* const rate = trial.add_parameters();
  rate->set_name("layer.3");
  rate->mutable_value()->set_number_value(2e-5);
  return trial;
}

TEST(Format, WritesNumbersForPeople) {
  EXPECT_EQ(FormatRate(0.0), "frozen");
  EXPECT_EQ(FormatRate(2e-5), "2e-05");
  EXPECT_EQ(FormatNumber(0.93125), "0.9313");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(-123), "-123");
  EXPECT_EQ(FormatSeconds(0.42), "0.4 s");
  EXPECT_EQ(FormatSeconds(59.4), "59 s");
  EXPECT_EQ(FormatSeconds(184), "3m04s");
  EXPECT_EQ(FormatSeconds(7800), "2h10m");
  google::protobuf::Timestamp time;
  EXPECT_EQ(FormatTime(time), "");
  time.set_seconds(1767225600);
  EXPECT_EQ(FormatTime(time), "2026-01-01 00:00:00Z");
}

TEST(Format, WritesJsonWithAllFieldsUnderTheirProtoNames) {
  v1::Study study;
  study.set_state_reason("why");
  EXPECT_THAT(ToJson(study), HasSubstr("\"state_reason\": \"why\""));
  EXPECT_THAT(ToJson(study), HasSubstr("\"best_trials\": []"));
}

TEST(TrialView, PutsTheParametersInColumns) {
  EXPECT_EQ(RenderTrialTable({ExampleTrial()}, AccuracySpec(), 0),
            "TRIAL  STATE      accuracy  TIME  WORKER     L3\n"
            "   17  SUCCEEDED    0.9313  12 s  a       2e-05\n");
}

TEST(TrialView, ShowsSeedsWhereTheyAreKnown) {
  v1::Trial seeded = ExampleTrial();
  seeded.set_seed(1234567);
  seeded.set_repeat(2);
  const std::string table =
      RenderTrialTable({ExampleTrial(), seeded}, AccuracySpec(), 0);
  EXPECT_THAT(table, HasSubstr("WORKER     SEED     L3\n"));
  EXPECT_THAT(table, HasSubstr("a       1234567  2e-05\n"));
  const std::string shown = RenderTrial(seeded, AccuracySpec());
  EXPECT_THAT(shown, HasSubstr("1234567\n"));
  EXPECT_THAT(shown, HasSubstr("its point ran 2 times before\n"));
  EXPECT_THAT(RenderTrial(ExampleTrial(), AccuracySpec()),
              testing::Not(HasSubstr("seed:")));
}

TEST(TrialView, SaysATrialInALine) {
  EXPECT_EQ(TrialLine(ExampleTrial(), AccuracySpec()),
            "trial 17  SUCCEEDED  accuracy 0.9313  12 s  worker a");
  v1::Trial failed = ExampleTrial();
  failed.clear_values();
  failed.set_state(v1::TRIAL_STATE_FAILED);
  failed.set_cause("out of\nmemory");
  EXPECT_THAT(TrialLine(failed, AccuracySpec()),
              HasSubstr("worker a  out of memory"));
}

TEST(StudyView, ShowsProgressAndTheResolvedSpace) {
  v1::CreateStudyReply reply;
  reply.mutable_study()->mutable_settings()->mutable_budget()->set_trials(40);
  auto* const head = reply.add_modules();
  head->set_module("head");
  head->set_parameter("head");
  head->set_domain("levels 0, 0.001");
  reply.add_modules()->set_module("embeddings");
  reply.set_space_size(std::numeric_limits<double>::infinity());
  EXPECT_EQ(RenderPlan(reply, 0),
            "MODULE      PARAMETER  RATES\n"
            "head        head       levels 0, 0.001\n"
            "embeddings  (fixed)    frozen\n"
            "space:  infinitely many points (continuous)\n"
            "budget: 40 trials\n"
            "seeds:  one for each trial\n");
  reply.add_advice("use another sampler");
  EXPECT_EQ(RenderPlanInShort(reply),
            "head: levels 0, 0.001\n"
            "embeddings: always frozen\n"
            "space: infinitely many points (continuous); budget: 40 trials\n");
}

TEST(StudyView, SaysWhichSeedsTheTrialsGet) {
  v1::CreateStudyReply reply;
  v1::StudySpec& spec = *reply.mutable_study()->mutable_spec();
  spec.mutable_training()->set_seed(5);
  EXPECT_THAT(RenderPlan(reply, 0), HasSubstr("seeds:  5 for all trials\n"));
  spec.clear_training();
  spec.set_seeds(v1::SEED_MODE_PAIRED);
  spec.mutable_repeat()->set_times(3);
  spec.mutable_repeat()->set_leaders(2);
  spec.mutable_repeat()->set_after(30);
  EXPECT_THAT(RenderPlan(reply, 0),
              HasSubstr("seeds:  paired: the same for the first run of every "
                        "point; the 2 leading points run 3 times each, from "
                        "trial 30 on\n"));
}

TEST(StudyView, SaysWhatRangeTheMetricsHave) {
  v1::CreateStudyReply reply;
  v1::StudySpec& spec = *reply.mutable_study()->mutable_spec();
  spec.add_objectives()->set_metric("accuracy");
  v1::Objective& reward = *spec.add_objectives();
  reward.set_metric("reward");
  EXPECT_THAT(RenderPlan(reply, 0),
              HasSubstr("range:  accuracy 0 … 1 (presumed from its name)\n"));
  reward.mutable_range()->set_lo(-5);
  EXPECT_THAT(RenderStudy(reply.study(), std::nullopt),
              HasSubstr("accuracy 0 … 1 (presumed from its name), "
                        "reward -5 or more\n"));
}

TEST(StudyView, SaysInALineWhatTrialsAreFor) {
  v1::CreateStudyReply reply;
  reply.mutable_study()->mutable_spec()->set_purpose(v1::PURPOSE_UNDERSTAND);
  EXPECT_THAT(
      RenderPlan(reply, 0),
      HasSubstr(
          "purpose: understand: every trial is chosen for what it tells\n"));
  EXPECT_THAT(RenderStudy(reply.study(), std::nullopt),
              HasSubstr("purpose:     understand\n"));
  reply.mutable_study()->clear_spec();  // from before purposes were
  EXPECT_THAT(RenderPlan(reply, 0), Not(HasSubstr("purpose")));
}

}  // namespace
}  // namespace frostline::cli
