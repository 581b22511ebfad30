// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "importance/evaluator.h"
#include "importance/forest/fanova.h"
#include "importance/forest/forest.h"
#include "importance/measure/evaluate_options.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnceWhateverTheThreads) {
  for (const int threads : {-1, 0, 1, 2, 8, 10'000}) {
    for (const std::size_t count : {0u, 1u, 7u, 500u}) {
      std::vector<std::atomic<int>> visits(count);
      ParallelFor(threads, count, [&](std::size_t i) { ++visits[i]; });
      EXPECT_TRUE(std::all_of(visits.begin(), visits.end(),
                              [](const auto& v) { return v == 1; }));
    }
  }
}

TEST(ParallelFor, NeverUsesMoreThreadsThanItSays) {
  EXPECT_EQ(ThreadsFor(3), 3);
  EXPECT_EQ(ThreadsFor(1 << 30), kMaxThreads);
  EXPECT_GE(ThreadsFor(0), 1);
  EXPECT_LE(ThreadsFor(-5), kMaxThreads);
}

// An exception that left a thread would end the program.
TEST(ParallelFor, TheLowestIndexThatThrowsIsHeardByTheCaller) {
  for (const int threads : {1, 2, 8}) {
    std::string heard;
    try {
      ParallelFor(threads, 100, [](std::size_t i) {
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& failure) {
      heard = failure.what();
    }
    EXPECT_EQ(heard, "3") << threads;
  }
}

// Index 9 has begun when index 3 throws, and throws after it.
TEST(ParallelFor, WhatIsThrownLaterAtAHigherIndexIsNotHeard) {
  std::atomic<bool> has_begun = false, has_thrown = false;
  const auto wait = [](const std::atomic<bool>& flag) {
    for (int i = 0; i < 1000 && !flag; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  std::string heard;
  try {
    ParallelFor(2, 100, [&](std::size_t i) {
      if (i == 3) {
        wait(has_begun);
        has_thrown = true;
        throw std::runtime_error("3");
      }
      if (i != 9) return;
      has_begun = true;
      wait(has_thrown);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw std::runtime_error("9");
    });
  } catch (const std::runtime_error& failure) {
    heard = failure.what();
  }
  EXPECT_EQ(heard, "3");
}

Space MixedSpace() {
  Condition deep;
  deep.parent = 0;
  deep.min = 1.0;
  deep.max = 3.0;
  return Space({{"depth", IntRange{0, 3, 1, false}, {}},
                {"rate", LogUniform{1e-6, 1e-2, true}, deep},
                {"kind", Categorical{{"a", "b", "c"}}, {}},
                {"x", FloatRange{0, 1, 0, false}, {}},
                {"levels", Levels{{0, 1e-5, 1e-4}}, {}}},
               {}, std::nullopt);
}

double Bumpy(const Point& point, Rng& rng) {
  return point[0] + (point[2] == 1.0 ? 2.0 : 0.0) * point[3] +
         0.5 * rng.Normal();
}

bool SameBits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

std::vector<double> NumbersOf(const Shares& shares) {
  std::vector<double> numbers = shares.main;
  numbers.insert(numbers.end(), shares.total.begin(), shares.total.end());
  numbers.insert(numbers.end(), shares.pairs.begin(), shares.pairs.end());
  numbers.push_back(shares.unexplained);
  return numbers;
}

TEST(Threads, EveryNumberOfAForestIsTheSameToTheBit) {
  const Space space = MixedSpace();
  const History history = UniformTrials(space, 90, Bumpy);
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    losses.push_back(trial.values[0]);
  }
  const Dataset data = MakeDataset(MeasureSpace(space), points, losses);
  const auto numbers = [&](int threads) {
    const Forest forest =
        FitForest(data, data.targets, RowWeights(90, 1), 24, 5, 0, threads);
    std::vector<double> all = NumbersOf(
        ForestShares(forest.trees, data.axes, {0, 1, 2, 3, 4}, threads));
    const auto add = [&all](const std::vector<double>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    add(ForestMainShares(forest.trees, data.axes, threads));
    for (const auto& curve : ForestCurves(forest.trees, data.axes, threads)) {
      add(curve);
    }
    add(ChanceMainShares(data, 5, threads));
    for (const Shares& one :
         Replicate(data, 10, 5, {0, 2}, threads, {{0, 1}})) {
      add(NumbersOf(one));
      add({one.subsets[0].together, one.subsets[0].beyond});
    }
    for (const SubsetVariance& subset : ForestSubsetShares(
             forest.trees, data.axes, {{0, 2, 3}, {1, 0}}, threads)) {
      add({subset.together, subset.beyond});
    }
    add({OutOfBagR2(data, forest, threads)});
    return all;
  };
  const std::vector<double> alone = numbers(1);
  for (const int threads : {2, 3, 8}) {
    EXPECT_TRUE(SameBits(alone, numbers(threads))) << threads;
  }
}

TEST(Threads, EveryReportIsTheSameToTheBit) {
  const Space space = MixedSpace();
  const History history = UniformTrials(space, 60, Bumpy);
  for (const std::string& name : EvaluatorNames()) {
    const auto numbers = [&](int threads) {
      EvaluateOptions options;
      options.evaluator = name;
      options.trees = 12;
      options.bootstraps = 6;
      options.threads = threads;
      const Report report = *Evaluate(space, kLoss, history, options);
      std::vector<double> all = {report.out_of_bag_r2, report.unexplained.lo95};
      for (const ParameterImportance& one : report.parameters) {
        all.insert(all.end(), {one.main.value, one.main.lo95, one.main.hi80,
                               one.total.value, one.total.hi95, one.direction,
                               one.top3_probability});
      }
      for (const PairImportance& pair : report.pairs) {
        all.insert(all.end(), {pair.share.value, pair.share.hi95});
      }
      return all;
    };
    const std::vector<double> alone = numbers(1);
    for (const int threads : {2, 3, 8}) {
      EXPECT_TRUE(SameBits(alone, numbers(threads))) << name << threads;
    }
  }
}

}  // namespace
}  // namespace frostline::importance
