// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter.h"

#include "frostline/v1/trial.pb.h"
#include "server/wire/page_token.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

storage::TrialRow GoodTrial() {
  v1::Trial noted;
  (*noted.mutable_labels())["kind"] = "baseline";
  storage::TrialRow trial;
  trial.number = 12;
  trial.state = TrialState::kSucceeded;
  trial.worker = "w7";
  trial.metrics = {{"accuracy", 0.93}};
  trial.values = {0.93};
  trial.labels = noted.SerializeAsString();
  return trial;
}

bool Matches(const std::string& filter) {
  return TrialFilter::Parse(filter)->Matches(GoodTrial());
}

TEST(Filter, TermsAreJoinedByAnd) {
  EXPECT_TRUE(Matches(""));
  EXPECT_TRUE(Matches("state = SUCCEEDED AND values[0] > 0.9"));
  EXPECT_TRUE(Matches("labels.kind=\"baseline\" AND number<=12"));
  EXPECT_FALSE(Matches("state = SUCCEEDED AND values[0] > 0.95"));
  EXPECT_FALSE(Matches("state != SUCCEEDED"));
  EXPECT_TRUE(Matches("worker = workers/w7 AND origin = SAMPLED"));
  EXPECT_TRUE(Matches("metrics.accuracy >= 0.93 AND attempt = 0"));
}

TEST(Filter, WhatIsNotThereMatchesNothing) {
  EXPECT_FALSE(Matches("values[1] > 0"));
  EXPECT_FALSE(Matches("labels.team = nlp"));
  EXPECT_FALSE(Matches("metrics.loss < 1"));
}

TEST(Filter, WhatHasNoSuchLabelHasAnotherValue) {
  EXPECT_TRUE(Matches("labels.team != nlp"));
  EXPECT_TRUE(Matches("labels.kind != other"));
  EXPECT_FALSE(Matches("labels.kind != baseline"));
  EXPECT_TRUE(StudyFilter::Parse("labels.team != nlp")->Matches(v1::Study()));
  EXPECT_TRUE(WorkerFilter::Parse("labels.pool != a")->Matches(v1::Worker()));
  // A number that is not there compares with none.
  EXPECT_FALSE(Matches("metrics.loss != 1"));
  EXPECT_FALSE(Matches("values[1] != 1"));
}

TEST(Filter, WhatCannotBeParsedIsRefused) {
  for (const char* bad :
       {"state", "state =", "stat = X", "state ~ X", "state = A OR state = B",
        "number > many", "labels.kind = \"open", "state = FOO",
        "origin = UNSPECIFIED", "number = x", "worker < 3"}) {
    EXPECT_THAT(TrialFilter::Parse(bad), FailsWith(ErrorId::kFilterInvalid))
        << bad;
  }
}

TEST(PageToken, GoesOnOnlyInItsOwnList) {
  const std::string token = MakePageToken("trials of 1", "state = QUEUED", 41);
  EXPECT_EQ(*ParsePageToken("trials of 1", "state = QUEUED", token), 41);
  EXPECT_EQ(*ParsePageToken("trials of 1", "", "", -1), -1);
  EXPECT_THAT(ParsePageToken("trials of 2", "state = QUEUED", token),
              FailsWith(ErrorId::kPageTokenInvalid));
  EXPECT_THAT(ParsePageToken("trials of 1", "", token),
              FailsWith(ErrorId::kPageTokenInvalid));
  EXPECT_THAT(ParsePageToken("trials of 1", "", "41"),
              FailsWith(ErrorId::kPageTokenInvalid));
}

}  // namespace
}  // namespace frostline::server
