// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/unicode.h"

#include <vector>

#include "gmock/gmock.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

std::vector<char32_t> List(const CodePoints& points) {
  return {points.at, points.at + points.count};
}

TEST(FlagsOf, KnowsTheKindsOfAscii) {
  EXPECT_EQ(FlagsOf(U'a'), kLetter);
  EXPECT_EQ(FlagsOf(U'A'), kLetter | kLowers);
  EXPECT_EQ(FlagsOf(U'7'), kNumber);
  EXPECT_EQ(FlagsOf(U'$'), kPunctuation);  // a symbol, but ASCII
  EXPECT_EQ(FlagsOf(U' '), kWhiteSpace);
  EXPECT_EQ(FlagsOf(U'\t'), kWhiteSpace | kBreaks);
  EXPECT_EQ(FlagsOf(0x0B), kWhiteSpace | kDropped | kBreaks);
}

// The reference reads each property from tables of another age.
TEST(FlagsOf, EachPropertyHasTheAgeOfTheReference) {
  EXPECT_FALSE(Has(0x1DF6, kMark));         // of Unicode 10: too young
  EXPECT_FALSE(Has(0x2E52, kPunctuation));  // of Unicode 14: too young
  EXPECT_TRUE(Has(0x1C89, kLetter));        // of Unicode 16: known
  EXPECT_FALSE(Has(0x11938, kDecomposes));  // of Unicode 13: too young
  EXPECT_THAT(List(ToLower(0xA7CE)), ElementsAre(0xA7CF));  // Unicode 17
}

TEST(FlagsOf, TheLastCodePointHasSome) {
  EXPECT_TRUE(Has(0x10FFFD, kDropped));  // private use
  EXPECT_EQ(FlagsOf(0x10FFFF), 0);
}

TEST(Decompose, GoesAllTheWay) {
  EXPECT_THAT(List(Decompose(U'x')), ElementsAre(U'x'));
  EXPECT_THAT(List(Decompose(0x1E69)), ElementsAre(U's', 0x323, 0x307));
  EXPECT_THAT(List(Decompose(0x1F82)), ElementsAre(0x3B1, 0x313, 0x300, 0x345));
}

TEST(Decompose, HangulIsArithmetic) {
  EXPECT_THAT(List(Decompose(0xAC00)), ElementsAre(0x1100, 0x1161));
  EXPECT_THAT(List(Decompose(0xD7A3)), ElementsAre(0x1112, 0x1175, 0x11C2));
}

TEST(ToLower, KnowsRunsOfBothKinds) {
  EXPECT_THAT(List(ToLower(U'Q')), ElementsAre(U'q'));
  EXPECT_THAT(List(ToLower(0x100)), ElementsAre(0x101));  // every second one
  EXPECT_THAT(List(ToLower(0x101)), ElementsAre(0x101));
  EXPECT_THAT(List(ToLower(0x130)), ElementsAre(U'i', 0x307));
}

TEST(CombiningClass, OrdersAccents) {
  EXPECT_EQ(CombiningClass(U'a'), 0);
  EXPECT_EQ(CombiningClass(0x301), 230);
  EXPECT_EQ(CombiningClass(0x323), 220);
  EXPECT_EQ(CombiningClass(0x345), 240);
}

TEST(IsCjk, HasTheGapOfTheReference) {
  EXPECT_TRUE(IsCjk(0x4E2D));
  EXPECT_FALSE(IsCjk(0x2B820));
  EXPECT_TRUE(IsCjk(0x2B920));
}

}  // namespace
}  // namespace frostline::trainer
