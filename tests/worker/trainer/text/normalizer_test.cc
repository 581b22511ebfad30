// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/normalizer.h"

#include <random>
#include <sstream>
#include <vector>

#include "base/plain/json.h"
#include "gmock/gmock.h"
#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

std::string Normalized(std::string_view text,
                       const BertNormalizerOptions& options = {}) {
  NormalizedText out;
  BertNormalizer(options).Run(text, 0, out);
  return std::string(out.bytes());
}

// "0-1 1-2": the span of each byte.
std::string Spans(std::string_view text, std::uint32_t base = 0) {
  NormalizedText out;
  BertNormalizer({}).Run(text, base, out);
  std::ostringstream spans;
  for (std::size_t i = 0; i < out.bytes().size(); ++i) {
    spans << (i > 0 ? " " : "") << out.SpanAt(i).begin << '-'
          << out.SpanAt(i).end;
  }
  return spans.str();
}

TEST(BertNormalizer, CleansAscii) {
  EXPECT_EQ(Normalized("The\tFILM\r\n!"), "the film  !");
  EXPECT_EQ(Normalized(std::string_view("a\0b\x7F\x0B", 5)), "ab");
}

TEST(BertNormalizer, RemovesAccentsOfBothForms) {
  EXPECT_EQ(Normalized("\u00c9te\u0301"), "ete");
  EXPECT_EQ(Normalized("\u1e69"), "s");
}

TEST(BertNormalizer, SetsIdeographsApart) {
  EXPECT_EQ(Normalized("a\u4e2db"), "a \u4e2d b");
}

TEST(BertNormalizer, KeepsAccentsOfCasedModels) {
  BertNormalizerOptions cased;
  cased.lowercase = false;
  cased.strip_accents = false;
  EXPECT_EQ(Normalized("\u00c9te\u0301", cased), "\u00c9te\u0301");
}

TEST(BertNormalizer, LowersWithoutStrippingWhenAsked) {
  BertNormalizerOptions options;
  options.strip_accents = false;
  EXPECT_EQ(Normalized("\u00c9\u0130", options), "\u00e9i\u0307");
}

TEST(BertNormalizer, SpansPointIntoTheOriginal) {
  EXPECT_EQ(Spans("ab"), "0-1 1-2");
  EXPECT_EQ(Spans("a\x01"
                  "b"),
            "0-1 2-3");                     // the removed one is skipped
  EXPECT_EQ(Spans("e\u0301x"), "0-1 2-3");  // so is the accent
  EXPECT_EQ(Spans("ab", 5), "5-6 6-7");
}

TEST(BertNormalizer, WhatIsAddedHasTheSpanOfItsCharacter) {
  EXPECT_EQ(Spans("\u4e2d"), "0-1 0-1 0-1 0-1 0-1");  // blank, 3 bytes, blank
}

// U+1D165 is an accent by class but not by category, so it stays; order moves
// it before U+0301, spans stay in the order of the text.
TEST(BertNormalizer, ReorderingLeavesSpansInOrder) {
  EXPECT_EQ(Normalized("a\u0301\U0001D165"), "a\U0001D165");
  EXPECT_EQ(Spans("a\u0301\U0001D165"), "0-1 1-2 1-2 1-2 1-2");
}

// XLM-R's own map, as base64.
std::string RealMap() {
  const std::string bytes = ReadBytes(OwnRecording("unigram/tokenizer.json"));
  const Expected<Json> json = Json::Parse(bytes);
  return std::string(json.value()
                         .root()
                         .Find("normalizer")
                         ->Find("precompiled_charsmap")
                         ->text);
}

std::string CharsmapNormalized(const Charsmap& map, std::string_view text) {
  NormalizedText out;
  map.Run(text, 0, out);
  return std::string(out.bytes());
}

TEST(Base64, ComesBack) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("Zg=="), "f");
  EXPECT_EQ(DecodeBase64("Zm8="), "fo");
  EXPECT_EQ(DecodeBase64("Zm9v"), "foo");
  EXPECT_EQ(DecodeBase64("AP+/"), std::string("\0\xFF\xBF", 3));
}

TEST(Base64, RefusesOthers) {
  for (const char* text :
       {"Z", "Zg=", "Zg", "Z===", "Z g=", "Zh==", "Zm9v\n"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

TEST(Charsmap, FoldsCompatibilityCharacters) {
  const Charsmap map = Charsmap::Parse(RealMap()).value();
  EXPECT_EQ(CharsmapNormalized(map, "plain"), "plain");
  EXPECT_EQ(CharsmapNormalized(map, "\ufb01ne\u00bd"), "fine1\u20442");
  EXPECT_EQ(CharsmapNormalized(map, "a\tb\u3000c"), "a b c");
}

TEST(Charsmap, LooksUpShortClustersWhole) {
  const Charsmap map = Charsmap::Parse(RealMap()).value();
  EXPECT_EQ(CharsmapNormalized(map, "e\u0301"), "\u00e9");
  EXPECT_EQ(CharsmapNormalized(map, "\u00b2\u0301"),
            "2");  // the accent is lost
  EXPECT_EQ(CharsmapNormalized(map, "e\u0301\u0302\u0303"),
            "e\u0301\u0302\u0303");
  EXPECT_EQ(CharsmapNormalized(map, "a\r\nb"), "a b");
  // What breaks takes no accent: a cluster each, so the accent stays.
  EXPECT_EQ(CharsmapNormalized(map, "\u200b\u0301"), " \u0301");
}

TEST(Charsmap, SpansFollowTheText) {
  NormalizedText out;
  Charsmap::Parse(RealMap()).value().Run("x\ufb01y", 3, out);
  ASSERT_EQ(out.bytes(), "xfiy");
  EXPECT_EQ(out.SpanAt(1), (Span{4, 5}));
  EXPECT_EQ(out.SpanAt(2), (Span{4, 5}));
  EXPECT_EQ(out.SpanAt(3), (Span{5, 6}));
}

TEST(Charsmap, RefusesBrokenMaps) {
  for (const char* text :
       {"", "!", "AAAA", "AAAAAA==", "BAAAAAAA", "/////w=="}) {
    EXPECT_EQ(KindOfFault(Charsmap::Parse(text)), FaultKind::kSyntax) << text;
  }
}

// One unit, whose children would be 16 MiB further on.
TEST(Charsmap, AnOffsetOutOfTheArrayIsNoRule) {
  const Expected<Charsmap> map = Charsmap::Parse("BAAAAAD8//94AA==");
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map.value().Rule("a"), std::nullopt);
}

// Whatever the array holds, every step stays inside and ends.
TEST(Charsmap, SurvivesAnArrayOfNoise) {
  std::mt19937 random(7);
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int round = 0; round < 300; ++round) {
    std::string text = "EAAAA" + std::string(1, kDigits[random() % 16]);
    while (text.size() < 64) text.push_back(kDigits[random() % 64]);
    const Expected<Charsmap> map = Charsmap::Parse(text);
    if (!map.ok()) continue;
    NormalizedText out;
    map.value().Run("some \u00e9 text \ufb01 \U0001F600 e\u0301", 0, out);
    EXPECT_LE(out.bytes().size(), 4096U);
  }
}

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
