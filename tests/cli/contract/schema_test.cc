// SPDX-License-Identifier: Apache-2.0
//
// Which files the schema takes is tested with a validator, in
// tests/clients/schema_test.py.
#include "cli/contract/schema.h"

#include "base/plain/json.h"
#include "cli/contract/catalogue.h"
#include "frostline/v1/study.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::NotNull;

// The member of a member …, or null.
const JsonValue* Below(const JsonValue* value,
                       const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    value = value == nullptr ? nullptr : value->Find(name);
  }
  return value;
}

TEST(Schema, OfAStudyFileHasTheKeysThatAreServedAndTheShortForms) {
  const std::string text = StudyFileSchema();
  const auto schema = Json::Parse(text);
  ASSERT_TRUE(schema.ok());
  const JsonValue* const root = &schema.value().root();
  for (const char* const key :
       {"id", "maximize", "space", "budget", "notify"}) {
    EXPECT_THAT(Below(root, {"properties", key}), NotNull()) << key;
  }
  const JsonValue* const enqueued =
      Below(root, {"$defs", "EnqueuedTrial", "properties"});
  EXPECT_THAT(Below(enqueued, {"seed"}), NotNull());
  EXPECT_EQ(Below(enqueued, {"baseline"}), nullptr);  // nobody serves it
  EXPECT_FALSE(root->Find("additionalProperties")->truth);
  EXPECT_THAT(Below(root, {"$defs", "ModuleSpace", "anyOf"}), NotNull());
}

TEST(Schema, OfAStudyFileTellsTheBoundsThatCreateHolds) {
  const std::string text = StudyFileSchema();
  const auto schema = Json::Parse(text);
  ASSERT_TRUE(schema.ok());
  const JsonValue* const priority =
      Below(&schema.value().root(), {"properties", "priority"});
  ASSERT_THAT(Below(priority, {"minimum"}), NotNull());
  EXPECT_EQ(Below(priority, {"minimum"})->number, -1000);
  EXPECT_EQ(Below(priority, {"maximum"})->number, 1000);
  // The schema of an answer refuses nothing.
  EXPECT_THAT(MessageSchema(*v1::StudySettings::descriptor()),
              testing::Not(HasSubstr("\"maximum\": 1000\n")));
}

TEST(Schema, DescribesFieldsWithTheCommentsOfTheContract) {
  const std::string text = StudyFileSchema();
  const auto schema = Json::Parse(text);
  ASSERT_TRUE(schema.ok());
  const JsonValue* const words = Below(
      &schema.value().root(), {"properties", "objectives", "description"});
  ASSERT_THAT(words, NotNull());
  EXPECT_EQ(words->text,
            "One or several; with several the Pareto set is searched.");
}

TEST(Schema, OfEveryMessageIsJsonWhoseReferencesAreThere) {
  for (const auto* const type : AllMessages()) {
    const std::string text = MessageSchema(*type);
    const auto schema = Json::Parse(text);
    ASSERT_TRUE(schema.ok()) << type->name() << schema.fault().cause;
    const JsonValue* const made = schema.value().root().Find("$defs");
    const std::string lead = "\"#/$defs/";
    for (std::size_t at = text.find(lead); at != std::string::npos;
         at = text.find(lead, at + 1)) {
      const std::size_t begin = at + lead.size();
      const std::string name =
          text.substr(begin, text.find('"', begin) - begin);
      EXPECT_THAT(made->Find(name), NotNull()) << name;
    }
  }
}

TEST(Schema, IsBrokenIntoLines) {
  EXPECT_EQ(IndentJson(R"({"a":[1,"b,{\"]"],"c":{},"d":[]})"),
            "{\n  \"a\": [\n    1,\n    \"b,{\\\"]\"\n  ],\n  \"c\": {},\n"
            "  \"d\": []\n}\n");
}

}  // namespace
}  // namespace frostline::cli
