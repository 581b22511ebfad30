// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/schema.h"

#include <memory>

#include "base/plain/json.h"
#include "cli/contract/catalogue.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::NotNull;
using ::testing::SizeIs;

// Which files the schema takes is tested with a validator, in
// tests/clients/schema_test.py.

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

absl::Status Read(const std::string& json, google::protobuf::Message* request) {
  return ReadRequest(json, SystemClock(), request);
}

TEST(RequestJson, TakesBothSpellingsOfAField) {
  v1::CreateStudyRequest request;
  ASSERT_OK(Read(R"({"study_id": "imdb", "requestId": "mine"})", &request));
  EXPECT_EQ(request.study_id(), "imdb");
  EXPECT_EQ(request.request_id(), "mine");
}

TEST(RequestJson, GivesARequestIdToWhoeverWantsOneAndHasNone) {
  v1::CreateStudyRequest first;
  v1::CreateStudyRequest second;
  ASSERT_OK(Read("{}", &first));
  ASSERT_OK(Read("{}", &second));
  EXPECT_THAT(first.request_id(), SizeIs(32));
  EXPECT_NE(first.request_id(), second.request_id());
}

TEST(RequestJson, NamesAnUnknownFieldWhereItStands) {
  v1::CreateStudyRequest request;
  const absl::Status said =
      Read(R"({"spec": {"objectives": [{"metric": "f1"}, {"metrik": "f1"}]}})",
           &request);
  EXPECT_THAT(said,
              FailsAt(ErrorId::kRequestInvalid, "spec.objectives[1].metrik"));
  EXPECT_EQ(DetailOf(said)->fix, "did you mean 'metric'?");
}

TEST(RequestJson, RefusesWhatIsNoJsonAndNoValueOfItsField) {
  v1::CreateStudyRequest request;
  for (const char* const json :
       {"", "{", "[]", "{\"study_id\": 3", "{\"spec\": \"x\"}",
        "{\"spec\": {\"seed\": \"many\"}}"}) {
    EXPECT_THAT(Read(json, &request), FailsWith(ErrorId::kRequestInvalid))
        << json;
  }
}

TEST(RequestJson, SkipsCommentsButNotInsideOfText) {
  v1::CreateStudyRequest request;
  ASSERT_OK(
      Read("{ // which one\n"
           "\"study_id\": \"a//b\\\"//c\" // end\n}",
           &request));
  EXPECT_EQ(request.study_id(), "a//b\"//c");
}

TEST(RequestJson, ALineHasNoOtherLine) {
  v1::CreateStudyRequest request;
  request.set_study_id("imdb");
  const std::string line = ReplyLine(request);
  EXPECT_THAT(line, HasSubstr("\"study_id\":\"imdb\""));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(RequestTemplate, IsARequestOfItsMethod) {
  for (const auto* const method : AllMethods()) {
    const auto& type = *method->input_type();
    const std::unique_ptr<google::protobuf::Message> request(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(&type)
            ->New());
    EXPECT_OK(Read(RequestTemplate(type), request.get()))
        << RequestTemplate(type);
  }
}

TEST(RequestTemplate, HasEveryFieldWithWhatTheContractSaysOfIt) {
  const std::string example =
      RequestTemplate(*v1::CreateStudyRequest::descriptor());
  EXPECT_THAT(example, HasSubstr("// Several data sets, each with a head of "
                                 "its own, trained together on one encoder"));
  EXPECT_THAT(example, HasSubstr("// Instead: \"log_uniform\"\n"));
  EXPECT_THAT(example, Not(HasSubstr("\n        \"log_uniform\": ")));
  EXPECT_THAT(example, HasSubstr("One of: PURPOSE_UNSPECIFIED, PURPOSE_BEST"));
}

TEST(RequestTemplate, SaysTheRuleOfAField) {
  const std::string ask = RequestTemplate(*v1::AskPlanRequest::descriptor());
  EXPECT_THAT(ask, HasSubstr("// May be: 1 to 64\n  \"trials\": 0"));
  EXPECT_THAT(ask, HasSubstr("// May be: studies/{id}\n  \"study\": "));
}

}  // namespace
}  // namespace frostline::cli
