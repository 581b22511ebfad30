// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/fair_share.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sampler/factory.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/supply.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::server {
namespace {

constexpr SteadyTime At(int seconds) {
  return std::chrono::seconds(1000 + seconds);
}

TEST(FairShareTest, ServiceIsTheTimeThatTrialsTook) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Ended({1, 0}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(90)), 60.0);
}

TEST(FairShareTest, ATrialIsChargedWhenItBegins) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Ended({1, 0}, At(60));
  share.Began({1, 1}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(60)), 60.0 + 60.0);
}

TEST(FairShareTest, OneThatRunsLongerThanUsualIsChargedAsItRuns) {
  FairShare share;
  share.Began({1, 0}, At(0));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(100)), 100.0);
}

TEST(FairShareTest, AFirstTrialIsExpectedToTakeWhatOthersTake) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Ended({1, 0}, At(60));
  share.Began({2, 0}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(2, At(60)), 60.0);
}

TEST(FairShareTest, ANewcomerStartsLevelWithTheLeastOfThoseThatCompete) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Began({2, 0}, At(0));
  share.Ended({2, 0}, At(40));
  share.BeginLook();
  share.Compete(1, {}, At(60));
  share.Compete(2, {}, At(60));
  share.BeginLook();
  share.BeginLook();
  EXPECT_DOUBLE_EQ(share.Compete(3, {}, At(60)), 40.0);
}

TEST(FairShareTest, WhoKeepsCompetingKeepsWhatItLacks) {
  FairShare share;
  share.Began({1, 0}, At(0));
  for (const int second : {0, 60}) {
    share.BeginLook();
    share.Compete(1, {}, At(second));
    EXPECT_DOUBLE_EQ(share.Compete(2, {}, At(second)), 0.0);
  }
}

TEST(FairShareTest, NobodyPaysForWhatWasUsedElsewhere) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.BeginLook();
  share.Compete(1, {.priority = 5}, At(60));
  share.Compete(1, {.labels = "gpu"}, At(60));
  share.BeginLook();
  share.BeginLook();
  EXPECT_DOUBLE_EQ(share.Compete(2, {}, At(60)), 0.0);
  EXPECT_DOUBLE_EQ(share.Compete(3, {.labels = "cpu"}, At(60)), 0.0);
  EXPECT_DOUBLE_EQ(share.Compete(4, {.labels = "gpu"}, At(60)), 60.0);
}

TEST(FairShareTest, ATrialThatNobodyBeganIsPassedOver) {
  FairShare share;
  share.Ended({1, 0}, At(60));
  share.Began({1, 1}, At(0));
  share.Ended({1, 0}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(5)), 5.0);
}

}  // namespace

// Which trial a node is given, and how many boundaries nodes compute by that.

namespace {

using ::testing::ElementsAre;

std::vector<AlikeTrial> TrialsOf(const std::vector<int>& depths) {
  std::vector<AlikeTrial> trials;
  for (const int depth : depths) {
    AlikeTrial trial;
    trial.number = static_cast<std::int64_t>(trials.size());
    if (depth > 0) trial.boundary = Boundary{7, depth};
    trials.push_back(trial);
  }
  return trials;
}

TEST(PrefixAffinity, ANodeGetsWhatItHoldsThenWhatNobodyHolds) {
  PrefixAffinity affinity;
  affinity.NoteGiven(1, "a", TrialsOf({4}), 0);
  affinity.NoteGiven(1, "b", TrialsOf({2}), 0);
  const std::vector<AlikeTrial> queue = TrialsOf({4, 2, 3, 2});
  EXPECT_EQ(affinity.Choose(1, "a", queue), 0u);
  EXPECT_EQ(affinity.Choose(1, "b", queue), 1u);
  EXPECT_EQ(affinity.Choose(1, "c", queue), 2u);
  EXPECT_EQ(affinity.Choose(1, "c", TrialsOf({4, 2})), 0u);
  EXPECT_EQ(affinity.Choose(1, "c", TrialsOf({4, 0})), 1u);
}

TEST(PrefixAffinity, TheFirstIsPassedOverFourTimes) {
  PrefixAffinity affinity;
  affinity.NoteGiven(1, "a", TrialsOf({2}), 0);
  const std::vector<AlikeTrial> queue = TrialsOf({5, 2});
  for (int i = 0; i < PrefixAffinity::kMostPasses; ++i) {
    ASSERT_EQ(affinity.Choose(1, "a", queue), 1u);
    affinity.NoteGiven(1, "a", queue, 1);
  }
  EXPECT_EQ(affinity.Choose(1, "a", queue), 0u);
  EXPECT_EQ(affinity.Choose(2, "a", queue), 1u);  // another study's
  affinity.NoteGiven(1, "a", queue, 0);
  EXPECT_EQ(affinity.Choose(1, "a", TrialsOf({6, 2})), 1u);
}

TEST(PrefixAffinity, ForgetsTheOldestOfANodeAndANodeThatIsGone) {
  PrefixAffinity affinity;
  for (int depth = 1; depth <= 100; ++depth) {
    affinity.NoteGiven(1, "a", TrialsOf({depth}), 0);
  }
  EXPECT_EQ(affinity.size(), PrefixAffinity::kMostHeld);
  EXPECT_EQ(affinity.HoldersOf({7, 36}), nullptr);
  EXPECT_THAT(*affinity.HoldersOf({7, 37}), ElementsAre("a"));
  affinity.ForgetNode("a");
  EXPECT_EQ(affinity.size(), 0u);
  EXPECT_EQ(affinity.HoldersOf({7, 100}), nullptr);
}

v1::StudySpec SixLayers() {
  v1::StudySpec spec = ExampleSpec();
  spec.mutable_model()->set_layers(6);
  spec.mutable_space()->mutable_prefix_depth()->set_hi(6);
  return spec;
}

class NodesTest : public LedgerFixture {
 protected:
  NodesTest() {
    storage::StudyRow row;
    row.id = "six";
    row.revision = 1;
    row.spec = SixLayers().SerializeAsString();
    const auto settings = ExampleStudy("six", 1000).settings();
    row.settings = settings.SerializeAsString();
    book_ =
        *ledger_.InsertStudy(*batch_, row,
                             std::make_shared<const CheckedStudy>(*CheckStudy(
                                 SixLayers(), settings, ExampleLease())));
    for (const char* node : {"n0", "n1", "n2", "n3"}) AddWorker(node);
  }

  void Queue(int depth, int priority = 0) {
    storage::TrialRow row;
    row.number = book_->next_number();
    row.priority = priority;
    row.point = {static_cast<double>(depth)};
    for (int i = 0; i < 6; ++i) row.point.push_back(i < depth ? kAbsent : 1.0);
    ASSERT_OK(ledger_.InsertTrial(*batch_, *book_, row));
  }
  void Wait(const std::string& node) {
    ParkedAcquire parked{CallContext(LocalAdmin())};
    parked.worker = node;
    parked.request.set_request_id(RandomHexId());
    parked.request.set_boot_id("boot-1");
    parked.request.set_max_leases(1);
    parked.deadline = clock_.Steady() + std::chrono::seconds(20);
    parked.reply = [this, node](const absl::StatusOr<v1::AcquireReply>& reply) {
      for (const v1::Lease& lease : reply->leases()) {
        given_.push_back({node, ParseTrialName(lease.trial())->number});
      }
    };
    dispatcher_.Park(*batch_, std::move(parked));
  }
  void Turn() {
    dispatcher_.Turn(*batch_);
    Commit();
  }
  // The node asks, and is answered at once.
  std::int64_t Ask(const std::string& node) {
    Wait(node);
    Turn();
    return given_.back().second;
  }
  int DepthOf(std::int64_t number) const {
    return static_cast<int>(book_->Find(number)->row.point[0]);
  }

  std::vector<std::pair<std::string, std::int64_t>> given_;
  Proposer proposer_{[](const Proposals&) {}};
  storage::DiskRoom disk_;
  Dispatcher dispatcher_{ledger_, proposer_, disk_, clock_};
};

TEST_F(NodesTest, ATrialGoesToWhoWaitsAndHoldsItsPrefix) {
  Queue(3);
  Ask("n1");
  Wait("n0");
  Wait("n1");
  Queue(3);
  Turn();
  EXPECT_EQ(given_.back().first, "n1");  // though n0 came first
  Queue(3);
  Turn();
  EXPECT_EQ(given_.back().first, "n0");  // nobody else waits
}

TEST_F(NodesTest, APriorityGoesBeforeAPrefix) {
  Queue(3);
  Ask("n0");
  Queue(5);
  Queue(3);
  Queue(4, 1);
  EXPECT_EQ(DepthOf(Ask("n0")), 4);
  EXPECT_EQ(DepthOf(Ask("n0")), 3);
}

TEST_F(NodesTest, ATrialThatWasBegunGoesFirst) {
  Queue(5);
  const std::int64_t begun = Ask("n1");
  Queue(3);
  Ask("n0");
  Queue(3);
  ASSERT_OK(ledger_.Apply(
      *batch_, *book_,
      Lose(*book_->Find(begun), "silent", RetryRules(), clock_.Wall())));
  EXPECT_EQ(Ask("n0"), begun);
}

TEST_F(NodesTest, WhoIsGoneHoldsNothing) {
  Queue(3);
  Ask("n1");
  dispatcher_.NoteGone("n1");
  Wait("n0");
  Wait("n1");
  Queue(3);
  Turn();
  EXPECT_EQ(given_.back().first, "n0");
}

// Sixty trials of six depths in any order; whichever node is free asks. Counted
// are pairs of node and depth: so often a boundary is computed.
TEST_F(NodesTest, SixtyTrialsOfSixDepthsComputeFewBoundaries) {
  std::vector<int> depths;
  for (int i = 0; i < 60; ++i) depths.push_back(1 + i % 6);
  Rng rng(4);
  for (std::size_t i = depths.size(); i > 1; --i) {
    std::swap(depths[i - 1], depths[rng.Below(i)]);
  }
  for (const int depth : depths) Queue(depth);
  std::set<std::pair<std::string, int>> computed, in_order;
  std::vector<int> starts(60, 0);
  for (std::size_t turn = 0; turn < 60; ++turn) {
    const std::string node = "n" + std::to_string(rng.Below(4));
    const std::int64_t number = Ask(node);
    computed.insert({node, DepthOf(number)});
    in_order.insert({node, depths[turn]});
    starts[static_cast<std::size_t>(number)] = static_cast<int>(turn);
  }
  RecordProperty("boundaries", static_cast<int>(computed.size()));
  RecordProperty("boundaries_in_order", static_cast<int>(in_order.size()));
  EXPECT_GE(in_order.size(), 20u);
  EXPECT_LE(3 * computed.size(), 2 * in_order.size());
  // Nobody is passed over for long: each before it in the queue may be, four
  // times.
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_LE(starts[i], 5 * static_cast<int>(i) + 4);
  }
}

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
    teaching_limit_.Clear();
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

  TeachingLimit teaching_limit_;
};

TEST_F(RampTest, ASamplerBeginsWithItsStartupAndNoMoreRunUntilItHasResults) {
  EXPECT_EQ(teaching_limit_.LeftFor(*book_), 10);
  for (int i = 0; i < 10; ++i) AddRunning();
  EXPECT_EQ(teaching_limit_.LeftFor(*book_), 0);
  AddQueued();  // by a person: it is given out, whatever is left
  EXPECT_EQ(teaching_limit_.LeftFor(*book_), 0);
  EXPECT_TRUE(teaching_limit_.Holds(*book_));
}

TEST_F(RampTest, HalfOfWhatHasSucceededMayRun) {
  for (int i = 0; i < 30; ++i) EndOne();
  EXPECT_EQ(teaching_limit_.LeftFor(*book_), 15);
}

TEST_F(RampTest, WhoSetsMaxParallelHasDecided) {
  Use("tpe", 64);
  for (int i = 0; i < 20; ++i) AddRunning();
  EXPECT_EQ(teaching_limit_.LeftFor(*book_), sampler::kNoLimit);
}

TEST_F(RampTest, WhatDoesNotLookAtResultsIsNeverHeld) {
  Use("random", 0);
  for (int i = 0; i < 20; ++i) AddRunning();
  EXPECT_FALSE(teaching_limit_.Holds(*book_));
}

TEST_F(RampTest, ALookComputesOnlyWhereATrialHasEnded) {
  for (int i = 0; i < 5; ++i) (void)teaching_limit_.LeftFor(*book_);
  EXPECT_EQ(teaching_limit_.computed(), 1);
  AddRunning();
  (void)teaching_limit_.LeftFor(*book_);
  EXPECT_EQ(teaching_limit_.computed(), 1);
}

using ::testing::Contains;
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

TEST(WhyIdle, AStudyWithoutAModelsIdIsSaidToNameNone) {
  const FleetSupply fleet{
      .live = 1,
      .lacking = 1,
      .what_lacks =
          "a trainer for a study without model.id and without trainer"};
  const auto reasons = WhyIdle(Study(), fleet, {});
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_THAT(reasons[0].sentence, HasSubstr("names no model and no trainer"));
  EXPECT_THAT(reasons[0].fix, HasSubstr("trainer: NAME"));
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
