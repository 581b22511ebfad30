// SPDX-License-Identifier: Apache-2.0
#include "cli/utf8.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_FALSE(FirstInvalidByte("naïve 東京 🧊").has_value());
  EXPECT_EQ(FirstInvalidByte("ab\xff"), 2u);
  EXPECT_EQ(FirstInvalidByte("a\xc3"), 1u);             // cut short
  EXPECT_EQ(FirstInvalidByte("\xc0\xaf"), 0u);          // overlong
  EXPECT_EQ(FirstInvalidByte("\xe0\x80\xaf"), 0u);      // overlong
  EXPECT_EQ(FirstInvalidByte("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(FirstInvalidByte("\xf4\x90\x80\x80"), 0u);  // beyond the end
}

TEST(Utf8, MeasuresColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("東京"), 4);
  EXPECT_EQ(DisplayWidth("🧊"), 2);
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2);
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(FitToWidth("abcdef", 6), "abcdef");
  EXPECT_EQ(FitToWidth("abcdef", 4), "abc…");
  EXPECT_EQ(FitToWidth("東京都", 4), "東…");
  EXPECT_EQ(FitToWidth("abc", 0), "abc");
}

}  // namespace
}  // namespace frostline
