// SPDX-License-Identifier: Apache-2.0
#include "base/plain/yaml.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace frostline {
namespace {

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

}  // namespace
}  // namespace frostline
