// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

// Fills messages with all that a field may hold: texts that need escapes,
// numbers that need 17 digits, values of every kind.
class Filler {
 public:
  explicit Filler(unsigned seed) : random_(seed) {}

  void Fill(Message* message, int depth) {
    const auto* const type = message->GetDescriptor();
    if (type->file()->package() == "google.protobuf") return Known(message);
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      const bool is_message =
          field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      if (Pick(3) == 0 || (is_message && depth == 0)) continue;
      // Protobuf's writer orders several keys at random.
      const int count = field.is_map() ? 1 : Pick(3);
      if (!field.is_repeated()) Set(message, field, depth);
      for (int n = 0; field.is_repeated() && n < count; ++n) {
        Set(message, field, depth);
      }
    }
  }

 private:
  int Pick(int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random_);
  }

  std::string Text() {
    static constexpr const char* kTexts[] = {
        "",         "plain",       "with \"quotes\"", "a\\b",   "line\nbreak\t",
        "<script>", "zürich 東京", "\x1b[31m",        "it's/ok"};
    return kTexts[Pick(9)];
  }

  double Number() {
    static constexpr double kNumbers[] = {0.0,
                                          -0.0,
                                          1.0,
                                          0.1,
                                          1.0 / 3.0,
                                          2e-5,
                                          1e21,
                                          123456789.125,
                                          -1e-300,
                                          5e-324,
                                          1.7976931348623157e308};
    return kNumbers[Pick(11)];
  }

  void Known(Message* message) {
    if (auto* time = dynamic_cast<google::protobuf::Timestamp*>(message)) {
      static constexpr int kNanos[] = {0, 120'000'000, 1'000, 1};
      time->set_seconds(1'700'000'000 + Pick(1000));
      time->set_nanos(kNanos[Pick(4)]);
    } else if (auto* value = dynamic_cast<google::protobuf::Value*>(message)) {
      Any(value);
    } else if (auto* fields =
                   dynamic_cast<google::protobuf::Struct*>(message)) {
      Any(&(*fields->mutable_fields())["key"]);
    }
  }

  void Any(google::protobuf::Value* value) {
    switch (Pick(5)) {
      case 0:
        value->set_null_value(google::protobuf::NULL_VALUE);
        break;
      case 1:
        value->set_number_value(Number());
        break;
      case 2:
        value->set_string_value(Text());
        break;
      case 3:
        value->set_bool_value(Pick(2) == 0);
        break;
      default:
        value->mutable_list_value()->add_values()->set_bool_value(true);
    }
  }

  void Set(Message* message, const FieldDescriptor& field, int depth);

  std::mt19937 random_;
};

void Filler::Set(Message* message, const FieldDescriptor& field, int depth) {
  const auto& to = *message->GetReflection();
  const auto* const f = &field;
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Fill(
          many ? to.AddMessage(message, f) : to.MutableMessage(message, f),
          depth - 1);
    case FieldDescriptor::CPPTYPE_STRING:
      return many ? to.AddString(message, f, Text())
                  : to.SetString(message, f, Text());
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double value =
          Pick(8) == 0 ? std::numeric_limits<double>::quiet_NaN() : Number();
      return many ? to.AddDouble(message, f, value)
                  : to.SetDouble(message, f, value);
    }
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? to.AddInt64(message, f, -(std::int64_t{1} << 60))
                  : to.SetInt64(message, f, Pick(9) - 4);
    case FieldDescriptor::CPPTYPE_UINT64:
      return many ? to.AddUInt64(message, f, ~std::uint64_t{0})
                  : to.SetUInt64(message, f, ~std::uint64_t{0});
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? to.AddInt32(message, f, -3) : to.SetInt32(message, f, 7);
    case FieldDescriptor::CPPTYPE_UINT32:
      return many ? to.AddUInt32(message, f, 3) : to.SetUInt32(message, f, 7);
    case FieldDescriptor::CPPTYPE_BOOL:
      return many ? to.AddBool(message, f, true)
                  : to.SetBool(message, f, Pick(2) == 0);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int last = field.enum_type()->value_count() - 1;
      const auto* const value = field.enum_type()->value(last);
      return many ? to.AddEnum(message, f, value)
                  : to.SetEnum(message, f, value);
    }
    default:
      return;
  }
}

template <typename T>
class JsonText : public testing::Test {};

using Answers =
    testing::Types<v1::Study, v1::Trial, v1::ListTrialsReply,
                   v1::ListWorkersReply, v1::CreateStudyReply, v1::ServerInfo,
                   v1::Identity, v1::ImportanceReport, v1::FreezePlan,
                   v1::TrialComparison, v1::ListCertificatesReply>;
TYPED_TEST_SUITE(JsonText, Answers);

// Protobuf's writer puts times behind all other fields; ours keeps the order of
// the contract.
std::multiset<std::string> LinesOf(const std::string& json) {
  std::multiset<std::string> lines;
  for (const auto line : absl::StrSplit(json, '\n')) {
    lines.emplace(absl::StripSuffix(line, ","));
  }
  return lines;
}

TYPED_TEST(JsonText, SaysWhatProtobufSaysLineForLine) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    TypeParam message;
    if (seed > 0) Filler(seed).Fill(&message, 5);
    ASSERT_EQ(LinesOf(ToJson(message)), LinesOf(ProtobufJson(message, true)))
        << "seed " << seed;
  }
}

TYPED_TEST(JsonText, IsReadAsWhatItWas) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    TypeParam message;
    if (seed > 0) Filler(seed).Fill(&message, 5);
    for (const std::string& json : {ToJson(message), ToJsonLine(message)}) {
      TypeParam read;
      ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &read).ok())
          << json;
      // Protobuf reads -0 as 0.
      ASSERT_EQ(ProtobufJson(read, true),
                absl::StrReplaceAll(ProtobufJson(message, true),
                                    {{" -0,", " 0,"}, {" -0\n", " 0\n"}}))
          << "seed " << seed;
    }
  }
}

TEST(JsonOrder, KeepsKeysInTheOrderOfTheAlphabet) {
  v1::Trial trial;
  for (const char* const key : {"loss", "accuracy", "f1"}) {
    (*trial.mutable_metrics())[key] = 1.0;
  }
  EXPECT_THAT(
      ToJsonLine(trial),
      testing::HasSubstr(R"("metrics":{"accuracy":1,"f1":1,"loss":1})"));
}

TEST(JsonUnknown, LeavesToProtobufWhatItDoesNotKnow) {
  v1::Trial trial;
  trial.set_state(static_cast<v1::TrialState>(99));
  EXPECT_EQ(ToJson(trial), ProtobufJson(trial, true));
  EXPECT_THAT(ToJson(trial), testing::HasSubstr("\"state\": 99"));
  Value value;
  EXPECT_EQ(ToJson(value), ProtobufJson(value, true));
  value.set_number_value(std::numeric_limits<double>::infinity());
  EXPECT_EQ(ToJson(value), ProtobufJson(value, true));
  EXPECT_EQ(ToYaml(value), ".inf\n");
}

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
