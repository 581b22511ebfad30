// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/contract/catalogue.h"
#include "frostline/v1/study_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace frostline::cli
