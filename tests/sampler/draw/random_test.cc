// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/random.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

constexpr int kRandomDraws = 20'000;

std::vector<double> Draw(const Domain& domain) {
  Rng rng(1);
  std::vector<double> values;
  for (int i = 0; i < kRandomDraws; ++i) {
    values.push_back(DrawValue(domain, kFrozenShare, rng));
  }
  return values;
}

// Five standard deviations of a binomial count.
void ExpectShare(const std::vector<double>& values, double share, auto holds) {
  const auto count =
      static_cast<double>(std::count_if(values.begin(), values.end(), holds));
  EXPECT_NEAR(count, share * kRandomDraws,
              5.0 * std::sqrt(kRandomDraws * share * (1.0 - share)));
}

TEST(DrawValue, EveryLevelChoiceAndStepIsEquallyLikely) {
  for (const Domain& domain :
       {Domain(Levels{{0, 1e-6, 1e-5}}), Domain(IntRange{-4, 5, 4, false}),
        Domain(FloatRange{0.0, 0.3, 0.15, false}),
        Domain(Categorical{{"1", "2", "3"}})}) {
    const std::vector<double> values = Draw(domain);
    for (const double value : ListValues(domain)) {
      ExpectShare(values, 1.0 / 3.0, [&](double v) { return v == value; });
    }
  }
}

TEST(DrawValue, RatesAreUniformInTheLogarithmAndFrozenInAShare) {
  const std::vector<double> values = Draw(LogUniform{1e-6, 1e-2, true});
  ExpectShare(values, 0.2, [](double v) { return v == 0.0; });
  ExpectShare(values, 0.4, [](double v) { return v > 1e-4; });
  ExpectShare(values, 0.2, [](double v) { return v > 0.0 && v < 1e-5; });
}

TEST(DrawValue, LogarithmicIntegersAreAsWideAsTheirCells) {
  const std::vector<double> values = Draw(IntRange{1, 100, 1, true});
  const double whole = std::log(100.5 / 0.5);
  ExpectShare(values, std::log(3.0) / whole, [](double v) { return v == 1.0; });
  ExpectShare(values, std::log(100.5 / 9.5) / whole,
              [](double v) { return v >= 10.0; });
}

TEST(DrawPoint, AParameterIsAbsentWhereItsConditionIsNotMet) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"optimizer", Categorical{{"\"adam\"", "\"sgd\""}}, {}},
                     {"momentum", FloatRange{0.5, 0.9, 0.0, false}, when}},
                    {}, std::nullopt);
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    EXPECT_EQ(IsAbsent(point[1]), point[0] == 0.0);
  }
}

}  // namespace
}  // namespace frostline::sampler
