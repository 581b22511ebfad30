// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/sampler/tpe/tpe_cases.h"

namespace frostline::sampler {
namespace {

// A bowl with its lowest point at level `center` of every module.
double Bowl(const Point& point, double center) {
  double loss = 0.0;
  for (const double level : point) loss += (level - center) * (level - center);
  return loss;
}

// A search for the bowl at `center`.
PriorStudy Earlier(double center, double weight) {
  auto tpe = MakeTpe(SevenLevels(8));
  const auto run = [center](std::int64_t number, const Point& point) {
    return Succeeded(number, point, Bowl(point, center));
  };
  return {.name = "earlier",
          .weight = weight,
          .trials = Search(*tpe, 60, 99, run).trials()};
}

// The mean of the best of 30 trials over seeds; the study's bowl is at 5.
double MeanBest(const std::vector<PriorStudy>& priors,
                const Options& options = {}) {
  double sum = 0.0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    auto tpe = MakeTpe(SevenLevels(8), options, priors);
    double best = INFINITY;
    Search(*tpe, 30, seed, [&best](std::int64_t number, const Point& point) {
      const double loss = Bowl(point, 5.0);
      best = std::min(best, loss);
      return Succeeded(number, point, loss);
    });
    sum += best / kSeeds;
  }
  return sum;
}

TEST(WarmStart, ARelatedStudyHelpsAndAnUnrelatedOneDoesNotHurt) {
  const double alone = MeanBest({});
  EXPECT_LT(MeanBest({Earlier(5.0, 0.0)}), 0.4 * alone);
  EXPECT_LT(MeanBest({Earlier(4.0, 0.0)}), 0.8 * alone);
  EXPECT_LT(MeanBest({Earlier(1.0, 0.0)}), 1.2 * alone);
}

TEST(WarmStart, AGivenWeightIsNotJudged) {
  EXPECT_LT(MeanBest({Earlier(5.0, 1.0)}), 0.4 * MeanBest({}));
  EXPECT_GT(MeanBest({Earlier(1.0, 1.0)}), 2 * MeanBest({Earlier(1.0, 0.0)}));
}

TEST(WarmStart, CanBeSwitchedOff) {
  EXPECT_EQ(MeanBest({Earlier(5.0, 1.0)}, {{"warm_start", "false"}}),
            MeanBest({}));
}

TEST(WarmStart, TrialsThatTellNothingAreNone) {
  PriorStudy study = Earlier(5.0, 0.0);
  for (Observation& trial : study.trials) trial.state = TrialState::kFailed;
  EXPECT_EQ(MeanBest({study}), MeanBest({}));
}

}  // namespace
}  // namespace frostline::sampler
