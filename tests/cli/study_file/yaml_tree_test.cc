// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cli/study_file/yaml_sugar.h"
#include "cli/study_file/yaml_to_proto.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Hostile and broken files.

std::string MessageOf(const std::string& text) {
  const auto tree = ParseYaml(text, "f");
  return tree.ok() ? "OK" : std::string(tree.status().message());
}

TEST(YamlTree, KnowsTheLineAndColumnOfEveryNode) {
  ASSERT_OK_AND_ASSIGN(const YamlPtr root,
                       ParseYaml("a: 1\nb:\n  - x\n  - {c: 'y'}\n", "f"));
  const YamlNode& list = *root->Find("b")->value;
  EXPECT_EQ(root->Find("b")->key_mark.line, 2);
  EXPECT_EQ(list.items[1]->mark.line, 4);
  EXPECT_EQ(list.items[1]->mark.column, 5);
  const YamlNode& inner = *list.items[1]->Find("c")->value;
  EXPECT_EQ(inner.mark.column, 9);
  EXPECT_TRUE(inner.quoted);
  EXPECT_FALSE(list.items[0]->quoted);
}

TEST(YamlTree, RefusesWhatCannotBeParsed) {
  EXPECT_THAT(ParseYaml("a: [1, 2", "f"), FailsWith(ErrorId::kStudyFileSyntax));
  EXPECT_THAT(MessageOf("a: 1\n b: 2\n"), StartsWith("f:2:"));
  EXPECT_THAT(MessageOf("a: *nowhere"), StartsWith("f:1:4: "));
  EXPECT_THAT(MessageOf(""), HasSubstr("the file is empty"));
  EXPECT_THAT(MessageOf("# only a comment\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(MessageOf("a: 1\n---\nb: 2\n"), HasSubstr("second document"));
  EXPECT_THAT(MessageOf("a: !!int 5"), HasSubstr("the tag"));
  EXPECT_THAT(MessageOf("a: &x [*x]"), HasSubstr("inside its anchor"));
}

TEST(YamlTree, NamesThePlaceOfABrokenByte) {
  EXPECT_THAT(MessageOf("a: 1\nb: \xff\n"), StartsWith("f:2:4: a byte"));
  EXPECT_THAT(MessageOf(std::string("a: \0", 4)), StartsWith("f:1:4: a byte"));
}

TEST(YamlTree, BoundsAnAliasBomb) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) text += alias + ", ";
    text += alias + "]\n";
  }
  EXPECT_THAT(ParseYaml(text, "f"), FailsWith(ErrorId::kFieldTooLarge));
}

TEST(YamlTree, BoundsSizeAndDepth) {
  EXPECT_THAT(ParseYaml(std::string(kMaxYamlBytes + 1, 'x'), "f"),
              FailsWith(ErrorId::kFieldTooLarge));
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_THAT(ParseYaml(deep, "f"), FailsWith(ErrorId::kFieldTooLarge));
  const std::string abyss(100'000, '[');
  EXPECT_THAT(ParseYaml(abyss, "f"), FailsWith(ErrorId::kStudyFileSyntax));
}

TEST(YamlScalar, ReadsDecimalNumbersAndNothingElse) {
  EXPECT_EQ(ReadDouble("2e-5"), 2e-5);
  EXPECT_EQ(ReadDouble("-.5"), -0.5);
  EXPECT_EQ(ReadDouble("0e0"), 0.0);
  for (const char* const text :
       {"", " 1", "1 ", "1e999", "nan", "inf", ".inf", "0x1p3", "1_000", "1,5",
        "1e", "--1", "1e-999", "true"}) {
    EXPECT_FALSE(ReadDouble(text).has_value()) << text;
  }
}

TEST(YamlScalar, ReadsWholeNumbersToTheirEnds) {
  EXPECT_EQ(ReadInt("-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(ReadInt("9223372036854775808").has_value());
  EXPECT_EQ(ReadUint("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(ReadUint("18446744073709551616").has_value());
  EXPECT_FALSE(ReadUint("-0").has_value());
  EXPECT_FALSE(ReadInt("1e3").has_value());
  EXPECT_FALSE(ReadInt("").has_value());
}

TEST(YamlScalar, ReadsTimesAsFlagsDo) {
  EXPECT_EQ(ReadDuration("1h30m")->seconds(), 5400);
  EXPECT_EQ(ReadDuration("500ms")->nanos(), 500'000'000);
  EXPECT_EQ(ReadDuration("-1.5s")->seconds(), -1);
  EXPECT_EQ(ReadDuration("-1.5s")->nanos(), -500'000'000);
  EXPECT_EQ(ReadDuration("60")->seconds(), 60);
  EXPECT_EQ(ReadDuration("0.5")->nanos(), 500'000'000);
  for (const char* const text : {"", "1 h", "inf", "s", "1e300"}) {
    EXPECT_FALSE(ReadDuration(text).has_value()) << text;
  }
}

TEST(YamlScalar, ReadsEnumsWithAndWithoutPrefix) {
  const auto& direction = *v1::Direction_descriptor();
  EXPECT_EQ(ReadEnum("maximize", direction)->number(), v1::DIRECTION_MAXIMIZE);
  EXPECT_EQ(ReadEnum("DIRECTION_MINIMIZE", direction)->number(),
            v1::DIRECTION_MINIMIZE);
  EXPECT_EQ(ReadEnum("unspecified", direction), nullptr);
  EXPECT_EQ(ReadEnum("maximise", direction), nullptr);
  const auto& mode = *v1::FreezeSemantics::Mode_descriptor();  // no prefix
  EXPECT_EQ(ReadEnum("hard", mode)->number(), v1::FreezeSemantics::HARD);
}

TEST(YamlScalar, TypesAnyValueAsJsonDoes) {
  const auto read = [](const std::string& text, bool quoted) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = text;
    node.quoted = quoted;
    return ReadAny(node);
  };
  EXPECT_EQ(read("3", false).number_value(), 3.0);
  EXPECT_EQ(read("3", true).string_value(), "3");
  EXPECT_TRUE(read("true", false).bool_value());
  EXPECT_EQ(read("no", false).string_value(), "no");
  EXPECT_EQ(ReadAny(YamlNode()).kind_case(),
            google::protobuf::Value::kNullValue);
}

}  // namespace
}  // namespace frostline::cli
