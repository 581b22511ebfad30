// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/sampler_contract.h"

#include <algorithm>
#include <ostream>
#include <stop_token>

namespace frostline::test {

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
  const History ended = one.history;
  one.history = History();
  const std::vector<std::uint32_t>& order = ended.changes();
  constexpr std::size_t kAtOnce = 3;
  // Trials run before they end, several at once, as in a real study.
  for (std::size_t i = 0; i < order.size() + kAtOnce; ++i) {
    if (i < order.size()) {
      Observation running = ended.trials()[order[i]];
      running.state = TrialState::kRunning;
      running.values.clear();
      one.history.Put(running);
    }
    if (i >= kAtOnce) one.history.Put(ended.trials()[order[i - kAtOnce]]);
    if (i % 7 != 0) continue;
    const auto number = static_cast<std::int64_t>(1000 + i);
    for (int asked = 0; asked < 2; ++asked) {  // asking changes nothing
      const auto fresh = one.Make();
      EXPECT_TRUE(
          SameProposal(one.Propose(*old, number), one.Propose(*fresh, number)));
    }
  }
}

void AStopChangesNoLaterProposal(SamplerCase& one) {
  const auto stopped = one.Make();
  std::stop_source stop;
  stop.request_stop();
  for (const int trials : {0, 20, 40}) {
    one.Grow(trials);
    Rng rng(1);
    const auto point =
        stopped->Propose(one.history, 500, rng, stop.get_token());
    EXPECT_TRUE(absl::IsCancelled(point.status()));
  }
  const auto fresh = one.Make();
  EXPECT_TRUE(
      SameProposal(one.Propose(*stopped, 500), one.Propose(*fresh, 500)));
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

constexpr std::uint64_t kCases = 300 / kSlower;

struct Searcher {
  std::string name;
  Purpose purpose = Purpose::kBest;
};

void PrintTo(const Searcher& searcher, std::ostream* out) {
  *out << searcher.name << " for " << NameOf(searcher.purpose);
}

// Those that learn have purposes, too.
std::vector<Searcher> AllSearchers() {
  std::vector<Searcher> searchers = {{"levels-gp", Purpose::kBoth},
                                     {"tpe", Purpose::kBoth},
                                     {"tpe", Purpose::kUnderstand}};
  for (const std::string& name : sampler::SamplerNames())
    searchers.push_back({name});
  return searchers;
}

class SamplerContract : public testing::TestWithParam<Searcher> {
 protected:
  void Run(void (*promise)(SamplerCase&), std::uint64_t cases) {
    for (std::uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      SamplerCase one(GetParam().name, seed, GetParam().purpose);
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
TEST_P(SamplerContract, AStopChangesNoLaterProposal) {
  Run(AStopChangesNoLaterProposal, kCases / 3);
}
TEST_P(SamplerContract, ServesTrialsInParallel) {
  Run(ServesTrialsInParallel, kCases / 3);
}

// A study of fixed rates alone: the same trial again and again.
TEST_P(SamplerContract, RepeatsTheOnePointOfASpaceWithoutParameters) {
  SamplerCase one(GetParam().name, 1, GetParam().purpose);
  one.space = Space();
  const auto sampler = sampler::MakeSampler(
      {.name = one.name, .options = {}, .purpose = one.purpose}, one.space,
      one.objectives);
  if (!sampler.ok()) {  // one that covers a space has nothing to cover
    EXPECT_THAT(sampler, FailsWith(ErrorId::kSamplerInvalid));
    return;
  }
  one.Grow(40);
  const auto point = one.Propose(**sampler, 40);
  ASSERT_OK(point);
  EXPECT_TRUE(point->empty());
}

// A new sampler is in the suite as soon as the factory knows its name.
INSTANTIATE_TEST_SUITE_P(Factory, SamplerContract,
                         testing::ValuesIn(AllSearchers()),
                         [](const auto& searcher) {
                           std::string text = searcher.param.name;
                           if (searcher.param.purpose != Purpose::kBest) {
                             text += "_for_";
                             text += NameOf(searcher.param.purpose);
                           }
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace frostline::test
