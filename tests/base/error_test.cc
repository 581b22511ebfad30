// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/ids.h"
#include "base/nearest.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

TEST(Error, CarriesItsIdFieldAndFix) {
  const absl::Status status = MakeError(ErrorId::kLevelsInvalid, "no levels",
                                        "list a rate", "space.modules[3]");
  EXPECT_THAT(status, FailsAt(ErrorId::kLevelsInvalid, "space.modules[3]"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DetailOf(status)->fix, "list a rate");
  EXPECT_EQ(ErrorCode(ErrorId::kLevelsInvalid), "FL-1003");
}

TEST(Error, ForeignErrorsHaveNoDetail) {
  EXPECT_FALSE(DetailOf(absl::OkStatus()).has_value());
  EXPECT_FALSE(DetailOf(absl::InternalError("x")).has_value());
  EXPECT_FALSE(HasErrorId(absl::InternalError("x"), ErrorId::kInternal));
}

TEST(Error, IsDescribedByIdCauseAndFix) {
  const std::string text = DescribeError(
      MakeError(ErrorId::kStoreLocked, "pid 7 holds it", "stop that one"));
  EXPECT_THAT(text, ::testing::HasSubstr("FL-3001"));
  EXPECT_THAT(text, ::testing::HasSubstr("pid 7 holds it"));
  EXPECT_THAT(text, ::testing::HasSubstr("fix: stop that one"));
}

TEST(Error, IdsAndReasonsAreUnique) {
  std::set<int> numbers;
  std::set<std::string> reasons;
  for (const ErrorKind& kind : AllErrorKinds()) {
    EXPECT_TRUE(numbers.insert(static_cast<int>(kind.id)).second)
        << kind.reason;
    EXPECT_TRUE(reasons.insert(kind.reason).second) << kind.reason;
  }
}

TEST(Error, TheReferenceListsEveryErrorAndNoOther) {
  std::ifstream page(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                     "/docs/reference/errors.md");
  std::stringstream text;
  text << page.rdbuf();
  const std::string content = text.str();
  std::set<std::string> documented;
  const std::regex heading("#+ [^\n]*(FL-[0-9]{4})");
  for (std::sregex_iterator i(content.begin(), content.end(), heading), end;
       i != end; ++i) {
    documented.insert((*i)[1]);
  }
  std::set<std::string> raised;
  for (const ErrorKind& kind : AllErrorKinds()) {
    raised.insert(ErrorCode(kind.id));
  }
  EXPECT_EQ(documented, raised);
}

TEST(ExitCode, FollowsTheKindOfError) {
  const auto code = [](ErrorId id) {
    return ExitCodeOf(MakeError(id, "", ""));
  };
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), kExitOk);
  EXPECT_EQ(code(ErrorId::kStudyNotFound), kExitNotFound);
  EXPECT_EQ(code(ErrorId::kStudyAlreadyExists), kExitConflict);
  EXPECT_EQ(code(ErrorId::kStoreLocked), kExitConflict);
  EXPECT_EQ(code(ErrorId::kCoordinatorAway), kExitUnreachable);
  EXPECT_EQ(code(ErrorId::kInternal), kExitFailure);
  EXPECT_EQ(code(ErrorId::kSamplerInvalid), kExitInvalidFile);
  EXPECT_EQ(code(ErrorId::kFilterInvalid), kExitUsage);
  EXPECT_EQ(code(ErrorId::kPageTokenInvalid), kExitUsage);
}

absl::StatusOr<int> Half(int number) {
  if (number % 2 != 0) return MakeError(ErrorId::kInternal, "odd", "");
  return number / 2;
}
absl::StatusOr<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const int half, Half(number));
  return Half(half);
}

TEST(StatusMacros, CarryTheFirstErrorUp) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_THAT(Quarter(6), FailsWith(ErrorId::kInternal));
}

TEST(Ids, NamesGoThereAndBack) {
  EXPECT_EQ(*ParseStudyName(StudyNameOf("imdb")), "imdb");
  EXPECT_EQ(*ParseWorkerName(WorkerNameOf("gpu03-0")), "gpu03-0");
  const TrialName trial = *ParseTrialName(TrialNameOf("a.b", 17));
  EXPECT_EQ(trial.study_id, "a.b");
  EXPECT_EQ(trial.number, 17);
}

TEST(Ids, WhatCouldLeaveAFolderOrForgeANameIsRefused) {
  for (const char* bad :
       {"", "..", "a..b", ".a", "-a", "_a", "A", "a/b", "a b", "a\n", "ä",
        "a%2e",
        "0123456789012345678901234567890123456789012345678901234567890"
        "12345"}) {
    EXPECT_THAT(CheckId(bad, "study_id"),
                FailsAt(ErrorId::kNameInvalid, "study_id"))
        << bad;
  }
}

TEST(Ids, MalformedTrialNamesAreRefused) {
  for (const char* bad :
       {"", "studies/a", "studies/a/trials/", "studies/a/trials/-1",
        "studies/a/trials/1x", "studies/a/trials/01", "studies/a/trials/1/2",
        "studies/a/trials/99999999999999999999", "workers/a/trials/1"}) {
    EXPECT_THAT(ParseTrialName(bad), FailsWith(ErrorId::kNameInvalid)) << bad;
  }
}

TEST(Ids, RandomIdsDiffer) {
  EXPECT_EQ(RandomHexId().size(), 32u);
  EXPECT_NE(RandomHexId(), RandomHexId());
}

TEST(RequestId, IsNeverDrawnTwice) {
  const FakeClock clock;
  std::set<std::string> drawn;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(drawn.insert(NewRequestId(clock)).second);
  }
}

TEST(RequestId, DrawnLaterSortsLater) {
  FakeClock clock;
  std::string last = NewRequestId(clock);
  for (int i = 0; i < 1000; ++i) {
    clock.Advance(std::chrono::milliseconds(37));
    const std::string next = NewRequestId(clock);
    EXPECT_LT(last, next);
    EXPECT_EQ(next.size(), 32u);
    last = next;
  }
}

TEST(Nearest, CountsTypingMistakes) {
  EXPECT_EQ(TypingDistance("seed", "seed"), 0);
  EXPECT_EQ(TypingDistance("sead", "seed"), 1);
  EXPECT_EQ(TypingDistance("sede", "seed"), 1);  // two swapped
  EXPECT_EQ(TypingDistance("", "seed"), 4);
}

TEST(Nearest, FindsWhatIsNearAndOnlyThat) {
  const std::vector<std::string> words = {"seed", "space", "sampler", "k"};
  EXPECT_EQ(Nearest("sampller", words), "sampler");
  EXPECT_EQ(Nearest("zebra", words), "");
  EXPECT_EQ(Nearest("", words), "");
  EXPECT_EQ(Nearest(std::string(10'000, 's'), words), "");
}

TEST(Nearest, ListsTheWordsWhenNoneIsNear) {
  EXPECT_EQ(Suggest("lst", {"list", "show"}), "did you mean 'list'?");
  EXPECT_EQ(Suggest("zebra", {"list", "show"}), "use one of list, show");
}

}  // namespace
}  // namespace frostline
