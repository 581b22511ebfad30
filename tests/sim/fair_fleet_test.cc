// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/fair_fleet.h"

#include "base/rng.h"
#include "gmock/gmock.h"
#include "tests/support/watched.h"

namespace frostline::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class FairFleetTest : public FairFleet {
 protected:
  // Two studies that always competed differ by one trial of each.
  void ExpectEqualShares(const std::vector<FairStudy>& studies) const {
    for (std::size_t i = 1; i < studies.size(); ++i) {
      const auto one_each =
          std::chrono::duration<double>(studies[0].trial + studies[i].trial);
      EXPECT_NEAR(ServiceOf(0), ServiceOf(i), one_each.count() + 1e-6)
          << TrialsOf(0) << " and " << TrialsOf(i) << " trials";
    }
  }
};

TEST_F(FairFleetTest, ThreeEqualStudiesOnTwoSlots) {
  const std::vector<FairStudy> studies(3);
  for (const FairStudy& study : studies) AddStudy(study);
  AddWorkers(2);
  Run(minutes(30));
  EXPECT_EQ(broken_, "");
  ExpectEqualShares(studies);
  EXPECT_GT(BusyShare(), 0.999);
}

TEST_F(FairFleetTest, SharesAreOfTimeAndNotOfTrials) {
  const std::vector<FairStudy> studies = {
      {.trial = seconds(100)}, {.trial = seconds(1)}, {.trial = seconds(7)}};
  for (const FairStudy& study : studies) AddStudy(study);
  AddWorkers(4);
  Run(minutes(60));
  EXPECT_EQ(broken_, "");
  ExpectEqualShares(studies);
}

TEST_F(FairFleetTest, ASlowSamplerHoldsUpNobodyAndLosesNothing) {
  AddStudy({.trial = seconds(10), .sampler = seconds(60)});
  AddStudy({.trial = seconds(10)});
  AddWorkers(8);
  Run(minutes(30));
  EXPECT_EQ(broken_, "");
  EXPECT_GT(BusyShare(), 0.99);
  EXPECT_GE(TrialsOf(0), 28);  // all that its sampler could make
}

TEST_F(FairFleetTest, HigherPriorityGoesFirstAndTheRestGetsWhatIsLeft) {
  AddStudy({.priority = 0});
  AddStudy({.priority = 5, .max_parallel = 3});
  AddStudy({.priority = 0});
  AddWorkers(8);
  Run(minutes(10));
  EXPECT_EQ(broken_, "");
  EXPECT_NEAR(static_cast<double>(TrialsOf(1)), 3 * 60, 3);
  EXPECT_NEAR(ServiceOf(0), ServiceOf(2), 20.0);
  EXPECT_GT(BusyShare(), 0.99);
}

TEST_F(FairFleetTest, AThousandStudiesShareTenThousandSlots) {
  const int hundreds = kWatched ? 1 : 10;  // sanitizers are slow
  const std::vector<FairStudy> studies(static_cast<std::size_t>(hundreds) *
                                       100);
  for (const FairStudy& study : studies) AddStudy(study);
  AddWorkers(hundreds * 1000);
  Run(seconds(15));
  EXPECT_EQ(broken_, "");
  ExpectEqualShares(studies);
}

// Studies and fleets as they come; what must hold is checked after each turn.
class AnyFleet : public FairFleet,
                 public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(AnyFleet, NobodyWaitsWhoCouldRunSomething) {
  Rng rng(GetParam(), 0);
  const std::vector<std::string> teams = {"", "", "nlp", "vision"};
  const std::uint64_t studies = 2 + rng.Below(40);
  AddStudy({.trial = seconds(5)});  // there is always something to run
  for (std::uint64_t i = 1; i < studies; ++i) {
    FairStudy study;
    study.trial = std::chrono::milliseconds(100 + rng.Below(20'000));
    if (rng.Below(2) == 0) {
      study.sampler = std::chrono::milliseconds(rng.Below(60'000));
    }
    study.priority = static_cast<int>(rng.Below(3)) - 1;
    if (rng.Below(3) == 0)
      study.max_parallel = 1 + static_cast<int>(rng.Below(4));
    study.team = teams[rng.Below(teams.size())];
    AddStudy(study);
  }
  for (const std::string& team : teams) {
    AddWorkers(1 + static_cast<int>(rng.Below(25)), team);
  }
  Run(minutes(2));
  EXPECT_EQ(broken_, "");
  EXPECT_GT(BusyShare(), 0.98);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyFleet,
                         ::testing::Range<std::uint64_t>(0, 40));

}  // namespace
}  // namespace frostline::test
