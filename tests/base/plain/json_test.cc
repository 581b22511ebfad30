// SPDX-License-Identifier: Apache-2.0
#include "base/plain/json.h"

#include <cmath>
#include <limits>
#include <string>

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
        Json::Parse(text, kMaxJsonValues, JsonNumbers::kAny);
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
  const Expected<Json> list = Json::Parse("[NaN, {\"a\": -Infinity}]",
                                          kMaxJsonValues, JsonNumbers::kAny);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.value().root().first->Index(), std::nullopt);
  for (const char* text : {"nan", "inf", "NaNs", "-NaN", "Inf", "+Infinity",
                           "infinity", "1e", "01", "-", "N", "--1"}) {
    EXPECT_FALSE(Json::Parse(text, kMaxJsonValues, JsonNumbers::kAny).ok())
        << text;
  }
}

TEST(JsonParse, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(KindOfFault(R"({"a": 1, "b": 2, "a": 3})"),
            FaultKind::kInconsistent);
  // As written the keys differ, as read they do not.
  EXPECT_EQ(KindOfFault(R"({"a": 1, "\u0061": 3})"), FaultKind::kInconsistent);
}

TEST(JsonParse, BoundsDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::Parse(nested(32)).ok());
  EXPECT_EQ(KindOfFault(nested(33)), FaultKind::kTooLarge);
  EXPECT_EQ(KindOfFault(std::string(1 << 20, '[')), FaultKind::kTooLarge);
}

TEST(JsonParse, BoundsTheNumberOfValues) {
  const Expected<Json> json = Json::Parse("[1,2,3,4]", 4);
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.fault().kind, FaultKind::kTooLarge);
  EXPECT_TRUE(Json::Parse("[1,2,3]", 4).ok());
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

}  // namespace
}  // namespace frostline
