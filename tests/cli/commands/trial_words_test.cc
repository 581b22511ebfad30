// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/set_field.h"
#include "cli/commands/trial.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(TrialWordsTest, TwoWordsAndOneNameTheSameTrial) {
  for (const TrialWords& words :
       {TrialWords{"imdb", "17"}, TrialWords{"studies/imdb", "17"},
        TrialWords{"imdb/17", ""}, TrialWords{"studies/imdb/trials/17", ""}}) {
    ASSERT_OK_AND_ASSIGN(const std::string name, TrialNameFrom(words));
    EXPECT_EQ(name, "studies/imdb/trials/17") << words.study;
  }
}

TEST(TrialWordsTest, WordsThatNameNoTrialAreUsageErrors) {
  for (const TrialWords& words :
       {TrialWords{"imdb", ""}, TrialWords{"imdb", "x"},
        TrialWords{"imdb/", ""}, TrialWords{"imdb", "-1"},
        TrialWords{"imdb", "1.5"}, TrialWords{"imdb/1", "2"},
        TrialWords{"imdb", "9999999999999"}}) {
    const absl::Status refused = TrialNameFrom(words).status();
    EXPECT_TRUE(HasErrorId(refused, ErrorId::kRequestInvalid))
        << words.study << " " << words.number;
  }
}

TEST(TrialWordsTest, TheWordInNumbersPlaceIsTheFirstOfThoseThatFollow) {
  std::vector<std::string> more = {"b=2"};
  ASSERT_OK_AND_ASSIGN(const std::string name,
                       TrialNameFrom({"imdb/3", "a=1"}, &more));
  EXPECT_EQ(name, "studies/imdb/trials/3");
  EXPECT_THAT(more, ElementsAre("a=1", "b=2"));
}

TEST(TrialWordsTest, ANumberIsOfTheStudyNamedLast) {
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialName> trials,
                       TrialNamesFrom({"imdb", "3", "sst/0", "4"}));
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].study_id, "imdb");
  EXPECT_EQ(trials[2].study_id, "sst");
  EXPECT_EQ(trials[2].number, 4);
  EXPECT_FALSE(TrialNamesFrom({"imdb"}).ok());
  EXPECT_FALSE(TrialNamesFrom({"imdb", "three"}).ok());
}

TEST(LabelWordsTest, SetsAndTakesAway) {
  LabelMap labels;
  labels["team"] = "nlp";
  labels["old"] = "yes";
  EXPECT_OK(ChangeLabels({"name=a=b", "old-", "gone-"}, "", labels));
  EXPECT_THAT(labels,
              UnorderedElementsAre(Pair("team", "nlp"), Pair("name", "a=b")));
}

TEST(LabelWordsTest, ABadWordChangesNothing) {
  for (const char* const bad : {"team", "=x", "-", "a-"}) {
    LabelMap labels;
    labels["team"] = "nlp";
    EXPECT_FALSE(ChangeLabels({"a=1", bad}, "", labels).ok()) << bad;
    EXPECT_THAT(labels, UnorderedElementsAre(Pair("team", "nlp")));
  }
}

}  // namespace
}  // namespace frostline::cli
