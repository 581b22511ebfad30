// SPDX-License-Identifier: Apache-2.0
//
// 100,000 odd histories: whatever is in them, every sampler proposes a point of
// the space, and proposes the same one when it is asked again.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/contract/sampler_contract.h"
#include "tests/support/record.h"

namespace frostline::test {
namespace {

// The cheaper a sampler and the more it looks at, the more it gets.
std::uint64_t HistoriesFor(const std::string& sampler) {
  static const std::map<std::string, std::uint64_t> kShare = {
      {"tpe", 50'000}, {"levels-gp", 8'000}, {"auto", 2'000}};
  const auto found = kShare.find(sampler);
  return found == kShare.end() ? 10'000 : found->second;
}

// An earlier study, as odd as this one; its weight is given or to be judged.
std::vector<sampler::PriorStudy> OddPriors(SamplerCase& one) {
  sampler::PriorStudy prior{
      .name = "old",
      .weight = one.rng.Uniform() < 0.5 ? 0.0 : one.rng.Uniform(),
      .trials = {}};
  const auto trials = static_cast<int>(one.rng.Below(20));
  const History seen =
      sampler::OddHistory(one.space, one.objectives.size(), trials, one.rng);
  for (const Observation& trial : seen.trials()) {
    if (trial.state == TrialState::kSucceeded) prior.trials.push_back(trial);
  }
  return {prior};
}

struct Searcher {
  std::string name;
  sampler::Options options;
  Purpose purpose = Purpose::kBest;
};

std::vector<Searcher> AllSearchers() {
  std::vector<Searcher> searchers = {{"tpe", {{"compat", "v4"}}},
                                     {"tpe", {{"compat", "v5"}}},
                                     {"tpe", {}, Purpose::kUnderstand}};
  for (const std::string& name : sampler::SamplerNames())
    searchers.push_back({name, {}});
  return searchers;
}

class SamplerProperty : public testing::TestWithParam<Searcher> {};

TEST_P(SamplerProperty, ProposesAPointOfTheSpaceWhateverTheHistory) {
  const auto& [name, options, purpose] = GetParam();
  const bool plain = options.empty() && purpose == Purpose::kBest;
  Record record;
  const std::uint64_t histories = plain ? HistoriesFor(name) : 3'000;
  for (std::uint64_t seed = 0; seed < histories / kSlower; ++seed) {
    ++record["histories"];
    SamplerCase one(name, 1'000'000 + seed, purpose);
    one.options = options;
    one.Grow(static_cast<int>(one.rng.Below(28)));
    if (seed % 4 == 0) one.priors = OddPriors(one);
    const auto sampler = one.Make();
    ASSERT_NE(sampler, nullptr) << "seed " << seed;
    const auto number = static_cast<std::int64_t>(one.history.size());
    const auto point = one.Propose(*sampler, number);
    if (!point.ok()) continue;
    ASSERT_OK(one.space.Check(*point)) << "seed " << seed;
    ASSERT_TRUE(SameProposal(point, one.Propose(*sampler, number)))
        << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Factory, SamplerProperty,
                         testing::ValuesIn(AllSearchers()),
                         [](const auto& searcher) {
                           std::string plain = searcher.param.name;
                           for (const auto& [_, value] :
                                searcher.param.options) {
                             plain += "_" + value;
                           }
                           if (searcher.param.purpose != Purpose::kBest) {
                             plain += "_for_";
                             plain += NameOf(searcher.param.purpose);
                           }
                           std::replace(plain.begin(), plain.end(), '-', '_');
                           return plain;
                         });

}  // namespace
}  // namespace frostline::test
