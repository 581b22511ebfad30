// SPDX-License-Identifier: Apache-2.0
#include "base/plain/sums.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/plain/statistics.h"
#include "gmock/gmock.h"

namespace frostline {
namespace {

std::string SumOf(std::string_view bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  return sum.Finish();
}

TEST(Crc32, HasItsKnownValueHoweverItIsCut) {
  const std::string digits = "123456789";
  EXPECT_EQ(Crc32(0, digits.data(), 9), 0xCBF43926U);
  const std::uint32_t first = Crc32(0, digits.data(), 2);
  EXPECT_EQ(Crc32(first, digits.data() + 2, 7), 0xCBF43926U);
}

// RFC 3720, B.4; the last one is the algorithm's usual check value.
TEST(Crc32c, IsThatOfTheRfc) {
  const std::vector<std::pair<std::string, std::uint32_t>> published = {
      {"", 0U},
      {std::string(32, '\0'), 0x8A9136AAU},
      {std::string(32, '\xff'), 0x62A8AB43U},
      {"123456789", 0xE3069283U}};
  for (const auto& [bytes, sum] : published) {
    EXPECT_EQ(Crc32c(0, bytes.data(), bytes.size()), sum);
    EXPECT_EQ(Crc32cByTable(0, bytes.data(), bytes.size()), sum);
  }
}

TEST(Crc32c, ByTableAndInPartsIsTheSame) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    bytes += static_cast<char>(i * 37);
    const std::size_t half = bytes.size() / 2;
    const std::uint32_t whole = Crc32c(0, bytes.data(), bytes.size());
    EXPECT_EQ(whole, Crc32cByTable(0, bytes.data(), bytes.size()));
    EXPECT_EQ(whole, Crc32c(Crc32c(0, bytes.data(), half), bytes.data() + half,
                            bytes.size() - half));
  }
}

TEST(Sha256, GivesTheStandardsExamples) {
  EXPECT_EQ(SumOf(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(SumOf("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(SumOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(SumOf(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeTheSameSum) {
  const std::string bytes(300, 'x');
  for (std::size_t size = 1; size < 130; ++size) {
    Sha256Sum sum;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      sum.Add(std::string_view(bytes).substr(at, size));
    }
    ASSERT_EQ(sum.Finish(), SumOf(bytes)) << size;
  }
}

TEST(Sha256, FieldsAreKeptApart) {
  Sha256Sum one;
  one.AddField("ab");
  one.AddField("c");
  Sha256Sum two;
  two.AddField("a");
  two.AddField("bc");
  EXPECT_NE(one.Finish(), two.Finish());
}

TEST(Sha256, IsKnownByItsForm) {
  EXPECT_TRUE(IsSha256(SumOf("")));
  EXPECT_FALSE(IsSha256(std::string(63, 'a')));
  EXPECT_FALSE(IsSha256(std::string(64, 'A')));
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(Quantile({7}, 0.99), 7);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Quantile({1, infinity, infinity}, 0.75), infinity);
}

TEST(MeanRanks, EqualValuesShareTheirRank) {
  EXPECT_THAT(MeanRanks({5, 1, 5, 9}), testing::ElementsAre(1.5, 0, 1.5, 3));
}

TEST(MeanRanks, WhatIsNoNumberComesLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(MeanRanks({nan, 2, 1}), testing::ElementsAre(2, 1, 0));
  EXPECT_EQ(MeanRanks({nan, 1, nan, 1, nan}).size(), 5u);
}

TEST(RankCorrelation, SeesOrderAndNotSize) {
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {0, 5, 1e9}), 1.0);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {4, 4, 4}), 0.0);
  EXPECT_NEAR(RankCorrelation({1, 2, 2, 3}, {1, 3, 2, 4}), 0.9486832981, 1e-9);
}

}  // namespace
}  // namespace frostline
