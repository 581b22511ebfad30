// SPDX-License-Identifier: Apache-2.0
//
// Every write, sync and truncation of a whole workflow fails, once or from then
// on, and the disk is full at every point of it: the store says so or stops, it
// never says OK to what is not there afterwards.
#include "tests/fault/storage/power_cut_fixture.h"

namespace frostline::test {
namespace {

using Call = PowerCutDisk::Call;

constexpr int kSteps = 25;
constexpr int kWorkflows = 1;
constexpr std::int64_t kFillStep = 3001;

class BadDiskTest : public PowerCutFixture {
 protected:
  // From a blank disk; errors are expected, and what was acknowledged is
  // recorded.
  void RunWorkflow() {
    if (!Open().ok()) return;
    for (int i = 0; i < kSteps; ++i) workload_->Step(*store_).IgnoreError();
  }

  // Starts again where the process ended, on what programs see; works on; then
  // the power goes.
  void ExpectIntactForGood(Rng& rng) {
    disk().Follow({});
    ASSERT_OK(Open());
    ASSERT_TRUE(IsIntact());
    ASSERT_OK(Run(3));
    Cut(rng);
    ASSERT_OK(Open());
    ASSERT_TRUE(IsIntact());
  }
  void ExpectIntactAfterCut(Rng& rng) {
    Cut(rng);
    ASSERT_OK(Open());
    ASSERT_TRUE(IsIntact());
  }

  // How many calls there were to fail.
  std::int64_t FailEach(Call call, bool for_ever, std::uint64_t seed) {
    for (std::int64_t n = 1;; ++n) {
      SCOPED_TRACE(testing::Message()
                   << "call " << n << " of kind " << static_cast<int>(call)
                   << (for_ever ? " and all after it" : " alone") << ", seed "
                   << seed);
      Rng rng(seed + static_cast<std::uint64_t>(n));
      Begin(seed);
      disk().Follow({.failing = call, .fail_at = n, .fail_for_ever = for_ever});
      RunWorkflow();
      const bool reached = disk().failures() > 0;
      Close();
      if (n % 2 == 0) {
        ExpectIntactAfterCut(rng);
      } else {
        ExpectIntactForGood(rng);
      }
      if (!reached || HasFailure()) return n - 1;
    }
  }
};

TEST_F(BadDiskTest, NoCallThatFailsIsTakenForOneThatWorked) {
  const int workflows = FaultCount(kWorkflows);
  for (std::uint64_t seed = 1;
       seed <= static_cast<std::uint64_t>(workflows) && !HasFailure(); ++seed) {
    for (const bool for_ever : {false, true}) {
      EXPECT_GT(FailEach(Call::kWrite, for_ever, seed), 100);
      EXPECT_GT(FailEach(Call::kSync, for_ever, seed), 20);
      EXPECT_GE(FailEach(Call::kTruncate, for_ever, seed), 1);
      EXPECT_GE(FailEach(Call::kDelete, for_ever, seed), 1);
    }
  }
}

TEST_F(BadDiskTest, ASyncThatFailedEndsTheStore) {
  Begin(1);
  ASSERT_OK(Open());
  ASSERT_OK(Run(5));
  disk().Follow({.failing = Call::kSync, .fail_at = 1});
  EXPECT_THAT(workload_->Step(*store_), FailsWith(ErrorId::kStoreIo));
  for (int i = 0; i < 3; ++i) {  // although the disk would work again
    EXPECT_THAT(workload_->Step(*store_), FailsWith(ErrorId::kStoreIo));
  }
  EXPECT_OK(store_->ListStudies({}));
  Rng rng(1);
  ExpectIntactAfterCut(rng);
}

// The kernel still shows what a failed sync has lost. A start that built on it
// would lose all that follows with the next power cut.
TEST_F(BadDiskTest, WhatAFailedSyncLeftIsWrittenAgainByTheNextStart) {
  limits_.pages_per_checkpoint = 1000;
  for (std::int64_t n = 1; n <= 20 && !HasFailure(); ++n) {
    Rng rng(static_cast<std::uint64_t>(n));
    Begin(9);
    disk().Follow({.failing = Call::kSync, .fail_at = n});
    RunWorkflow();
    ASSERT_EQ(disk().failures(), 1);
    Close();
    ExpectIntactForGood(rng);
  }
}

TEST_F(BadDiskTest, ADiskThatBecomesReadOnlyEndsTheStore) {
  Begin(1);
  ASSERT_OK(Open());
  ASSERT_OK(Run(5));
  disk().Follow({.failing = Call::kWrite, .fail_at = 1, .fail_for_ever = true});
  EXPECT_THAT(workload_->Step(*store_), FailsWith(ErrorId::kStoreIo));
  EXPECT_THAT(store_->Begin(1), FailsWith(ErrorId::kStoreIo));
  EXPECT_OK(store_->FindTrial(1, 0));
  Rng rng(1);
  ExpectIntactAfterCut(rng);
}

TEST_F(BadDiskTest, AFullDiskAtEveryPointLosesNothingAndIsNoReasonToRestart) {
  Begin(7);
  RunWorkflow();
  const std::int64_t most = disk().Size();
  int refused = 0;
  for (std::int64_t bytes = 0; bytes < most; bytes += kFillStep) {
    SCOPED_TRACE(testing::Message() << "full at " << bytes);
    Rng rng(static_cast<std::uint64_t>(bytes));
    Begin(7);
    disk().Follow({.capacity = bytes});
    const absl::Status opened = Open();
    EXPECT_TRUE(opened.ok() || HasErrorId(opened, ErrorId::kStoreFull));
    absl::Status status = opened;
    for (int i = 0; i < kSteps && opened.ok(); ++i) {
      status = workload_->Step(*store_);
      if (status.ok()) continue;
      EXPECT_THAT(status, FailsWith(ErrorId::kStoreFull));
      ++refused;
    }
    disk().Follow({});  // room again
    ASSERT_OK(opened.ok() ? opened : Open());
    ASSERT_TRUE(IsIntact());
    ASSERT_OK(Run(5));
    ExpectIntactAfterCut(rng);
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace frostline::test
