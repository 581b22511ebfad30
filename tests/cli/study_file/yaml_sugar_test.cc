// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_sugar.h"

#include <cmath>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

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
