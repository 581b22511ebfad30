// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "base/plain/json.h"
#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {
namespace {

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

}  // namespace
}  // namespace frostline::trainer
