// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/ramp.h"

#include "sampler/useful_parallelism.h"
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

}  // namespace
}  // namespace frostline::server
