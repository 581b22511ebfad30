// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/fair_share.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/dispatch/dispatcher.h"
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

}  // namespace
}  // namespace frostline::server
