// SPDX-License-Identifier: Apache-2.0
#include "cli/view/trial_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::EndsWith;

constexpr char kTrial[] = "studies/a/trials/3";

v1::GetTrialLogReply EndedLog() {
  v1::GetTrialLogReply log;
  log.set_attempt(2);
  log.set_state(v1::ATTEMPT_STATE_COMPLETED);
  log.set_worker("workers/w");
  log.set_tail("say \"hi\"\n");
  log.mutable_place()->set_host("node7");
  log.mutable_place()->set_path("/runs/trials/a/3/2.log");
  log.mutable_place()->set_end(9);
  return log;
}

TEST(LogView, SaysWhereTheWholeLogLiesAndWhetherItIsKept) {
  v1::GetTrialLogReply log = EndedLog();
  const std::string begin =
      "studies/a/trials/3: attempt 2 COMPLETED; its whole log: "
      "node7:/runs/trials/a/3/2.log, ";
  EXPECT_EQ(DescribeLogPlace(kTrial, log), begin + "if it is still there\n");
  log.mutable_place()->set_kept(true);
  EXPECT_EQ(DescribeLogPlace(kTrial, log), begin + "where it is kept\n");
  log.mutable_place()->set_kept(false);
  EXPECT_EQ(DescribeLogPlace(kTrial, log),
            begin + "which went with the trial's end (the worker's --keep)\n");
  log.mutable_place()->clear_path();
  EXPECT_THAT(DescribeLogPlace(kTrial, log),
              EndsWith("only its worker, w on node7\n"));
}

TEST(LogView, SaysWhyATrialWithoutAnAttemptHasNoLog) {
  v1::Trial trial;
  trial.set_name(kTrial);
  trial.set_state(v1::TRIAL_STATE_QUEUED);
  EXPECT_EQ(DescribeNoLog(trial), "studies/a/trials/3 has not begun\n");
  trial.set_state(v1::TRIAL_STATE_CANCELLED);
  EXPECT_EQ(DescribeNoLog(trial),
            "studies/a/trials/3 is CANCELLED without having run\n");
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.set_origin(v1::TRIAL_ORIGIN_IMPORTED);
  EXPECT_EQ(DescribeNoLog(trial),
            "studies/a/trials/3 was imported, so it did not run here\n");
}

TEST(LogView, IsOneObjectOfWhichTheLinesAreText) {
  const v1::GetTrialLogReply log = EndedLog();
  EXPECT_EQ(LogToJson(kTrial, log, true),
            R"({"trial": "studies/a/trials/3", "attempt": "2", )"
            R"("state": "ATTEMPT_STATE_COMPLETED", "worker": "workers/w", )"
            R"("live": false, "host": "node7", )"
            R"("path": "/runs/trials/a/3/2.log", "kept": null, "end": "9", )"
            R"("log": "say \"hi\"\n"})"
            "\n");
  EXPECT_THAT(LogToJson(kTrial, log, false),
              EndsWith("\n \"log\": \"say \\\"hi\\\"\\n\"\n}\n"));
}

TEST(LogView, AnOutcomeHasItsValuesOrItsCause) {
  v1::Trial trial;
  trial.set_name(kTrial);
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.add_values(0.5);
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  EXPECT_EQ(DescribeOutcome(trial, spec),
            "studies/a/trials/3 is SUCCEEDED: accuracy 0.5\n");
  trial.clear_values();
  trial.set_state(v1::TRIAL_STATE_FAILED);
  trial.set_cause("out of memory");
  EXPECT_EQ(DescribeOutcome(trial, spec),
            "studies/a/trials/3 is FAILED: out of memory\n");
}

TEST(LogView, TellsWhatATailHasBeyondAnother) {
  EXPECT_EQ(BeyondTail("", "ab"), "ab");
  EXPECT_EQ(BeyondTail("ab", "ab"), "");
  EXPECT_EQ(BeyondTail("1\n2\n", "2\n3\n"), "3\n");
  EXPECT_EQ(BeyondTail("xab", "abab"), "ab");
  EXPECT_EQ(BeyondTail("ababab", "ababc"), "c");
  EXPECT_EQ(BeyondTail("abab", "abababx"), "abx");
  EXPECT_EQ(BeyondTail("one\n", "two\n"), "two\n");
  EXPECT_EQ(BeyondTail("one\n", ""), "");
}

}  // namespace
}  // namespace frostline::cli
