// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gmock/gmock.h"
#include "worker/trainer/data/token_store.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using BatchLengths = std::vector<std::uint32_t>;

// Like sentences: most short, a few long.
BatchLengths Sentences(std::size_t count) {
  BatchLengths lengths;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto draw = static_cast<std::uint32_t>(DrawOf(1, 2, i) % 1000);
    lengths.push_back(5 + draw * draw / 8000);
  }
  return lengths;
}

std::vector<std::uint32_t> SortedRows(const std::vector<RowBatch>& batches) {
  std::vector<std::uint32_t> rows;
  for (const RowBatch& batch : batches) {
    rows.insert(rows.end(), batch.begin(), batch.end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::uint64_t Area(const RowBatch& batch, const BatchLengths& lengths) {
  std::uint32_t longest = 0;
  for (const auto row : batch) longest = std::max(longest, lengths[row]);
  return std::uint64_t{longest} * batch.size();
}

TEST(Batches, EveryRowOnceAnEpoch) {
  const BatchLengths lengths = Sentences(1003);
  for (const bool bucket : {false, true}) {
    for (const std::size_t tokens : {0u, 400u}) {
      const BatchPlanner planner(
          lengths,
          {.batch_size = 16, .batch_tokens = tokens, .bucket = bucket});
      const auto rows = SortedRows(planner.Epoch(3));
      ASSERT_THAT(rows, SizeIs(1003));
      for (std::uint32_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], i);
      EXPECT_EQ(SortedRows(planner.Ordered()), rows);
    }
  }
}

TEST(Batches, OnlyOneIsNotFull) {
  const BatchPlanner planner(Sentences(1003), {.batch_size = 16});
  std::size_t full = 0;
  for (const RowBatch& batch : planner.Epoch(0)) full += batch.size() == 16;
  EXPECT_EQ(full, 62U);
  EXPECT_EQ(planner.Epoch(0).size(), 63U);
  EXPECT_EQ(planner.BatchesOf(3), 189U);
}

TEST(Batches, EpochsDifferAndRepeat) {
  const BatchPlanner planner(Sentences(200), {.batch_size = 8, .seed = 5});
  const BatchPlanner again(Sentences(200), {.batch_size = 8, .seed = 5});
  const BatchPlanner other(Sentences(200), {.batch_size = 8, .seed = 6});
  EXPECT_EQ(planner.Epoch(2), again.Epoch(2));
  EXPECT_NE(planner.Epoch(2), planner.Epoch(1));
  EXPECT_NE(planner.Epoch(2), other.Epoch(2));
}

// The order that every release must give, or resumed runs stop repeating.
TEST(Batches, AreTheSameOnEveryMachine) {
  const BatchPlanner planner({3, 9, 4, 4, 7, 2}, {.batch_size = 2, .seed = 1});
  EXPECT_THAT(
      planner.Epoch(0),
      ElementsAre(ElementsAre(1, 4), ElementsAre(0, 5), ElementsAre(2, 3)));
}

TEST(Batches, BucketsSavePadding) {
  const BatchLengths lengths = Sentences(5000);
  std::uint64_t tokens = 0;
  for (const auto length : lengths) tokens += length;
  const auto padded = [&](bool bucket) {
    std::uint64_t area = 0;
    const BatchPlanner planner(lengths, {.batch_size = 32, .bucket = bucket});
    for (const RowBatch& batch : planner.Epoch(0)) area += Area(batch, lengths);
    return static_cast<double>(area) / static_cast<double>(tokens);
  };
  EXPECT_LT(padded(true), 1.1);
  EXPECT_GT(padded(false), 2.0);
}

TEST(Batches, KeepToTheTokenBudget) {
  const BatchLengths lengths = Sentences(3000);
  for (const bool bucket : {false, true}) {
    const BatchPlanner planner(lengths,
                               {.batch_tokens = 512, .bucket = bucket});
    for (const RowBatch& batch : planner.Epoch(1)) {
      EXPECT_LE(Area(batch, lengths), 512U);
    }
  }
}

TEST(Batches, ARowBeyondTheBudgetStandsAlone) {
  const BatchPlanner planner({10, 900, 10}, {.batch_tokens = 100});
  const auto batches = planner.Epoch(0);
  ASSERT_THAT(batches, SizeIs(2));
  EXPECT_THAT(batches[0], ElementsAre(1));
  EXPECT_THAT(batches[1], SizeIs(2));
}

TEST(Batches, TheLongestComesFirst) {
  const BatchLengths lengths = Sentences(2000);
  const auto longest = static_cast<std::uint32_t>(
      std::max_element(lengths.begin(), lengths.end()) - lengths.begin());
  const BatchPlanner planner(lengths, {.batch_size = 16});
  EXPECT_EQ(lengths[planner.Epoch(4)[0][0]], lengths[longest]);
}

TEST(Batches, StepsAreCountedUnderATokenBudget) {
  const BatchPlanner planner(Sentences(500), {.batch_tokens = 300});
  EXPECT_EQ(planner.BatchesOf(2),
            planner.Epoch(0).size() + planner.Epoch(1).size());
}

TEST(BatchCursor, GoesOnWhereItStood) {
  const BatchPlanner planner(Sentences(50), {.batch_size = 8, .seed = 3});
  BatchCursor whole(planner, {});
  std::vector<RowBatch> all;
  for (int i = 0; i < 20; ++i) {
    if (i == 9) {
      EXPECT_EQ(whole.position(), (BatchPosition{1, 2}));
    }
    all.push_back(whole.Next());
  }
  BatchCursor resumed(planner, {1, 2});
  for (std::size_t i = 9; i < 20; ++i) EXPECT_EQ(resumed.Next(), all[i]);
  EXPECT_EQ(resumed.position(), whole.position());
}

TEST(BatchCursor, AtTheEndOfAnEpochBeginsTheNext) {
  const BatchPlanner planner(Sentences(16), {.batch_size = 8});
  BatchCursor cursor(planner, {0, 2});
  EXPECT_EQ(cursor.Next(), planner.Epoch(1)[0]);
}

}  // namespace
}  // namespace frostline::trainer
