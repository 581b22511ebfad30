// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/split.h"

#include <algorithm>
#include <map>

#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using SplitRows = std::vector<std::uint32_t>;

// So many rows of each label, mixed.
Dataset Labelled(const std::vector<int>& counts) {
  std::string bytes = "text\tlabel\n";
  const int most = *std::max_element(counts.begin(), counts.end());
  for (int i = 0; i < most; ++i) {
    for (std::size_t label = 0; label < counts.size(); ++label) {
      if (i < counts[label]) bytes += "x\t" + std::to_string(label) + "\n";
    }
  }
  return DataFolder()
      .Read(DatasetReader(TaskKind::kClassification), bytes, Tsv(), {})
      .value();
}

std::vector<int> CountsOf(const Dataset& data, const SplitRows& rows) {
  std::vector<int> counts(data.labels().size());
  for (const std::uint32_t row : rows) {
    ++counts[static_cast<std::size_t>(data[row].label)];
  }
  return counts;
}

TEST(HoldOut, KeepsTheSharesOfTheClasses) {
  const Dataset data = Labelled({800, 150, 50});
  const HeldOut held = HoldOut(data, 0.1, 1).value();
  EXPECT_THAT(CountsOf(data, held.validation), ElementsAre(80, 15, 5));
  EXPECT_THAT(CountsOf(data, held.training), ElementsAre(720, 135, 45));
}

TEST(HoldOut, EveryRowIsOnOneSide) {
  const Dataset data = Labelled({37, 11, 3});
  HeldOut held = HoldOut(data, 0.25, 5).value();
  EXPECT_TRUE(std::is_sorted(held.validation.begin(), held.validation.end()));
  SplitRows all = held.training;
  all.insert(all.end(), held.validation.begin(), held.validation.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, data.AllRows());
  EXPECT_EQ(held.validation.size(), 13U);  // 12.75 to the nearest
}

TEST(HoldOut, DependsOnTheSeedAlone) {
  const Dataset data = Labelled({50, 50});
  EXPECT_EQ(HoldOut(data, 0.2, 3).value().validation,
            HoldOut(Labelled({50, 50}), 0.2, 3).value().validation);
  EXPECT_NE(HoldOut(data, 0.2, 3).value().validation,
            HoldOut(data, 0.2, 4).value().validation);
}

// The rows that every release must choose, or results stop comparing.
TEST(HoldOut, IsTheSameOnEveryMachine) {
  EXPECT_THAT(HoldOut(Labelled({10, 10}), 0.2, 42).value().validation,
              ElementsAre(1, 7, 8, 14));
}

TEST(HoldOut, NeverTakesAllOfAClass) {
  const Dataset data = Labelled({1, 2, 40});
  const HeldOut held = HoldOut(data, 0.9, 1).value();
  for (const int count : CountsOf(data, held.training)) EXPECT_GE(count, 1);
}

TEST(HoldOut, RefusesWhatLeavesASideEmpty) {
  const Dataset data = Labelled({1, 1});
  EXPECT_THAT(FaultOf(HoldOut(data, 0.1, 1)),
              IsFault(FaultKind::kMisuse, "holds out 0 of 2 rows"));
  for (const double share : {0.0, 1.0, -0.5, 2.0}) {
    EXPECT_FALSE(HoldOut(data, share, 1).ok()) << share;
  }
}

TEST(BalancedSubset, TakesEquallyManyOfEachClass) {
  const Dataset data = Labelled({900, 80, 20});
  const SplitRows rows = BalancedSubset(data, data.AllRows(), 60, 1);
  EXPECT_THAT(CountsOf(data, rows), ElementsAre(20, 20, 20));
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST(BalancedSubset, WhereAClassHasTooFewOthersGiveMore) {
  const Dataset data = Labelled({900, 80, 5});
  EXPECT_THAT(CountsOf(data, BalancedSubset(data, data.AllRows(), 65, 1)),
              ElementsAre(30, 30, 5));
}

TEST(BalancedSubset, ASmallerOneIsPartOfAGreaterOne) {
  const Dataset data = Labelled({300, 100});
  const SplitRows small = BalancedSubset(data, data.AllRows(), 31, 9);
  const SplitRows great = BalancedSubset(data, data.AllRows(), 150, 9);
  EXPECT_EQ(small.size(), 31U);
  EXPECT_TRUE(
      std::includes(great.begin(), great.end(), small.begin(), small.end()));
}

TEST(BalancedSubset, TakesNoOtherRowsThanGiven) {
  const Dataset data = Labelled({10, 10});
  const SplitRows given = {1, 3, 4, 8, 9};
  EXPECT_EQ(BalancedSubset(data, given, 100, 1), given);
  const SplitRows two = BalancedSubset(data, given, 2, 1);
  EXPECT_TRUE(
      std::includes(given.begin(), given.end(), two.begin(), two.end()));
}

TEST(BalancedSubset, ChanceIsFair) {
  // Given 200 samples of 10 of 100 rows, when counted, then each row came up
  // about 20 times: 5 to 45 is over five standard deviations on both sides.
  const Dataset data = Labelled({50, 50});
  std::vector<int> taken(100);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const auto row : BalancedSubset(data, data.AllRows(), 10, seed)) {
      ++taken[row];
    }
  }
  for (const int count : taken) {
    EXPECT_GT(count, 2);
    EXPECT_LT(count, 45);
  }
}

TEST(BalancedSubset, WithoutClassesChanceDecides) {
  const Dataset data = DataFolder()
                           .Read(DatasetReader(TaskKind::kRegression),
                                 "text\tlabel\na\t1\nb\t2\nc\t3\n", Tsv(), {})
                           .value();
  EXPECT_EQ(BalancedSubset(data, data.AllRows(), 2, 1).size(), 2U);
}

}  // namespace
}  // namespace frostline::trainer
