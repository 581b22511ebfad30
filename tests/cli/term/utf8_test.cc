// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"
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

TEST(Utf8, WrapsAtBlanks) {
  EXPECT_EQ(WrapText("one two three", 8), "one two\nthree\n");
  EXPECT_EQ(WrapText("東京 東京 a", 7), "東京\n東京 a\n");
  EXPECT_EQ(WrapText("a incomprehensible b", 4), "a\nincomprehensible\nb\n");
  EXPECT_EQ(WrapText("one two three", 0), "one two three\n");
}

}  // namespace
}  // namespace frostline::cli
