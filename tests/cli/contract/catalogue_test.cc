// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/catalogue.h"

#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Catalogue, FindsAMethodByEachOfItsNames) {
  for (const char* const name :
       {"CreateStudy", "createstudy", "StudyService.CreateStudy",
        "studyservice/createStudy", "frostline.v1.StudyService/CreateStudy",
        "/frostline.v1.StudyService/CreateStudy"}) {
    const auto method = FindMethod(name);
    ASSERT_OK(method) << name;
    EXPECT_EQ((*method)->full_name(), "frostline.v1.StudyService.CreateStudy");
  }
}

TEST(Catalogue, SaysWhichMethodMayHaveBeenMeant) {
  const auto near = FindMethod("CreateStudi");
  ASSERT_THAT(near, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_EQ(DetailOf(near.status())->fix, "did you mean 'CreateStudy'?");
  const auto far = FindMethod("zzzzzzzzzzzz");
  ASSERT_THAT(far, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(DetailOf(far.status())->fix, HasSubstr("frostline rpc --list"));
}

TEST(Catalogue, ListsTheMethodsOfAllFourServicesAndWhatIsToCome) {
  const std::string table = MethodTable(0);
  for (const char* const name :
       {"StudyService.CreateStudy", "ImportanceService.GetPlan",
        "AdminService.WhoAmI", "WorkerService.Acquire"}) {
    EXPECT_THAT(table, HasSubstr(name));
  }
  EXPECT_THAT(table, ContainsRegex("StudyService.WatchStudy +stream"));
  EXPECT_THAT(table, ContainsRegex("StudyService.GetStudyDelta +not yet"));
}

TEST(Catalogue, KnowsMessagesAndEnumsInsideOfOthers) {
  EXPECT_EQ(FindMessage("studyspec"), v1::StudySpec::descriptor());
  EXPECT_EQ(FindEnum("FreezeSemantics.Mode"),
            v1::FreezeSemantics::Mode_descriptor());
  EXPECT_EQ(FindMessage("ModelRe"), nullptr);
}

TEST(Comments, AreThoseOfTheContract) {
  EXPECT_THAT(CommentOf(*v1::Study::descriptor()),
              HasSubstr("Its spec never changes; its settings may."));
  // One stands behind its field, on the same line.
  EXPECT_EQ(CommentNamed("frostline.v1.LogUniform.lo"), "> 0");
  EXPECT_EQ(CommentNamed("frostline.v1.No.such"), "");
  for (const auto* const type :
       {v1::StudySpec::descriptor(), v1::Training::descriptor()}) {
    EXPECT_THAT(CommentOf(*type), Not(IsEmpty())) << type->name();
  }
}

TEST(Comments, AFirstSentenceEndsAtItsFullStop) {
  EXPECT_EQ(FirstSentence("One, e.g. this one. Two."), "One, e.g. this one.");
  EXPECT_EQ(FirstSentence("Holds 0.5 of it"), "Holds 0.5 of it");
  EXPECT_EQ(FirstSentence("First\n\nSecond. Third"), "First");
}

}  // namespace
}  // namespace frostline::cli
