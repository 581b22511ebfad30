// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/sampler_contract.h"

namespace frostline {

void ProposesPointsOfTheSpace(SamplerCase& one) {
  const auto sampler = one.Make();
  for (const int trials : {0, 1, 2, 15, 60}) {
    one.Grow(trials);
    const auto fresh = one.Make();
    const auto point = one.Propose(*fresh, 1000 + trials);
    if (!point.ok()) continue;
    EXPECT_OK(one.space.Check(*point));
  }
}

void RemembersNothingButTheHistory(SamplerCase& one) {
  const auto old = one.Make();
  one.Grow(50);
  const History whole = one.history;
  one.history = History();
  std::int64_t number = 1000;
  for (const std::uint32_t i : whole.changes()) {
    one.history.Put(whole.trials()[i]);
    if (++number % 7 != 0) continue;
    const auto fresh = one.Make();
    EXPECT_TRUE(
        SameProposal(one.Propose(*old, number), one.Propose(*fresh, number)));
    EXPECT_TRUE(
        SameProposal(one.Propose(*old, number), one.Propose(*fresh, number)))
        << "asking changes nothing";
  }
}

void ServesTrialsInParallel(SamplerCase& one) {
  one.Grow(25);
  const auto sampler = one.Make();
  for (std::int64_t number = 100; number < 116; ++number) {
    const auto point = one.Propose(*sampler, number);
    if (!point.ok()) return;
    ASSERT_OK(one.space.Check(*point));
    Observation running;
    running.number = number;
    running.state = TrialState::kRunning;
    running.point = *point;
    one.history.Put(running);
  }
}

namespace {

constexpr std::uint64_t kCases = 300;

class SamplerContract : public testing::TestWithParam<std::string> {
 protected:
  void Run(void (*promise)(SamplerCase&), std::uint64_t cases) {
    for (std::uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      SamplerCase one(GetParam(), seed);
      promise(one);
    }
  }
};

TEST_P(SamplerContract, ProposesPointsOfTheSpace) {
  Run(ProposesPointsOfTheSpace, kCases);
}
TEST_P(SamplerContract, RemembersNothingButTheHistory) {
  Run(RemembersNothingButTheHistory, kCases / 3);
}
TEST_P(SamplerContract, ServesTrialsInParallel) {
  Run(ServesTrialsInParallel, kCases / 3);
}

// A new sampler is in the suite as soon as the factory knows its name.
INSTANTIATE_TEST_SUITE_P(Factory, SamplerContract,
                         testing::ValuesIn(SamplerNames()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace frostline
