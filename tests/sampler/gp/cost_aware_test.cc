// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gmock/gmock.h"
#include "sampler/cost.h"
#include "tests/sampler/gp/support.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

using Seconds = std::function<double(const Point&)>;

// Only the last module matters; the sum of all seconds.
double RunStudy(LittleStudy& study, int trials, const Seconds& seconds) {
  double sum = 0.0;
  for (int i = 0; i < trials; ++i) {
    Observation trial;
    trial.number = study.next();
    trial.state = TrialState::kSucceeded;
    trial.point = study.Ask();
    trial.values = {std::abs(trial.point.back() - 4.0)};
    trial.cost_s = seconds(trial.point);
    sum += trial.cost_s;
    study.history.Put(std::move(trial));
  }
  return sum;
}

TEST(CostAwareLevelsGp, PrefersTheCheaperOfTwoThatAreAsGood) {
  const Space space = SevenLevelModules(6);
  const WorkCounter counter(space);
  const auto seconds = [&](const char* cost_aware) {
    double sum = 0.0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      LittleStudy study(space, {{"cost_aware", cost_aware}});
      study.seed = seed;
      sum += RunStudy(study, 40, [&counter](const Point& point) {
        return 2.0 + counter.CountOf(point).passes();
      });
    }
    return sum;
  };
  EXPECT_LT(seconds("true"), 0.97 * seconds("false"));
}

TEST(CostAwareLevelsGp, WhileCostsAreNotKnownNothingChanges) {
  LittleStudy aware(SevenLevelModules(3), {{"cost_aware", "true"}});
  LittleStudy plain(SevenLevelModules(3));
  const auto by_chance = [](const Point& point) {
    return std::exp(static_cast<double>(HashPoint(point) % 8));
  };
  EXPECT_EQ(RunStudy(aware, 30, by_chance), RunStudy(plain, 30, by_chance));
  for (std::size_t i = 0; i < aware.history.size(); ++i) {
    EXPECT_TRUE(SamePoint(aware.history.trials()[i].point,
                          plain.history.trials()[i].point));
  }
}

TEST(CostAwareLevelsGp, RefusesWhatIsNeitherTrueNorFalse) {
  const auto sampler = MakeSampler(
      {.name = "levels-gp", .options = {{"cost_aware", "somewhat"}}},
      SevenLevelModules(2), {{"loss", Direction::kMinimize}}, {});
  EXPECT_THAT(sampler,
              FailsAt(ErrorId::kSamplerInvalid, "sampler.options.cost_aware"));
}

}  // namespace
}  // namespace frostline::sampler
