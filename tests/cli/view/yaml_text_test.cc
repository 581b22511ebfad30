// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/struct.pb.h>
#include <yaml-cpp/yaml.h>

#include <random>
#include <string>

#include "cli/view/message_text.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// Values of every kind, of texts that look like something else.
class YamlFiller {
 public:
  explicit YamlFiller(unsigned seed) : random_(seed) {}

  void Fill(Value* value, int depth) {
    switch (Pick(depth > 0 ? 6 : 4)) {
      case 0:
        return value->set_null_value(google::protobuf::NULL_VALUE);
      case 1:
        return value->set_number_value((Pick(2001) - 1000) * 1e-7);
      case 2:
        return value->set_string_value(Text());
      case 3:
        return value->set_bool_value(Pick(2) == 0);
      case 4:
        value->mutable_list_value();
        for (int i = Pick(4); i > 0; --i) {
          Fill(value->mutable_list_value()->add_values(), depth - 1);
        }
        return;
      default:
        Fill(value->mutable_struct_value(), depth - 1);
    }
  }

  void Fill(Struct* fields, int depth) {
    for (int i = Pick(4); i > 0; --i) {
      Fill(&(*fields->mutable_fields())[Text()], depth);
    }
  }

 private:
  int Pick(int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random_);
  }
  std::string Text() {
    static constexpr const char* kTexts[] = {
        "",      "plain",        "a, b",    "yes",
        "NO",    "null",         "~",       "12",
        "1e-5",  ".5",           "- dash",  "key: value",
        "# no",  "back\\s",      "two\n",   "tab\tbell\a",
        "end ",  " begin",       "{a}",     "[b]",
        "\"q\"", "zürich 東京",  "\u2028x", "\u0085",
        "\x7f",  "\xEF\xBB\xBF", "&anchor", "*alias",
        "!tag",  "%directive",   "a #b",    "---",
        "/path", "(x)+=1",       "\u00a0"};
    return kTexts[Pick(static_cast<int>(std::size(kTexts)))];
  }

  std::mt19937 random_;
};

// What a reader takes for text is marked as such, or can be nothing else.
void ExpectText(const YAML::Node& node, const std::string& text) {
  ASSERT_TRUE(node.IsScalar()) << text;
  EXPECT_EQ(node.Scalar(), text);
  if (node.Tag() == "!") return;
  double number = 0.0;
  bool truth = false;
  EXPECT_FALSE(YAML::convert<double>::decode(node, number)) << text;
  EXPECT_FALSE(YAML::convert<bool>::decode(node, truth)) << text;
}

void ExpectSame(const YAML::Node& node, const Value& value);

void ExpectSame(const YAML::Node& node, const Struct& fields) {
  ASSERT_TRUE(node.IsMap());
  ASSERT_EQ(node.size(), static_cast<std::size_t>(fields.fields_size()));
  for (const auto& pair : node) {
    const auto found = fields.fields().find(pair.first.Scalar());
    ASSERT_NE(found, fields.fields().end()) << pair.first.Scalar();
    ExpectText(pair.first, found->first);
    ExpectSame(pair.second, found->second);
  }
}

void ExpectSame(const YAML::Node& node, const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      EXPECT_EQ(node.as<double>(), value.number_value());
      return;
    case Value::kStringValue:
      return ExpectText(node, value.string_value());
    case Value::kBoolValue:
      EXPECT_EQ(node.as<bool>(), value.bool_value());
      return;
    case Value::kStructValue:
      return ExpectSame(node, value.struct_value());
    case Value::kListValue: {
      ASSERT_TRUE(node.IsSequence());
      const auto& values = value.list_value().values();
      ASSERT_EQ(node.size(), static_cast<std::size_t>(values.size()));
      for (int i = 0; i < values.size(); ++i) ExpectSame(node[i], values[i]);
      return;
    }
    default:
      EXPECT_TRUE(node.IsNull());
  }
}

TEST(BlockYaml, IsReadBackAsWhatItWas) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Struct fields;
    YamlFiller(seed).Fill(&fields, 4);
    const std::string yaml = ToYaml(fields);
    ExpectSame(YAML::Load(yaml), fields);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << "\n"
                                              << yaml;
  }
}

TEST(BlockYaml, StandsInBlocks) {
  BlockYaml yaml;
  yaml.BeginMap();
  yaml.Key("empty");
  yaml.BeginMap();
  yaml.EndMap();
  yaml.Key("12");
  yaml.BeginList();
  yaml.Item();
  yaml.BeginMap();
  yaml.Key("a");
  yaml.Text("x\x1b\"y\"");
  yaml.Key("b");
  yaml.Plain("1");
  yaml.EndMap();
  yaml.Item();
  yaml.BeginList();
  yaml.Item();
  yaml.Text("no");
  yaml.EndList();
  yaml.EndList();
  yaml.EndMap();
  EXPECT_EQ(yaml.Take(),
            "empty: {}\n"
            "\"12\":\n"
            "  - a: \"x\\x1b\\\"y\\\"\"\n"
            "    b: 1\n"
            "  -\n"
            "    - \"no\"\n");
}

}  // namespace
}  // namespace frostline::cli
