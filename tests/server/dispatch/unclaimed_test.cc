// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/supply.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::server {
namespace {

class UnclaimedTest : public LedgerFixture {
 protected:
  UnclaimedTest() { Use("random", 200, 0); }

  void Use(const std::string& sampler, std::int64_t budget, int max_parallel) {
    v1::StudySpec spec = ExampleSpec();
    spec.mutable_sampler()->set_name(sampler);
    spec.set_purpose(v1::PURPOSE_BEST);
    v1::StudySettings settings = ExampleStudy("a", budget).settings();
    settings.set_max_parallel(max_parallel);
    book_->AbsorbSettings(std::make_shared<const CheckedStudy>(
        *CheckStudy(spec, settings, ExampleLease())));
  }
  void Run(int trials) {
    for (int i = 0; i < trials; ++i) AddRunning();
  }
  void Queue(int trials) {
    for (int i = 0; i < trials; ++i) AddQueued();
  }
  void Put(storage::StudyState state) {
    ASSERT_OK(ledger_.SetState(*batch_, *book_, state, "test"));
  }
  std::int64_t Count() {
    Ramp ramp;
    return CountUnclaimed(*book_, ramp, clock_.Wall());
  }
  // What is left of it when those who are expected have taken theirs.
  std::int64_t LeftBy(const ExpectedSlots& expected) {
    std::vector<Unclaimed> all = {{book_, Count()}};
    expected.TakeOff(ledger_, clock_.Steady(), all);
    return all[0].trials;
  }
};

TEST_F(UnclaimedTest, WhatDoesNotLookAtResultsCanUseTheWholeBudget) {
  EXPECT_EQ(Count(), 200);
  Run(30);
  Queue(5);
  EXPECT_EQ(Count(), 170);
}

// Ten trials of tpe are drawn before it looks at a result.
TEST_F(UnclaimedTest, ASamplerIsGivenNoMoreWorkersThanItLearnsFrom) {
  Use("tpe", 200, 0);
  EXPECT_EQ(Count(), 10);
  Run(4);
  EXPECT_EQ(Count(), 6);
  Queue(2);  // whether they wait or are not proposed yet is the same
  EXPECT_EQ(Count(), 6);
  Run(6);
  EXPECT_EQ(Count(), 2);
}

TEST_F(UnclaimedTest, WhatAPersonAddedIsNeverHeldBack) {
  Use("tpe", 200, 0);
  Run(10);
  EXPECT_EQ(Count(), 0);
  Queue(3);
  EXPECT_EQ(Count(), 3);
}

TEST_F(UnclaimedTest, WhoSetsMaxParallelHasDecided) {
  Use("tpe", 200, 64);
  EXPECT_EQ(Count(), 64);
  Run(60);
  EXPECT_EQ(Count(), 4);
  Queue(9);
  EXPECT_EQ(Count(), 4);
  Run(4);
  EXPECT_EQ(Count(), 0);
}

TEST_F(UnclaimedTest, TheBudgetBoundsIt) {
  Use("tpe", 7, 0);
  EXPECT_EQ(Count(), 7);
  Run(5);
  EXPECT_EQ(Count(), 2);
  Run(2);
  EXPECT_EQ(Count(), 0);
}

// Samplers are asked for those who wait.
TEST_F(UnclaimedTest, WhatIsBeingProposedHasItsWorkerAlready) {
  Use("random", 20, 0);
  book_->Reserve(3);
  EXPECT_EQ(Count(), 17);
  Use("tpe", 200, 0);
  EXPECT_EQ(Count(), 7);
  Use("tpe", 200, 4);
  EXPECT_EQ(Count(), 1);
}

// From the end of a trial to the beginning of the worker's next it stays the
// same, wherever the proposal is.
TEST_F(UnclaimedTest, WhoIsAboutToAskHasATrialAlready) {
  Use("random", 20, 0);
  ExpectedSlots expected;
  EXPECT_EQ(LeftBy(expected), 20);
  expected.Expect("w", 1, clock_.Steady());
  EXPECT_EQ(LeftBy(expected), 19);
  book_->Reserve(1);
  EXPECT_EQ(LeftBy(expected), 19);
  book_->Arrived();
  AddQueued();
  EXPECT_EQ(LeftBy(expected), 19);
  clock_.Advance(std::chrono::seconds(5));  // it did not come
  EXPECT_EQ(LeftBy(expected), 20);
}

TEST_F(UnclaimedTest, WhoCannotServeAStudyTakesNothingOfIt) {
  ExpectedSlots expected;
  expected.Expect("nobody", 3, clock_.Steady());
  EXPECT_EQ(LeftBy(expected), 200);
}

TEST_F(UnclaimedTest, APausedStudyHasNoneAndAResumedOneHas) {
  Queue(2);
  Put(storage::StudyState::kPaused);
  EXPECT_EQ(Count(), 0);
  Put(storage::StudyState::kActive);
  EXPECT_EQ(Count(), 200);
  Put(storage::StudyState::kStopped);
  EXPECT_EQ(Count(), 0);
}

TEST_F(UnclaimedTest, ATrialThatLostItsWorkerIsCountedAgain) {
  Use("random", 1, 0);
  const TrialKey trial = AddRunning();
  EXPECT_EQ(Count(), 0);
  const auto given_back =
      Release(*book_->Find(trial.number), {1, SecretString("secret")},
              AttemptState::kPreempted, "", "the node went", clock_.Wall());
  ASSERT_OK(given_back);
  ASSERT_OK(ledger_.Apply(*batch_, *book_, *given_back));
  EXPECT_EQ(Count(), 1);
}

}  // namespace
}  // namespace frostline::server
