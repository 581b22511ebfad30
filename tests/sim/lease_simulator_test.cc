// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/lease_simulator.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace frostline::test {
namespace {

// FROSTLINE_SIM_SEEDS=1000000 for a long run.
std::uint64_t Seeds() {
  const char* const asked = std::getenv("FROSTLINE_SIM_SEEDS");
  return asked == nullptr ? 2'000 : std::strtoull(asked, nullptr, 10);
}

TEST(LeaseSimulator, EveryPromiseHoldsInEveryHistory) {
  SimulationResult total;
  for (std::uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const SimulationResult result = SimulateLeases(seed, Mutant::kNone);
    ASSERT_EQ(result.broken, "") << "seed " << seed;
    total.losses += result.losses;
    total.late += result.late;
    total.superseded += result.superseded;
    total.restarts += result.restarts;
  }
  // The histories are as bad as they are meant to be.
  const int seeds = static_cast<int>(Seeds());
  EXPECT_GT(total.losses, seeds / 4);
  EXPECT_GT(total.late, seeds / 40);
  EXPECT_GT(total.superseded, seeds / 400);
  EXPECT_GT(total.restarts, seeds / 4);
}

class MutantTest : public ::testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, IsFound) {
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    if (!SimulateLeases(seed, GetParam()).broken.empty()) return;
  }
  FAIL() << "10,000 histories did not find it";
}

INSTANTIATE_TEST_SUITE_P(
    All, MutantTest,
    ::testing::Values(Mutant::kNoFence, Mutant::kReplyBeforeCommit,
                      Mutant::kAcceptTwice, Mutant::kNoSecret,
                      Mutant::kSameAttempt, Mutant::kForgetAcquire,
                      Mutant::kNoGrace, Mutant::kDropSuperseded,
                      Mutant::kDropLate, Mutant::kNeverExpire,
                      Mutant::kWallClock, Mutant::kLossFails));

}  // namespace
}  // namespace frostline::test
