// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/importance/adaptive_trials.h"

#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/rng.h"
#include "sampler/factory.h"
#include "tests/importance/trials.h"

namespace frostline::bench {
namespace {

// As the sampler proposes them, those from `random_from` on drawn at random.
History Searched(const AdaptiveCase& one, const std::string& sampler,
                 int trials, int random_from, std::uint64_t seed) {
  std::map<bool, std::unique_ptr<sampler::Sampler>> samplers;
  for (const bool random : {false, true}) {
    auto made = sampler::MakeSampler(
        {.name = random ? "random" : sampler, .options = {}}, one.space,
        {{"score", Direction::kMaximize}});
    if (!made.ok())
      throw std::runtime_error(std::string(made.status().message()));
    samplers[random] = *std::move(made);
  }
  Rng noise(seed, std::uint64_t{1} << 40);
  History history;
  for (int i = 0; i < trials; ++i) {
    Rng rng(seed, static_cast<std::uint64_t>(i));
    auto point = samplers[i >= random_from]->Propose(history, i, rng);
    if (!point.ok())
      throw std::runtime_error(std::string(point.status().message()));
    const double value = one.target(*point) + one.noise * noise.Normal();
    history.Put(importance::Succeeded(i, *std::move(point), value));
  }
  return history;
}

}  // namespace

std::vector<AdaptiveCase> AdaptiveCases(const std::vector<test::Truth>& truths,
                                        const std::string& kind) {
  std::vector<AdaptiveCase> cases;
  for (const test::Truth& truth : truths) {
    if (truth.modules != 7) continue;
    cases.push_back({truth.name, IsAdditive(truth) ? "additive" : "inter",
                     truth.MakeSpace(),
                     [&truth](const Point& p) { return truth.Target(p); },
                     kTruthNoise, MainShares(truth)});
  }
  for (const Cliff& cliff : Cliffs()) {
    cases.push_back({cliff.name, "cliff",
                     test::Truth{"", kCliffModules, 7, {}}.MakeSpace(),
                     cliff.target, kTruthNoise * cliff.deviation, cliff.main});
  }
  std::erase_if(cases,
                [&kind](const AdaptiveCase& one) { return one.kind != kind; });
  return cases;
}

History AdaptiveTrials(const AdaptiveCase& one, const std::string& sort,
                       int trials, int seed) {
  const std::uint64_t own = SeedOf(one.name, 9000 + seed);
  if (sort == "uniform") {
    return NoisyTrials(one.space, trials, own, one.target, one.noise);
  }
  if (sort == "tpe-random") {
    return Searched(one, "tpe", trials, trials - trials / 3, own);
  }
  return Searched(one, sort, trials, trials, own);
}

}  // namespace frostline::bench
