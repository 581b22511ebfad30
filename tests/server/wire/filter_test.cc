// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter.h"

#include "frostline/v1/trial.pb.h"
#include "gmock/gmock.h"
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

// layer.0 of three levels, kind of two choices; "both" is a metric as well.
Space SmallSpace() {
  return Space({{"layer.0", Levels{{0.0, 3e-5, 1e-3}}, {}},
                {"kind", Categorical{{"\"small\"", "\"large\""}}, {}},
                {"both", FloatRange{0.0, 1.0, 0.0, false}, {}}},
               {}, std::nullopt);
}

bool MatchesByName(const std::string& filter) {
  const Space space = SmallSpace();
  storage::TrialRow trial = GoodTrial();
  trial.point = {1, 1, kAbsent};
  const auto parsed =
      TrialFilter::Parse(filter, {&space, {"accuracy", "both"}});
  EXPECT_OK(parsed) << filter;
  return parsed.ok() && parsed->Matches(trial);
}

TEST(Filter, ParametersAreComparedByTheirValues) {
  EXPECT_TRUE(MatchesByName("parameters.layer.0 = 3e-5"));
  EXPECT_TRUE(
      MatchesByName("parameters.layer.0 > 0 AND parameters.kind = large"));
  EXPECT_FALSE(MatchesByName("parameters.layer.0 = frozen"));
  EXPECT_TRUE(MatchesByName("parameters.layer.0 != frozen"));
  // Its condition is not met: it equals nothing.
  EXPECT_FALSE(MatchesByName("parameters.both >= 0"));
}

TEST(Filter, NamesOnTheScreenWillDo) {
  EXPECT_TRUE(MatchesByName("accuracy > 0.9 AND layer.0 < 1e-3"));
  EXPECT_TRUE(MatchesByName("kind != small"));
}

TEST(Filter, SaysWhichFieldsThereAre) {
  const Space space = SmallSpace();
  for (const char* const bad : {"acuracy > 0.9", "both > 0", "parameters.x = 0",
                                "kind < large", "layer.0 = many"}) {
    EXPECT_THAT(TrialFilter::Parse(bad, {&space, {"accuracy", "both"}}),
                FailsWith(ErrorId::kFilterInvalid))
        << bad;
  }
  const auto unknown =
      TrialFilter::Parse("sate = QUEUED", {&space, {"accuracy"}});
  EXPECT_THAT(DetailOf(unknown.status())->fix,
              testing::AllOf(testing::HasSubstr("state = SUCCEEDED"),
                             testing::HasSubstr("metrics.accuracy > 0.9"),
                             testing::HasSubstr("parameters.layer.0 = 0"),
                             testing::HasSubstr("frostline help filter")));
  EXPECT_THAT(DetailOf(StudyFilter::Parse("x = y").status())->fix,
              testing::HasSubstr("labels.team = nlp"));
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
