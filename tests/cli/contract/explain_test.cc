// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/explain.h"

#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/contract/catalogue.h"
#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Explained(const std::string& path) {
  const auto text = ExplainPath(path, 80);
  EXPECT_OK(text);
  return text.ok() ? *text : "";
}

TEST(Explain, SaysTypeCommentAndFieldsOfAField) {
  EXPECT_THAT(Explained("StudySettings.budget"),
              AllOf(StartsWith("StudySettings.budget  <Budget>\n"),
                    HasSubstr("  trials  <whole number>\n"),
                    HasSubstr("Exactly this many trials end in a terminal"),
                    HasSubstr("A value alone stands for {trials: value}."),
                    Not(HasSubstr("\nBudget: \n"))));
}

TEST(Explain, TakesStepsThatWereLeftOut) {
  EXPECT_THAT(Explained("study.space.levels"),
              AllOf(StartsWith("study.space.modules.levels  <Levels>\n"),
                    HasSubstr("Not beside log_uniform, fixed."),
                    HasSubstr("ALSO\n  study.space.ties.levels")));
  EXPECT_THAT(Explained("study.space.modules[0].levels"),
              StartsWith("study.space.modules.levels"));
}

TEST(Explain, KnowsTheKeysOfAStudyFile) {
  EXPECT_THAT(Explained("study"), AllOf(HasSubstr("  space  <SearchSpace>\n"),
                                        HasSubstr("  budget  <Budget>\n"),
                                        HasSubstr("  state  <StudyState>\n")));
  EXPECT_THAT(Explained("study.maximize"), StartsWith("study.objectives"));
  EXPECT_THAT(Explained("study.space.tie"), StartsWith("study.space.ties"));
}

TEST(Explain, TakesPathsAsAStudyFileHasThem) {
  EXPECT_THAT(Explained("space.modules"),
              StartsWith("study.space.modules  <list of ModuleSpace>"));
  EXPECT_THAT(Explained("space.tie"), StartsWith("study.space.ties"));
  EXPECT_THAT(Explained("space.layerwise_decay"),
              StartsWith("study.space.layerwise_decay"));
  EXPECT_THAT(Explained("training.epochs"),
              StartsWith("study.training.epochs"));
  EXPECT_THAT(Explained("model"), StartsWith("study.model"));
  EXPECT_THAT(Explained("data"), StartsWith("study.data"));
  EXPECT_THAT(Explained("budget"), StartsWith("study.budget  <Budget>"));
  EXPECT_THAT(Explained("enqueue[0].values"),
              StartsWith("study.enqueue.values"));
  EXPECT_THAT(Explained("Budget"), StartsWith("Budget\n"));
  EXPECT_EQ(DetailOf(ExplainPath("spase.modules", 80).status())->fix,
            "did you mean 'space'?");
}

TEST(Explain, ListsValuesAndWhatIsNotServed) {
  EXPECT_THAT(Explained("study.purpose"),
              AllOf(HasSubstr("  understand  PURPOSE_UNDERSTAND\n"),
                    HasSubstr("chosen for what it tells about the answer")));
  EXPECT_THAT(Explained("FreezeSemantics.Mode"), HasSubstr("  lr0  LR0\n"));
  EXPECT_THAT(Explained("EnqueuedTrial.baseline"),
              HasSubstr("Not served yet; it comes with baselines."));
}

TEST(Explain, SaysWhatMayHaveBeenMeant) {
  const auto field = ExplainPath("study.spacee", 80);
  ASSERT_THAT(field, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_EQ(DetailOf(field.status())->fix, "did you mean 'space'?");
  const auto root = ExplainPath("studdy", 80);
  ASSERT_THAT(root, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_EQ(DetailOf(root.status())->fix, "did you mean 'study'?");
  EXPECT_THAT(ExplainPath("study.seed.low", 80),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(Explain, FitsItsLines) {
  for (const auto* const type : AllMessages()) {
    const std::string text = Explained(ShortNameOf(*type));
    for (const auto& line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(DisplayWidth(std::string(line)), 80) << line;
    }
  }
}

TEST(Explain, ATreeHasAllThatIsBelow) {
  ASSERT_OK_AND_ASSIGN(const std::string tree, ExplainTree("study.space"));
  EXPECT_THAT(tree, StartsWith("study.space\n  modules  <list of ModuleSpace>\n"
                               "    select  <text>\n    levels  <Levels>\n"
                               "      rates  <list of number>\n"));
  for (const auto* const type : AllMessages()) {
    EXPECT_OK(ExplainTree(ShortNameOf(*type)));
  }
}

TEST(ExplainError, HasTheWholeEntryOfEveryError) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    ASSERT_OK_AND_ASSIGN(const std::string page,
                         ExplainError(ErrorCode(kind.id), 80));
    EXPECT_THAT(page, StartsWith(ErrorCode(kind.id) + "  " + kind.reason));
    EXPECT_THAT(page, HasSubstr("\nExit code "));
    EXPECT_GT(page.size(), 150u) << page;
  }
  ASSERT_OK_AND_ASSIGN(const std::string page, ExplainError("fl-2001", 80));
  EXPECT_THAT(page, HasSubstr("Exit code 3; `frostline help exit-codes`"));
}

TEST(ExplainError, SaysWhichIdMayHaveBeenMeant) {
  const auto page = ExplainError("FL-2O01", 80);
  ASSERT_THAT(page, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_EQ(DetailOf(page.status())->fix, "did you mean 'FL-2001'?");
}

// What stands on the screen of a plan, a frontier, an importance or the demo.
TEST(ExplainTerm, KnowsTheWordsOnTheScreen) {
  for (const char* const word :
       {"within",    "frontier", "tolerance", "predicted", "main effect",
        "direction", "unsure",   "fit",       "noise",     "settled",
        "freeze",    "train",    "either",    "not known", "rival",
        "less plan", "seeds",    "rows",      "sharing",   "luck",
        "survives",  "rests on", "Plan",      "TRIALS"}) {
    const std::string text = ExplainTerm(word, 80);
    if (std::string(word) == "TRIALS") {
      EXPECT_EQ(text, "") << "another form of a word is not guessed";
      continue;
    }
    EXPECT_GT(text.size(), 20u) << word;
    EXPECT_THAT(text, Not(HasSubstr("](")));
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(line.size(), 90u) << line;
    }
  }
  EXPECT_THAT(ExplainTerm("frozen", 80), HasSubstr("docs/explanation/"));
}

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

TEST(Catalogue, ListsTheMethodsOfAllFourServices) {
  const std::string table = MethodTable(0);
  for (const char* const name :
       {"StudyService.CreateStudy", "ImportanceService.GetPlan",
        "AdminService.WhoAmI", "WorkerService.Acquire"}) {
    EXPECT_THAT(table, HasSubstr(name));
  }
  EXPECT_THAT(table, ContainsRegex("StudyService.WatchStudy +stream"));
  EXPECT_THAT(table, ContainsRegex("StudyService.Suggest +yes"));
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
