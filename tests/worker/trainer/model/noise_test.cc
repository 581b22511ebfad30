// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/noise.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace frostline::trainer {
namespace {

using Block = std::array<std::uint32_t, kNoiseBlock>;

Block Drawn(std::uint64_t key, std::uint64_t block) {
  Block numbers;
  DrawNoise(key, block, numbers);
  return numbers;
}

// From the published known answers of Random123: all words 0.
TEST(Noise, IsThreefry) {
  const Block zero = Drawn(0, 0);
  EXPECT_EQ(zero[0], 0x9c6ca96aU);
  EXPECT_EQ(zero[16], 0xe17eae66U);
  EXPECT_EQ(zero[32], 0xfc10ecd4U);
  EXPECT_EQ(zero[48], 0x5256a7d8U);
}

TEST(Noise, AnotherKeyOrBlockIsOtherNoise) {
  EXPECT_NE(Drawn(1, 0), Drawn(0, 0));
  EXPECT_NE(Drawn(std::uint64_t{1} << 32, 0), Drawn(0, 0));
  EXPECT_NE(Drawn(0, 1), Drawn(0, 0));
  EXPECT_NE(Drawn(0, std::uint64_t{1} << 28), Drawn(0, 0));
}

constexpr std::size_t kMany = 1 << 20;
const Drop kTenth = {.key = 99, .threshold = 3865470566U, .scale = 1.0F / 0.9F};

TextShape Row(std::size_t numbers) {
  return {.columns = numbers, .own_columns = numbers};
}

// 0.9 of a million within five standard errors, in every eighth of them.
TEST(Noise, KeepsTheShareItShould) {
  const std::vector<float> x(kMany, 1.0F);
  std::vector<float> y(kMany);
  std::vector<std::uint8_t> kept(kMany);
  DropNumbers(kTenth, Row(kMany), 0, kMany, x.data(), y.data(), kept.data());
  for (std::size_t part = 0; part < 8; ++part) {
    double count = 0.0;
    for (std::size_t i = part; i < kMany; i += 8) count += kept[i];
    const double n = kMany / 8.0;
    EXPECT_NEAR(count / n, 0.9, 5.0 * std::sqrt(0.09 / n)) << part;
  }
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(y[i], kept[i] != 0 ? kTenth.scale : 0.0F);
  }
}

// Neighbours, and numbers a row apart, are dropped independently.
TEST(Noise, DropsWithoutRegardToNeighbours) {
  const std::vector<float> x(kMany, 1.0F);
  std::vector<float> y(kMany);
  std::vector<std::uint8_t> kept(kMany);
  DropNumbers(kTenth, Row(kMany), 0, kMany, x.data(), y.data(), kept.data());
  for (const std::size_t apart : {1U, 16U, 64U, 384U, 1024U}) {
    double both = 0.0;
    for (std::size_t i = apart; i < kMany; ++i) {
      both += kept[i] == 0 && kept[i - apart] == 0 ? 1.0 : 0.0;
    }
    EXPECT_NEAR(both / kMany, 0.01, 5.0 * std::sqrt(0.01 / kMany)) << apart;
  }
}

// However a tensor is cut, and with a rest that fills no block.
TEST(Noise, PartsAreThoseOfTheWhole) {
  constexpr std::size_t kOdd = 1000;
  const std::vector<float> x(kOdd, 2.0F);
  std::vector<float> whole(kOdd);
  std::vector<float> parts(kOdd);
  DropNumbers(kTenth, Row(kOdd), 0, kOdd, x.data(), whole.data(), nullptr);
  DropNumbers(kTenth, Row(kOdd), 0, 640, x.data(), parts.data(), nullptr);
  DropNumbers(kTenth, Row(kOdd), 640, kOdd - 640, x.data(), parts.data(),
              nullptr);
  EXPECT_EQ(whole, parts);
}

// Padding is left alone and takes no draw.
TEST(Noise, CountsATextsOwnNumbers) {
  const TextShape padded = {3, 8, 50, 5, 30};
  const std::vector<float> x(padded.all(), 2.0F);
  std::vector<float> y(padded.all(), -1.0F);
  std::vector<float> plain(padded.own());
  DropNumbers(kTenth, padded, 0, padded.own(), x.data(), y.data(), nullptr);
  DropNumbers(kTenth, Row(padded.own()), 0, padded.own(), x.data(),
              plain.data(), nullptr);
  std::size_t own = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool inside = i % 50 < 30 && i / 50 % 8 < 5;
    ASSERT_EQ(y[i], inside ? plain[own] : -1.0F);
    own += inside ? 1 : 0;
  }
}

TEST(Noise, TextsEpochsSeedsAndPlacesAreApart) {
  const std::uint64_t noise = TextNoise(1, 2, 3);
  EXPECT_EQ(TextNoise(1, 2, 3), noise);
  EXPECT_NE(TextNoise(2, 2, 3), noise);
  EXPECT_NE(TextNoise(1, 3, 3), noise);
  EXPECT_NE(TextNoise(1, 2, 4), noise);
  EXPECT_NE(PlaceNoise(noise, 0), PlaceNoise(noise, 1));
}

TEST(Noise, Bf16DropsTheSameAndRoundsToNearest) {
  constexpr std::size_t kFew = 100;
  const std::vector<float> x(kFew, 1.0F);
  const std::vector<std::uint16_t> half(kFew, 0x3F80);  // 1
  std::vector<float> y(kFew);
  std::vector<std::uint16_t> z(kFew);
  DropNumbers(kTenth, Row(kFew), 0, kFew, x.data(), y.data(), nullptr);
  DropNumbers(kTenth, Row(kFew), 0, kFew, half.data(), z.data(), nullptr);
  for (std::size_t i = 0; i < kFew; ++i) {
    // 1.1111 lies between 1.1094 (0x3F8E) and 1.1172.
    EXPECT_EQ(z[i], y[i] == 0.0F ? 0 : 0x3F8E);
  }
}

}  // namespace
}  // namespace frostline::trainer
