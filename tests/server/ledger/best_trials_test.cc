// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/best_trials.h"

#include <algorithm>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::server {
namespace {

std::vector<Objective> Some(std::size_t count) {
  std::vector<Objective> objectives = {
      {"loss", Direction::kMinimize},
      {"accuracy", Direction::kMaximize},
      {"seconds", Direction::kMinimize},
      {"bytes", Direction::kMinimize},
  };
  objectives.resize(count);
  return objectives;
}

// All that were offered, each against each.
std::vector<std::int64_t> BestOfAll(
    const std::vector<Objective>& objectives,
    const std::vector<std::vector<double>>& offered) {
  std::vector<std::pair<std::vector<double>, std::int64_t>> trials;
  for (const auto& values : offered) {
    std::vector<double> losses;
    for (std::size_t i = 0; i < values.size(); ++i) {
      losses.push_back(AsLoss(objectives[i], values[i]));
    }
    trials.emplace_back(losses, static_cast<std::int64_t>(trials.size()));
  }
  std::sort(trials.begin(), trials.end());
  std::vector<std::int64_t> best;
  for (const auto& [losses, number] : trials) {
    const bool beaten = std::any_of(trials.begin(), trials.end(),
                                    [&, &mine = losses](const auto& other) {
                                      return Dominates(other.first, mine);
                                    });
    if (!beaten) best.push_back(number);
  }
  if (objectives.size() == 1)
    best.resize(std::min<std::size_t>(best.size(), 1));
  return best;
}

TEST(BestTrials, AreThoseThatNoOtherDominatesTwinsIncluded) {
  for (std::size_t count = 1; count <= 4; ++count) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Rng rng(seed, count);
      const std::vector<Objective> objectives = Some(count);
      BestTrials best(objectives);
      std::vector<std::vector<double>> offered;
      for (int n = 0; n < 60; ++n) {
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i) {
          values.push_back(static_cast<double>(rng.Below(9)) - 4.0);
        }
        best.Offer(n, values);
        offered.push_back(values);
        ASSERT_EQ(best.Numbers(), BestOfAll(objectives, offered))
            << count << " objectives, seed " << seed << ", trial " << n;
        const auto first = best.First();
        ASSERT_EQ(first->number, best.Numbers(1)[0]);
        ASSERT_EQ(first->values,
                  offered[static_cast<std::size_t>(first->number)]);
      }
    }
  }
}

// The worst case: nobody dominates anybody. And one who beats them all.
TEST(BestTrials, OfTwoObjectivesAnOfferComparesWithItsNeighbours) {
  constexpr int kTrials = 20'000;
  BestTrials best(Some(2));
  for (int n = 0; n < kTrials; ++n) {
    const double place = n * 7919 % kTrials;
    best.Offer(n, {place, place});
  }
  EXPECT_EQ(best.Numbers().size(), static_cast<std::size_t>(kTrials));
  EXPECT_LE(best.comparisons(), 2 * kTrials);
  best.Offer(kTrials, {-1.0, kTrials});
  EXPECT_THAT(best.Numbers(), testing::ElementsAre(kTrials));
  EXPECT_LE(best.comparisons(), 3 * kTrials + 1);
}

}  // namespace
}  // namespace frostline::server
