// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/supply.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sampler/factory.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::server {
namespace {

class RampTest : public LedgerFixture {
 protected:
  RampTest() { Use("tpe", 0); }

  // Ten of its trials are drawn before it looks at a result.
  void Use(const std::string& sampler, int max_parallel) {
    v1::StudySpec spec = ExampleSpec();
    spec.mutable_sampler()->set_name(sampler);
    spec.set_purpose(v1::PURPOSE_BEST);
    v1::StudySettings settings = ExampleStudy("a", 200).settings();
    settings.set_max_parallel(max_parallel);
    book_->AbsorbSettings(std::make_shared<const CheckedStudy>(
        *CheckStudy(spec, settings, ExampleLease())));
    ramp_.Clear();
  }
  void EndOne() {
    const TrialKey trial = AddRunning();
    Result result;
    result.values = {0.5};
    const auto ended =
        Finish(*book_->Find(trial.number), {}, {1, SecretString("secret")},
               result, {}, clock_.Wall());
    ASSERT_OK(ended);
    ASSERT_OK(ledger_.Apply(*batch_, *book_, ended->transition));
  }

  Ramp ramp_;
};

TEST_F(RampTest, ASamplerBeginsWithItsStartupAndNoMoreRunUntilItHasResults) {
  EXPECT_EQ(ramp_.LeftFor(*book_), 10);
  for (int i = 0; i < 10; ++i) AddRunning();
  EXPECT_EQ(ramp_.LeftFor(*book_), 0);
  AddQueued();  // by a person: it is given out, whatever is left
  EXPECT_EQ(ramp_.LeftFor(*book_), 0);
  EXPECT_TRUE(ramp_.Holds(*book_));
}

TEST_F(RampTest, HalfOfWhatHasSucceededMayRun) {
  for (int i = 0; i < 30; ++i) EndOne();
  EXPECT_EQ(ramp_.LeftFor(*book_), 15);
}

TEST_F(RampTest, WhoSetsMaxParallelHasDecided) {
  Use("tpe", 64);
  for (int i = 0; i < 20; ++i) AddRunning();
  EXPECT_EQ(ramp_.LeftFor(*book_), sampler::kNoLimit);
}

TEST_F(RampTest, WhatDoesNotLookAtResultsIsNeverHeld) {
  Use("random", 0);
  for (int i = 0; i < 20; ++i) AddRunning();
  EXPECT_FALSE(ramp_.Holds(*book_));
}

TEST_F(RampTest, ALookComputesOnlyWhereATrialHasEnded) {
  for (int i = 0; i < 5; ++i) (void)ramp_.LeftFor(*book_);
  EXPECT_EQ(ramp_.computed(), 1);
  AddRunning();
  (void)ramp_.LeftFor(*book_);
  EXPECT_EQ(ramp_.computed(), 1);
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

StudySupply Study() {
  return {.name = "studies/a", .budget_left = true, .running = 2};
}

FleetSupply Fleet() { return {.live = 3, .matching = 2, .free_slots = 1}; }

FleetSupply Alone() {
  return {.who = "this worker", .live = 1, .matching = 1, .free_slots = 1};
}

std::vector<std::string> Codes(const StudySupply& study,
                               const FleetSupply& fleet,
                               const storage::DiskRoom& disk = {}) {
  std::vector<std::string> codes;
  for (const IdleReason& reason : WhyIdle(study, fleet, disk)) {
    codes.push_back(reason.code);
  }
  return codes;
}

TEST(WhyIdle, ThereIsNoReasonWhereTrialsAndSlotsAreLeft) {
  EXPECT_THAT(Codes(Study(), Fleet()), IsEmpty());
}

TEST(WhyIdle, AnEndedStudyHasOneReasonAlone) {
  StudySupply study = Study();
  study.state = storage::StudyState::kCompleted;
  study.state_reason = "budget of 8 trials reached";
  study.at_parallel_limit = true;
  const auto reasons = WhyIdle(study, {}, {});
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0].sentence,
            "studies/a has ended: budget of 8 trials reached");
}

TEST(WhyIdle, ReasonsComeInTheOrderInWhichToLookAtThem) {
  StudySupply study = Study();
  study.state = storage::StudyState::kPaused;
  study.at_parallel_limit = true;
  study.budget_left = false;
  EXPECT_THAT(Codes(study, {}, {.room = storage::Room::kNoNewLeases}),
              ElementsAre("PAUSED", "DISK_NEARLY_FULL", "NO_WORKERS",
                          "PARALLEL_LIMIT", "BUDGET_REACHED"));
}

TEST(WhyIdle, WorkersWithoutTheDataAreSaidToLackIt) {
  FleetSupply fleet{.live = 3, .lacking = 3, .what_lacks = "the data set b"};
  const auto reasons = WhyIdle(Study(), fleet, {});
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0].none, v1::NOT_IN_STOCK);
  EXPECT_THAT(reasons[0].sentence, HasSubstr("needs the data set b"));
  fleet.matching = fleet.free_slots = 1;
  EXPECT_THAT(Codes(Study(), fleet), IsEmpty());
}

TEST(WhyIdle, OneIsSaidInTheSingular) {
  const auto sentence = [](const StudySupply& study, const FleetSupply& fleet) {
    return WhyIdle(study, fleet, {}).front().sentence;
  };
  EXPECT_EQ(sentence(Study(), {.live = 2, .out_of_service = 1}),
            "1 worker is drained or quarantined");
  EXPECT_EQ(sentence(Study(), {.live = 2, .out_of_service = 2}),
            "2 workers are drained or quarantined");
  StudySupply study = Study();
  study.running = 0;
  study.proposing = 1;
  EXPECT_THAT(sentence(study, Fleet()), EndsWith("is proposing 1 trial"));
}

TEST(WhyIdle, AStudyThatLearnsBeforeItBeginsMoreSaysSo) {
  StudySupply study = Study();
  study.is_ramping = true;
  study.running = 14;
  const auto reasons = WhyIdle(study, Fleet(), {});
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0].code, "RAMPING");
  EXPECT_EQ(reasons[0].none, v1::PARALLEL_LIMIT);
  EXPECT_THAT(reasons[0].sentence, HasSubstr("can learn from yet (14)"));
  study.budget_left = false;
  EXPECT_THAT(Codes(study, Fleet()), Not(Contains("RAMPING")));
}

TEST(WhyIdle, BusyDrainedAndUnlabelledWorkersAreToldApart) {
  FleetSupply busy = Fleet();
  busy.free_slots = 0;
  EXPECT_THAT(Codes(Study(), busy), ElementsAre("ALL_SLOTS_BUSY"));
  EXPECT_THAT(Codes(Study(), {.live = 2, .out_of_service = 2}),
              ElementsAre("WORKERS_OUT_OF_SERVICE"));
  EXPECT_THAT(Codes(Study(), {.live = 2}), ElementsAre("NO_MATCHING_LABELS"));
}

TEST(WhyIdle, AWorkerIsToldWhatIsNearestToATrial) {
  StudySupply paused = Study();
  paused.state = storage::StudyState::kPaused;
  StudySupply full = Study();
  full.at_parallel_limit = true;
  const IdleReason one = WhyNothingOf(paused, Alone(), {});
  const IdleReason other = WhyNothingOf(full, Alone(), {});
  EXPECT_EQ(one.none, v1::STUDY_PAUSED);
  EXPECT_EQ(other.none, v1::PARALLEL_LIMIT);
  EXPECT_TRUE(IsNearer(other, one));
  EXPECT_FALSE(IsNearer(one, other));
}

TEST(WhyIdle, AWorkerWithoutTheLabelsIsToldSo) {
  const IdleReason reason =
      WhyNothingOf(Study(), {.who = "this worker", .live = 1}, {});
  EXPECT_EQ(reason.none, v1::NO_MATCHING_LABELS);
  EXPECT_THAT(reason.sentence, HasSubstr("this worker"));
}

TEST(WhyIdle, WhoIsKeptFromAStudyIsToldWhy) {
  const FleetSupply kept = {.who = "this worker",
                            .live = 1,
                            .kept = 1,
                            .why_kept = "workers/w failed 8 times",
                            .free_slots = 1};
  const IdleReason reason = WhyNothingOf(Study(), kept, {});
  EXPECT_EQ(reason.none, v1::QUARANTINED);
  EXPECT_THAT(reason.sentence, HasSubstr("workers/w failed 8 times"));
}

TEST(WhyIdle, AStudyWithAllTrialsGivenSaysSoToAWorker) {
  StudySupply study = Study();
  study.budget_left = false;
  EXPECT_EQ(WhyNothingOf(study, Alone(), {}).none, v1::BUDGET_REACHED);
  study.proposing = 1;
  EXPECT_EQ(WhyNothingOf(study, Alone(), {}).none, v1::SAMPLER_BUSY);
}

TEST(WhyIdle, WhoIsNotInServiceIsToldThatFirst) {
  EXPECT_EQ(WhyNotInService({}), std::nullopt);
  EXPECT_EQ(WhyNotInService({.coordinator_drains = true})->none, v1::DRAINING);
  EXPECT_EQ(WhyNotInService({.is_registered = false})->none, v1::DRAINING);
  const auto failing =
      WhyNotInService({.state = storage::WorkerState::kQuarantined,
                       .failures_in_a_row = 8,
                       .cause = "bad memory"});
  EXPECT_EQ(failing->none, v1::QUARANTINED);
  EXPECT_THAT(failing->sentence,
              HasSubstr("8 failures in a row; the last: bad memory"));
}

}  // namespace
}  // namespace frostline::server
