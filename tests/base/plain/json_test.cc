// SPDX-License-Identifier: Apache-2.0
#include "base/plain/json.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/text.h"
#include "base/plain/yaml.h"
#include "gmock/gmock.h"

namespace frostline {
namespace {

FaultKind KindOfFault(std::string_view text) {
  const Expected<Json> json = Json::Parse(text);
  EXPECT_FALSE(json.ok()) << text;
  return json.ok() ? FaultKind::kMisuse : json.fault().kind;
}

TEST(JsonParse, KeepsMembersInOrder) {
  const Expected<Json> json =
      Json::Parse(R"({"a": [1, -2.5e3, true], "b": {"c": null}})");
  ASSERT_TRUE(json.ok());
  const JsonValue& root = json.value().root();
  const JsonValue* list = root.Find("a");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->count, 3U);
  EXPECT_EQ(list->first->number, 1.0);
  EXPECT_EQ(list->first->next->number, -2500.0);
  EXPECT_TRUE(list->first->next->next->truth);
  EXPECT_TRUE(root.Find("b")->Find("c")->is(JsonKind::kNull));
  EXPECT_EQ(root.Find("d"), nullptr);
}

TEST(JsonParse, ResolvesEscapes) {
  const Expected<Json> json =
      Json::Parse(R"("a\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00z")");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json.value().root().text,
            std::string_view("a\"\\/\b\f\n\r\t\0\u00e9\U0001F600z", 17));
}

TEST(JsonParse, RefusesHalfASurrogatePair) {
  EXPECT_EQ(KindOfFault(R"("\ud83d")"), FaultKind::kSyntax);
  EXPECT_EQ(KindOfFault(R"("\ude00")"), FaultKind::kSyntax);
  EXPECT_EQ(KindOfFault(R"("\ud83d\u0041")"), FaultKind::kSyntax);
}

TEST(JsonParse, RefusesBadUtf8AndBareControlCharacters) {
  EXPECT_EQ(KindOfFault("\"\xC3\""), FaultKind::kSyntax);
  EXPECT_EQ(KindOfFault("\"a\nb\""), FaultKind::kSyntax);
  EXPECT_EQ(KindOfFault(std::string_view("\"\0\"", 3)), FaultKind::kSyntax);
}

TEST(JsonParse, RefusesWhatIsNearlyJson) {
  for (const char* text :
       {"",          " ",        "{",         "[",    "[1",        "[1,",
        "[1,]",      "{\"a\"}",  "{\"a\":}",  "{,}",  "{1:2}",     "tru",
        "nul",       "nan",      "inf",       "-inf", "01",        "-01",
        "NaN",       "Infinity", "-Infinity", "+1",   ".5",        "1.",
        "1.e3",      "1e",       "1e999",     "\"",   "\"\\\"",    "\"\\x\"",
        "\"\\u12\"", "1 2",      "[1]]",      "'a'",  "{\"a\":1,}"}) {
    EXPECT_EQ(KindOfFault(text), FaultKind::kSyntax) << text;
  }
}

TEST(JsonParse, TakesNumbersThatJsonLacksWhereItIsAsked) {
  const auto number = [](std::string_view text) {
    const Expected<Json> json =
        Json::Parse(text, {.numbers = JsonNumbers::kAny});
    EXPECT_TRUE(json.ok()) << text;
    return json.ok() ? json.value().root().number : 7.0;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(number("NaN")));
  EXPECT_EQ(number("Infinity"), kInfinity);
  EXPECT_EQ(number(" -Infinity "), -kInfinity);
  EXPECT_EQ(number("1e999"), kInfinity);
  EXPECT_EQ(number("-1e999"), -kInfinity);
  EXPECT_EQ(number("1e-999"), 0.0);
  EXPECT_EQ(number("5e-324"), 5e-324);
  EXPECT_EQ(number("-2.5e3"), -2500.0);
  const Expected<Json> list =
      Json::Parse("[NaN, {\"a\": -Infinity}]", {.numbers = JsonNumbers::kAny});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.value().root().first->Index(), std::nullopt);
  for (const char* text : {"nan", "inf", "NaNs", "-NaN", "Inf", "+Infinity",
                           "infinity", "1e", "01", "-", "N", "--1"}) {
    EXPECT_FALSE(Json::Parse(text, {.numbers = JsonNumbers::kAny}).ok())
        << text;
  }
}

TEST(JsonParse, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(KindOfFault(R"({"a": 1, "b": 2, "a": 3})"),
            FaultKind::kInconsistent);
  // As written the keys differ, as read they do not.
  EXPECT_EQ(KindOfFault(R"({"a": 1, "\u0061": 3})"), FaultKind::kInconsistent);
}

TEST(JsonParse, TakesRepeatedKeysInOrderWhereItIsAsked) {
  const Expected<Json> json =
      Json::Parse(R"({"a": 1, "b": 2, "a": 3})", {.repeats_keys = true});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(JsonText(json.value().root()), R"({"a": 1, "b": 2, "a": 3})");
  EXPECT_EQ(json.value().root().Find("a")->number, 1.0);
}

TEST(JsonParse, BoundsDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::Parse(nested(32)).ok());
  EXPECT_EQ(KindOfFault(nested(33)), FaultKind::kTooLarge);
  EXPECT_EQ(KindOfFault(std::string(1 << 20, '[')), FaultKind::kTooLarge);
}

TEST(JsonParse, BoundsDepthAsAsked) {
  EXPECT_TRUE(Json::Parse("[[1]]", {.max_depth = 2}).ok());
  const Expected<Json> json = Json::Parse("[[[1]]]", {.max_depth = 2});
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.fault().cause, "nested more than 2 deep (byte 3)");
}

TEST(JsonObject, IsOneLineOfItsMembersInOrder) {
  EXPECT_EQ(JsonObject().Text(), "{}");
  EXPECT_EQ(JsonList({}), "[]");
  EXPECT_EQ(JsonObject()
                .PutText("b\"", "x\n")
                .Put("a", JsonList({"1", "null"}))
                .Text(),
            R"({"b\"":"x\u000a","a":[1,null]})");
}

TEST(JsonObject, IsLaidOutForPeopleIfAsked) {
  JsonObject object;
  object.Put("a", JsonTexts({"b", "c"}, JsonLayout::kSpaced)).Put("d", "1");
  EXPECT_EQ(object.Text(JsonLayout::kSpaced), R"({"a": ["b", "c"], "d": 1})");
  EXPECT_EQ(object.Text(JsonLayout::kIndented),
            "{\n \"a\": [\"b\", \"c\"],\n \"d\": 1\n}");
  EXPECT_EQ(JsonList({}, JsonLayout::kIndented), "[]");
}

TEST(JsonParse, BoundsTheNumberOfValues) {
  const Expected<Json> json = Json::Parse("[1,2,3,4]", {.max_values = 4});
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.fault().kind, FaultKind::kTooLarge);
  EXPECT_TRUE(Json::Parse("[1,2,3]", {.max_values = 4}).ok());
}

TEST(JsonParse, BoundsTheInput) {
  const std::string large(kMaxJsonBytes + 1, ' ');
  EXPECT_EQ(KindOfFault(large), FaultKind::kTooLarge);
}

TEST(JsonIndex, TakesWholeNumbersOnly) {
  const auto index = [](std::string_view text) {
    const Expected<Json> json = Json::Parse(text);
    return json.value().root().Index();
  };
  EXPECT_EQ(index("0"), 0);
  EXPECT_EQ(index("2147483647"), 2147483647);
  EXPECT_EQ(index("2147483648"), std::nullopt);
  EXPECT_EQ(index("-1"), std::nullopt);
  EXPECT_EQ(index("1.5"), std::nullopt);
  EXPECT_EQ(index("\"1\""), std::nullopt);
}

// {a: b, c: [d, e]} without quotes or order lost.
std::string Shape(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return node.text;
  std::string all;
  for (const YamlPtr& item : node.items) {
    all += (all.empty() ? "" : ",") + Shape(*item);
  }
  for (const auto& [key, mark, value] : node.entries) {
    all += (all.empty() ? "" : ",") + key + ":" + Shape(*value);
  }
  return node.kind == YamlNode::Kind::kList ? "[" + all + "]" : "{" + all + "}";
}

std::string Parsed(std::string_view text) {
  const Expected<YamlNode> node = ParseYamlSubset(text, "f");
  return node.ok() ? Shape(node.value()) : node.fault().cause;
}

TEST(Yaml, ReadsBlocks) {
  EXPECT_EQ(Parsed("---\n# sets\nimdb:\n  path: a/b.tsv   # here\n"
                   "  splits:\n      train:\n        x: 1\n  y: 2\nz: 3\r\n"),
            "{imdb:{path:a/b.tsv,splits:{train:{x:1}},y:2},z:3}");
}

TEST(Yaml, ReadsListsAndFlow) {
  EXPECT_EQ(Parsed("a: [x, 'y, z' , \"w\"]\nb: {text: s 1, label: \"2\"}\n"
                   "c: []\nd:\n  - one\n  - two: x\n"),
            "f line 6 column 4: has a key within a value: 'two: x'");
  EXPECT_EQ(Parsed("a: [x, 'y, z' , \"w\"]\nb: {text: s 1, label: \"2\"}\n"
                   "c: []\nd:\n  - one\n  - \"two: x\"\n"),
            "{a:[x,y, z,w],b:{text:s 1,label:2},c:[],d:[one,two: x]}");
}

TEST(Yaml, ReadsQuotes) {
  EXPECT_EQ(Parsed("a: 'it''s # no comment'\nb: \"q\\\" \\\\\"\nc: don't # x\n"
                   "\"d e\": a#b\nf: \"#1 String\"\n"),
            "{a:it's # no comment,b:q\" \\,c:don't,d e:a#b,f:#1 String}");
}

TEST(Yaml, EveryScalarIsAText) {
  EXPECT_EQ(Parsed("a: no\nb: 010\nc: 1.0\nd: a:b\n"),
            "{a:no,b:010,c:1.0,d:a:b}");
}

TEST(Yaml, FaultsNameLineAndColumn) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a: 1\na: 2\n", "f line 2 column 1: has the key 'a' again"},
      {"a: {b: 1, b: 2}\n", "f line 1 column 4: has the key 'b' twice"},
      {"a:\n", "f line 1 column 3: lacks a value"},
      {"a: &x 1\n", "f line 1 column 4: a value begins with '&'"},
      {"a: *x\n", "f line 1 column 4: a value begins with '*'"},
      {"a: !t 1\n", "f line 1 column 4: a value begins with '!'"},
      {"a: |\n  x\n", "f line 1 column 4: a value begins with '|'"},
      {"a: [x\n", "f line 1 column 4: opens [ and does not close it"},
      {"a: \"x\n", "f line 1 column 4: opens \" and does not close it"},
      {"a: \"x\\n\"\n", "f line 1 column 4: has an escape other"},
      {"a: 'x' y\n", "f line 1 column 4: goes on behind a value: 'y'"},
      {"a: [[x]]\n", "f line 1 column 4: a value begins with '['"},
      {"a: [x, , y]\n", "f line 1 column 4: lacks a value"},
      {"a: b: c\n", "f line 1 column 4: has a key within"},
      {"x\n", "f line 1 column 1: is not 'key: value'"},
      {"a:1\n", "f line 1 column 1: is not 'key: value'"},
      {"a:\n  b: 1\n c: 2\n", "f line 3 column 2: is indented"},
      {"a: 1\n  b: 1\n", "f line 2 column 3: is indented"},
      {"a:\n  - x\n  b: 1\n", "f line 3 column 3: is indented"},
      {"  a: 1\nb: 1\n", "f line 2 column 1: is indented"},
      {"a:\n\tb: 1\n", "f line 2 column 1: is indented with a tab"},
      {"a: 1\n---\nb: 1\n", "f line 2 column 1: is not 'key: value'"},
      {"# nothing\n", "f: is empty"},
  };
  for (const auto& [text, cause] : cases) {
    EXPECT_THAT(Parsed(text), ::testing::StartsWith(cause)) << text;
  }
}

TEST(Yaml, HasLimits) {
  std::string deep;
  for (std::size_t i = 0; i < 2000; ++i) deep += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(Parsed(deep.substr(0, 1 << 19)),
              ::testing::HasSubstr("too deep"));
  const auto large = ParseYamlSubset(std::string((1 << 20) + 1, '#'), "f");
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.fault().kind, FaultKind::kTooLarge);
  EXPECT_THAT(large.fault().cause, ::testing::HasSubstr("larger than 1 MiB"));
  // Files of settings are read by it, not those of workers alone.
  EXPECT_THAT(large.fault().fix, ::testing::HasSubstr("make this one smaller"));
  EXPECT_THAT(Parsed("a: \xFF\n"), "f: is not UTF-8 text");
}

TEST(Yaml, AnyBytesGiveATreeOrAFault) {
  const std::string sample =
      "a:\n  b: [x, 'y']\n  c: {d: \"e\"} # f\n- g\n\"h\": i";
  for (std::size_t at = 0; at < sample.size(); ++at) {
    for (const char byte : std::string_view("\n :'\"[]{},-#\\x")) {
      std::string changed = sample;
      changed[at] = byte;
      EXPECT_NE(Parsed(changed), "");
      EXPECT_NE(Parsed(std::string_view(changed).substr(0, at + 1)), "");
    }
  }
}

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
