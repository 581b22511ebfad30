// SPDX-License-Identifier: Apache-2.0
//
// The power goes at any write or sync: nothing acknowledged is lost, nothing is
// there by half. A disk that does not sync the log, as synchronous=NORMAL asks
// for, is caught: the test would notice.
#include "tests/fault/storage/power_cut_fixture.h"

namespace frostline::test {
namespace {

constexpr int kCuts = 1500;
constexpr int kCutsPerDisk = 25;  // rows gather meanwhile
constexpr int kPowerCutSteps = 30;
constexpr std::uint64_t kCallsOfARun = 300;

class PowerCutTest : public PowerCutFixture {
 protected:
  // One life of the store, until its power goes; then the next one's first
  // look.
  testing::AssertionResult LiveAndRecover(Rng& rng, bool ignore_log_syncs) {
    PowerCutDisk::Plan plan{.ignore_log_syncs = ignore_log_syncs};
    const bool during_start = rng.Below(4) == 0;
    plan.cut_at = static_cast<std::int64_t>(
        1 + rng.Below(during_start ? 8 : kCallsOfARun));
    if (during_start) Close();
    disk().Follow(plan);
    absl::Status status;
    if (store_ == nullptr) status = Open();
    if (status.ok()) Run(kPowerCutSteps).IgnoreError();  // the cut, most often
    Cut(rng);
    status = Open();
    if (!status.ok()) {
      return testing::AssertionFailure() << DescribeError(status);
    }
    return IsIntact();
  }
};

TEST_F(PowerCutTest, NothingAcknowledgedIsLost) {
  Rng rng(20261121);
  std::int64_t acknowledged = 0;
  const int cuts = FaultCount(kCuts);
  for (int cut = 0; cut < cuts; ++cut) {
    if (cut % kCutsPerDisk == 0) {
      if (workload_ != nullptr) acknowledged += workload_->acknowledged();
      Begin(rng.Next());
    }
    const testing::AssertionResult held = LiveAndRecover(rng, false);
    ++record_["cuts"];
    record_["acknowledged"] = acknowledged + workload_->acknowledged();
    ASSERT_TRUE(held) << "cut " << cut;
  }
  EXPECT_GE(acknowledged, 3 * (cuts - kCutsPerDisk));
}

TEST_F(PowerCutTest, ALogThatIsNotSyncedIsCaughtInAFewCuts) {
  constexpr int kFewCuts = 20;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    Begin(seed);
    int cuts = 1;
    while (cuts <= kFewCuts && LiveAndRecover(rng, true)) ++cuts;
    EXPECT_LE(cuts, kFewCuts) << "seed " << seed;
    ++record_["stores_without_sync"];
    std::int64_t& most = record_["most_cuts_until_caught"];
    most = std::max<std::int64_t>(most, cuts);
  }
}

}  // namespace
}  // namespace frostline::test
