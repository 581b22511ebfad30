// SPDX-License-Identifier: Apache-2.0
//
// Hostile and broken files.
#include "cli/study_file/yaml_to_proto.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace frostline::cli
