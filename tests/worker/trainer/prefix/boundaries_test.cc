// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundaries.h"

#include <gtest/gtest.h>

#include <vector>

namespace frostline::trainer {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30U;
constexpr std::int64_t kHidden = 2;

RowKey Key(std::uint64_t i) { return {i * 77, i}; }

// [B, N, 2]: token j of text i is (10 i + j, -j), 0 behind the text's end.
at::Tensor BoundaryOf(const std::vector<ResidentRow>& rows,
                      std::int64_t width) {
  at::Tensor boundary =
      at::zeros({static_cast<std::int64_t>(rows.size()), width, kHidden});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::int64_t j = 0; j < rows[i].tokens; ++j) {
      const auto text = static_cast<double>(rows[i].key.low);
      boundary[static_cast<std::int64_t>(i)][j][0] =
          10.0 * text + static_cast<double>(j);
      boundary[static_cast<std::int64_t>(i)][j][1] = -static_cast<double>(j);
    }
  }
  return boundary;
}

TEST(ResidentRows, GathersABatchInAnyOrderWithZerosBehindEnds) {
  ResidentRows rows(at::kCPU, kPlenty);
  const std::vector<ResidentRow> kept = {{Key(1), 3}, {Key(2), 1}, {Key(3), 2}};
  rows.Keep("a", kept, BoundaryOf(kept, 3));
  const std::vector<ResidentRow> asked = {kept[2], kept[0], kept[2]};
  EXPECT_TRUE(rows.Gather("a", asked, 4).equal(BoundaryOf(asked, 4)));
  EXPECT_EQ(rows.gathered(), 3);
}

TEST(ResidentRows, WhatItDoesNotHaveIsZeros) {
  ResidentRows rows(at::kCPU, kPlenty);
  const std::vector<ResidentRow> kept = {{Key(1), 2}};
  rows.Keep("a", kept, BoundaryOf(kept, 2));
  EXPECT_FALSE(rows.Has("a", Key(2)));
  EXPECT_FALSE(rows.Has("b", Key(1)));
  const at::Tensor batch =
      rows.Gather("a", std::vector<ResidentRow>{{Key(2), 2}, {Key(1), 2}}, 2);
  EXPECT_EQ(batch[0].abs().sum().item<float>(), 0.0F);
  EXPECT_TRUE(batch[1].equal(BoundaryOf(kept, 2)[0]));
}

TEST(ResidentRows, KeepsWhatItHadWhileItGrows) {
  ResidentRows rows(at::kCPU, kPlenty);
  std::vector<ResidentRow> all;
  for (std::uint64_t i = 1; i <= 900; ++i) {
    all.push_back({Key(i), static_cast<std::int64_t>(1 + i % 20)});
    rows.Keep("a", {&all.back(), 1},
              BoundaryOf({all.back()}, all.back().tokens));
  }
  EXPECT_TRUE(rows.Gather("a", all, 20).equal(BoundaryOf(all, 20)));
}

// A first allocation is 4,096 rows of 8 bytes: 32 KiB.
TEST(ResidentRows, TheGroupUnusedForLongestMakesRoom) {
  ResidentRows rows(at::kCPU, 70'000);
  const std::vector<ResidentRow> one = {{Key(1), 2}};
  for (const char* group : {"a", "b"}) {
    rows.Keep(group, one, BoundaryOf(one, 2));
  }
  (void)rows.Gather("a", one, 2);
  rows.Keep("c", one, BoundaryOf(one, 2));
  EXPECT_TRUE(rows.Has("a", Key(1)));
  EXPECT_FALSE(rows.Has("b", Key(1)));
  EXPECT_TRUE(rows.Has("c", Key(1)));
  EXPECT_LE(rows.bytes(), 70'000U);
}

TEST(ResidentRows, WhatCannotFitDropsNobodyForNothing) {
  ResidentRows rows(at::kCPU, 70'000);
  const std::vector<ResidentRow> one = {{Key(1), 2}};
  rows.Keep("a", one, BoundaryOf(one, 2));
  std::vector<ResidentRow> many;
  for (std::uint64_t i = 1; i <= 900; ++i) many.push_back({Key(i), 10});
  rows.Keep("b", many, BoundaryOf(many, 10));
  EXPECT_TRUE(rows.Has("a", Key(1)));
  EXPECT_FALSE(rows.Has("b", Key(900)));
  EXPECT_LE(rows.bytes(), 70'000U);
}

TEST(ResidentRows, ClearedItHasNothing) {
  ResidentRows rows(at::kCPU, kPlenty);
  const std::vector<ResidentRow> one = {{Key(1), 2}};
  rows.Keep("a", one, BoundaryOf(one, 2));
  rows.Clear();
  EXPECT_FALSE(rows.Has("a", Key(1)));
  EXPECT_EQ(rows.bytes(), 0U);
}

}  // namespace
}  // namespace frostline::trainer
