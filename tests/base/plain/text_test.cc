// SPDX-License-Identifier: Apache-2.0
#include "base/plain/text.h"

#include "gmock/gmock.h"

namespace frostline {
namespace {

TEST(DecodeAt, EveryCodePointComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x900 ? 1 : 0x3F) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    AppendUtf8(c, text);
    const CodePoint point = DecodeAt(text, 0);
    ASSERT_TRUE(point.valid) << static_cast<unsigned>(c);
    ASSERT_EQ(point.value, c);
    ASSERT_EQ(point.bytes, text.size());
  }
}

TEST(IsValidUtf8, RefusesWhatTheStandardRefuses) {
  EXPECT_TRUE(IsValidUtf8("na\xC3\xAFve \xF0\x9F\x98\x80"));
  EXPECT_FALSE(IsValidUtf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(IsValidUtf8("\x80"));              // nothing to continue
  EXPECT_FALSE(IsValidUtf8("a\xE2\x82"));         // cut short
}

// Table 3-8 of the Unicode standard.
TEST(RepairUtf8, OneSignForEachLongestStart) {
  EXPECT_EQ(RepairUtf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
}

TEST(RepairUtf8, LeavesGoodTextAlone) {
  const std::string text = std::string(1, '\0') + "b\u00e9\U0001F600";
  EXPECT_EQ(RepairUtf8(text), text);
}

TEST(CountCodePoints, CountsNoContinuations) {
  EXPECT_EQ(CountCodePoints("a\u00e9\u4e2d\U0001F600"), 4U);
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_FALSE(FirstInvalidByte("naïve 東京 🧊").has_value());
  EXPECT_EQ(FirstInvalidByte("ab\xff"), 2u);
  EXPECT_EQ(FirstInvalidByte("a\xc3"), 1u);             // cut short
  EXPECT_EQ(FirstInvalidByte("\xc0\xaf"), 0u);          // overlong
  EXPECT_EQ(FirstInvalidByte("\xe0\x80\xaf"), 0u);      // overlong
  EXPECT_EQ(FirstInvalidByte("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(FirstInvalidByte("\xf4\x90\x80\x80"), 0u);  // beyond the end
}

}  // namespace
}  // namespace frostline
