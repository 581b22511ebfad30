// SPDX-License-Identifier: Apache-2.0
#include "cli/term/utf8.h"

#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

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
}  // namespace frostline::cli
