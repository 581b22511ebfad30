// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/unclaimed.h"

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
  std::int64_t Unclaimed() {
    Ramp ramp;
    return CountUnclaimed(*book_, ramp, clock_.Wall());
  }
};

TEST_F(UnclaimedTest, WhatDoesNotLookAtResultsCanUseTheWholeBudget) {
  EXPECT_EQ(Unclaimed(), 200);
  Run(30);
  Queue(5);
  EXPECT_EQ(Unclaimed(), 170);
}

// Ten trials of tpe are drawn before it looks at a result.
TEST_F(UnclaimedTest, ASamplerIsGivenNoMoreWorkersThanItLearnsFrom) {
  Use("tpe", 200, 0);
  EXPECT_EQ(Unclaimed(), 10);
  Run(4);
  EXPECT_EQ(Unclaimed(), 6);
  Queue(2);  // whether they wait or are not proposed yet is the same
  EXPECT_EQ(Unclaimed(), 6);
  Run(6);
  EXPECT_EQ(Unclaimed(), 2);
}

TEST_F(UnclaimedTest, WhatAPersonAddedIsNeverHeldBack) {
  Use("tpe", 200, 0);
  Run(10);
  EXPECT_EQ(Unclaimed(), 0);
  Queue(3);
  EXPECT_EQ(Unclaimed(), 3);
}

TEST_F(UnclaimedTest, WhoSetsMaxParallelHasDecided) {
  Use("tpe", 200, 64);
  EXPECT_EQ(Unclaimed(), 64);
  Run(60);
  EXPECT_EQ(Unclaimed(), 4);
  Queue(9);
  EXPECT_EQ(Unclaimed(), 4);
  Run(4);
  EXPECT_EQ(Unclaimed(), 0);
}

TEST_F(UnclaimedTest, TheBudgetBoundsIt) {
  Use("tpe", 7, 0);
  EXPECT_EQ(Unclaimed(), 7);
  Run(5);
  EXPECT_EQ(Unclaimed(), 2);
  Run(2);
  EXPECT_EQ(Unclaimed(), 0);
}

// Samplers are asked for those who wait.
TEST_F(UnclaimedTest, WhatIsBeingProposedHasItsWorkerAlready) {
  Use("random", 20, 0);
  book_->Reserve(3);
  EXPECT_EQ(Unclaimed(), 17);
  Use("tpe", 200, 0);
  EXPECT_EQ(Unclaimed(), 7);
  Use("tpe", 200, 4);
  EXPECT_EQ(Unclaimed(), 1);
}

TEST_F(UnclaimedTest, APausedStudyHasNoneAndAResumedOneHas) {
  Queue(2);
  Put(storage::StudyState::kPaused);
  EXPECT_EQ(Unclaimed(), 0);
  Put(storage::StudyState::kActive);
  EXPECT_EQ(Unclaimed(), 200);
  Put(storage::StudyState::kStopped);
  EXPECT_EQ(Unclaimed(), 0);
}

TEST_F(UnclaimedTest, ATrialThatLostItsWorkerIsCountedAgain) {
  Use("random", 1, 0);
  const TrialKey trial = AddRunning();
  EXPECT_EQ(Unclaimed(), 0);
  const auto given_back =
      Release(*book_->Find(trial.number), {1, SecretString("secret")},
              AttemptState::kPreempted, "", "the node went", clock_.Wall());
  ASSERT_OK(given_back);
  ASSERT_OK(ledger_.Apply(*batch_, *book_, *given_back));
  EXPECT_EQ(Unclaimed(), 1);
}

}  // namespace
}  // namespace frostline::server
