// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundaries.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "tests/worker/trainer/data/data_fixture.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/prefix/boundary_maker.h"
#include "worker/trainer/text/tokenizer_folder.h"

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

using Boundary = std::vector<std::byte>;

// 41 texts of five tokens each.
TokenStore TextsOfOneLength() {
  DataFolder folder;
  std::string rows = "text\tlabel\n";
  for (int i = 0; i < 41; ++i) {
    rows += std::string(1, static_cast<char>('a' + i % 5)) + " " +
            static_cast<char>('a' + i / 5 % 5) + " " +
            static_cast<char>('a' + i / 25) + "\tx\n";
  }
  const Dataset data =
      folder.Read(DatasetReader(TaskKind::kClassification), rows, Tsv(), {})
          .value();
  const Tokenizer tokenizer(
      ReadVocabTxt("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\n", {})
          .value());
  return Tokenize(data, data.AllRows(), tokenizer, {}).value();
}

class BoundaryMakerOf
    : public ::testing::TestWithParam<std::tuple<std::int64_t, Precision>> {
 protected:
  BoundaryMakerOf() : loaded_(LoadFixture("models/bert-seq2")) {}

  static std::int64_t blocks() { return std::get<0>(GetParam()); }
  static Precision precision() { return std::get<1>(GetParam()); }

  std::map<std::uint32_t, Boundary> Make(
      const std::vector<std::uint32_t>& rows,
      const BoundaryMaker::Lower* lower = nullptr) {
    BoundaryMaker maker(loaded_.model, blocks(), precision());
    std::map<std::uint32_t, Boundary> made;
    const auto take =
        [&](std::uint32_t row, std::span<const std::byte> boundary,
            const BoundaryMaker::Origin& /*origin*/) -> Expected<Done> {
      made[row] = Boundary(boundary.begin(), boundary.end());
      return Done{};
    };
    EXPECT_TRUE(maker.Make(tokens_, rows, lower, take).ok());
    return made;
  }

  LoadedModel loaded_;
  TokenStore tokens_ = TextsOfOneLength();
};

TEST_P(BoundaryMakerOf, ATextHasTheSameBitsInAnyCompany) {
  std::vector<std::uint32_t> rows(tokens_.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const std::map<std::uint32_t, Boundary> together = Make(rows);
  ASSERT_EQ(together.size(), rows.size());
  for (const std::size_t some : {1U, 2U, 3U, 7U, 40U}) {
    const std::vector<std::uint32_t> last(rows.rbegin(), rows.rbegin() + some);
    const std::map<std::uint32_t, Boundary> made = Make(last);
    ASSERT_EQ(made.size(), some);
    for (const auto& [row, boundary] : made) {
      EXPECT_EQ(boundary, together.at(row)) << row << " of " << some;
    }
  }
}

// One text of each batch opens it; all do where they are computed one by one.
TEST_P(BoundaryMakerOf, SaysWhichTextOpensABatch) {
  std::vector<std::uint32_t> rows(tokens_.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  SizesByLength known;
  BoundaryMaker maker(loaded_.model, blocks(), precision(), {}, &known);
  std::vector<bool> opens;
  const auto take = [&](std::uint32_t, std::span<const std::byte>,
                        const BoundaryMaker::Origin& origin) -> Expected<Done> {
    opens.push_back(origin.opens_batch);
    return Done{};
  };
  ASSERT_TRUE(maker.Make(tokens_, rows, nullptr, take).ok());
  const auto batches = std::ranges::count(opens, true);
  EXPECT_TRUE(opens.front());
  ASSERT_EQ(known.size(), 1U);
  if (known.begin()->second.alone) {
    EXPECT_EQ(batches, 41);
  } else {
    EXPECT_LT(batches, 41);  // of 51 texts at most
  }
}

// Rows may be computed from lower ones that were rounded when they were kept.
TEST_P(BoundaryMakerOf, GoesOnFromALowerBoundaryToTheSameBits) {
  const std::vector<std::uint32_t> rows = {3, 1, 4, 15, 9, 26};
  BoundaryMaker below(loaded_.model, 1, precision());
  std::map<std::uint32_t, Boundary> kept;
  ASSERT_TRUE(
      below
          .Make(tokens_, rows, nullptr,
                [&](std::uint32_t row, std::span<const std::byte> boundary,
                    const BoundaryMaker::Origin&) -> Expected<Done> {
                  kept[row] = {boundary.begin(), boundary.end()};
                  return Done{};
                })
          .ok());
  const BoundaryMaker::Lower lower = {
      1, [&](std::uint32_t row, std::span<std::byte> into) {
        std::ranges::copy(kept.at(row), into.begin());
        return true;
      }};
  EXPECT_EQ(Make(rows, &lower), Make(rows));
}

TEST_P(BoundaryMakerOf, KeepsTwoBytesOfANumberInBf16) {
  const BoundaryMaker maker(loaded_.model, blocks(), precision());
  const std::size_t numbers =
      (blocks() > 3 ? 1 : 5) *
      static_cast<std::size_t>(loaded_.model.config().hidden);
  EXPECT_EQ(maker.BytesOf(5),
            numbers * (precision() == Precision::kBf16 ? 2 : 4));
  EXPECT_EQ(Make({0}).at(0).size(), maker.BytesOf(5));
}

// The embeddings and one layer, all layers, and the top one for one token.
INSTANTIATE_TEST_SUITE_P(
    Blocks, BoundaryMakerOf,
    ::testing::Combine(::testing::Values(2, 3, 4),
                       ::testing::Values(Precision::kFp32, Precision::kBf16)));

constexpr std::size_t kMost = 12;  // 12, 6, 3, 1

// Kernels that compute as they are told to.
struct Kernels {
  std::set<std::size_t> differing;  // sizes with other bits than the largest
  bool places_differ = false;
  bool top_places_differ = false;
  std::vector<std::size_t> asked;

  BatchSizes::Compute Compute() {
    return [this](std::size_t size) {
      asked.push_back(size);
      const auto texts = static_cast<std::int64_t>(size);
      SizeSample sample;
      sample.layer =
          at::full({texts, 2, 4}, differing.contains(size) ? 2.0 : 1.0);
      sample.top = at::ones({texts, 1, 4});  // [B, 1, H]
      if (places_differ) sample.layer[texts - 1] += 1.0;
      if (top_places_differ) sample.top[texts - 1] += 1.0;
      return sample;
    };
  }
};

TEST(BatchSizes, TakesTheLargestSizeThatIsFilled) {
  KnownSizes known;
  Kernels kernels;
  BatchSizes sizes(known, kMost, kernels.Compute());

  EXPECT_EQ(sizes.SizeFor(40), 12U);
  EXPECT_EQ(sizes.SizeFor(11), 6U);
  EXPECT_EQ(sizes.SizeFor(5), 3U);
  EXPECT_EQ(sizes.SizeFor(2), 1U);
}

TEST(BatchSizes, PassesOverASizeWithOtherBits) {
  KnownSizes known;
  Kernels kernels;
  kernels.differing = {6};
  BatchSizes sizes(known, kMost, kernels.Compute());

  EXPECT_EQ(sizes.SizeFor(11), 3U);
  EXPECT_EQ(sizes.SizeFor(12), 12U);
}

TEST(BatchSizes, FillsUpTheSmallestWhereNoneSoSmallHasTheBits) {
  KnownSizes known;
  Kernels kernels;
  kernels.differing = {1, 3};
  BatchSizes sizes(known, kMost, kernels.Compute());

  EXPECT_EQ(sizes.SizeFor(2), 6U);
  kernels.differing = {1, 3, 6};
  KnownSizes other;
  EXPECT_EQ(BatchSizes(other, kMost, kernels.Compute()).SizeFor(2), 12U);
}

TEST(BatchSizes, ComputesTextsOneByOneWherePlacesDiffer) {
  KnownSizes known;
  Kernels kernels;
  kernels.places_differ = true;
  BatchSizes sizes(known, kMost, kernels.Compute());

  EXPECT_EQ(sizes.SizeFor(40), 1U);
}

TEST(BatchSizes, LeavesTheTopAloneWhereItsPlacesDiffer) {
  KnownSizes known;
  Kernels kernels;
  kernels.top_places_differ = true;
  BatchSizes sizes(known, kMost, kernels.Compute());

  EXPECT_TRUE(sizes.top_alone());
  EXPECT_EQ(sizes.SizeFor(11), 6U);
}

TEST(BatchSizes, LooksAtASizeWhenItIsFirstWantedAndOnce) {
  KnownSizes known;
  Kernels kernels;
  BatchSizes first(known, kMost, kernels.Compute());
  EXPECT_EQ(first.SizeFor(40), 12U);
  EXPECT_EQ(first.SizeFor(4), 3U);
  EXPECT_EQ(kernels.asked, (std::vector<std::size_t>{12, 3}));

  BatchSizes second(known, kMost, kernels.Compute());
  EXPECT_EQ(second.SizeFor(4), 3U);
  EXPECT_EQ(kernels.asked, (std::vector<std::size_t>{12, 3}));
  EXPECT_EQ(second.SizeFor(1), 1U);
  EXPECT_EQ(kernels.asked, (std::vector<std::size_t>{12, 3, 1, 12}));
}

}  // namespace
}  // namespace frostline::trainer
