// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/imported_lines.h"

#include "base/error.h"
#include "cli/commands/set_field.h"
#include "cli/commands/trial.h"
#include "cli/commands/trial_files.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class ImportedLinesTest : public ::testing::Test {
 protected:
  ImportedLinesTest() {
    study_.set_name("studies/films");
    study_.mutable_create_time()->set_seconds(1'700'000'000);
    study_.mutable_spec()->add_objectives()->set_metric("accuracy");
  }
  absl::StatusOr<ImportedLines> Parse(const std::string& text) {
    return ParseImportedLines(text, "t", study_.spec());
  }
  std::string FirstId(const ImportedLines& read) {
    return ImportBatches(study_, read, "t")->front().request_id();
  }

  v1::Study study_;
  const std::string good_ =
      R"({"name": "studies/a/trials/0", "state": "TRIAL_STATE_SUCCEEDED",)"
      R"( "parameters": [{"name": "x", "value": 2}],)"
      R"( "metrics": {"accuracy": 0.5}, "seed": "9"})"
      "\n";
};

TEST_F(ImportedLinesTest, MeasurementsGoToTheTrialBeforeThem) {
  const std::string curve =
      R"({"trial": "studies/a/trials/0", "attempt": "1",)"
      R"( "measurements": [{"step": "3", "metrics": {"loss": 1}}]})"
      "\n";
  ASSERT_OK_AND_ASSIGN(const ImportedLines read, Parse(good_ + curve + curve));
  ASSERT_EQ(read.trials.size(), 1u);
  EXPECT_EQ(read.trials[0].measurements_size(), 2);
  EXPECT_EQ(read.trials[0].parameters().at("x").number_value(), 2);
  EXPECT_EQ(read.trials[0].seed(), 9u);
  EXPECT_THAT(Parse(curve).status().message(), HasSubstr("t:1: "));
}

TEST_F(ImportedLinesTest, NotesAreKeptBesideTheirTrials) {
  const std::string failed = R"({"state": "TRIAL_STATE_FAILED", "note": ")";
  ASSERT_OK_AND_ASSIGN(
      const ImportedLines read,
      Parse(R"({"state": "TRIAL_STATE_RUNNING", "note": "not taken"})"
            "\n" +
            good_ + failed + "why?\"}"));
  EXPECT_THAT(read.notes, ElementsAre(testing::Pair(1u, "why?")));
  EXPECT_THAT(
      Parse(failed + std::string(70'000, 'x') + "\"}").status().message(),
      HasSubstr("t:1: the trial's labels and its note"));
}

TEST_F(ImportedLinesTest, LeavesOutWhatHasNoResult) {
  ASSERT_OK_AND_ASSIGN(
      const ImportedLines read,
      Parse(R"({"name": "a", "state": "TRIAL_STATE_RUNNING"})"
            "\n" +
            good_ + R"({"name": "b", "state": "TRIAL_STATE_CANCELLED"})"));
  EXPECT_EQ(read.skipped, 2u);
  EXPECT_THAT(read.lines, ElementsAre(2u));
}

TEST_F(ImportedLinesTest, NamesTheLineThatIsBad) {
  for (const char* const bad :
       {"{\"name\": ", "[1]", R"({"name": "studies/a/trials/1"})",
        R"({"state": "TRIAL_STATE_SUCCEEDED", "metrics": {"f1": 1}})",
        R"({"state": "TRIAL_STATE_SUCCEEDED", "metrics": {"accuracy": "x"}})",
        R"({"state": "TRIAL_STATE_SUCCEEDED",)"
        R"( "metrics": {"accuracy": "NaN"}})"}) {
    const absl::Status refused = Parse(good_ + "\n" + bad).status();
    EXPECT_THAT(refused.message(), HasSubstr("t:3: ")) << bad;
  }
}

TEST_F(ImportedLinesTest, ATableIsReadAsItIsExported) {
  ASSERT_OK_AND_ASSIGN(
      const ImportedLines read,
      Parse("number,state,origin,accuracy,layer.0,kind,cause,seed\n"
            "0,SUCCEEDED,SAMPLED,0.5,frozen,\"\"\"a, b\"\"\",,12\n"
            "1,CANCELLED,SAMPLED,,2e-05,plain,\"two\nlines\",\n"
            "2,FAILED,SAMPLED,,2e-05,plain,,\n"));
  ASSERT_EQ(read.trials.size(), 2u);
  const auto& point = read.trials[0].parameters();
  EXPECT_EQ(point.at("layer.0").number_value(), 0);
  EXPECT_EQ(point.at("kind").string_value(), "a, b");
  EXPECT_EQ(point.size(), 2u);
  EXPECT_EQ(read.trials[0].seed(), 12u);
  EXPECT_THAT(read.lines, ElementsAre(2u, 5u));
  EXPECT_EQ(read.skipped, 1u);
}

TEST_F(ImportedLinesTest, NamesTheRowThatIsBad) {
  const std::string header = "state,accuracy,x\nSUCCEEDED,1,2\n";
  for (const char* const bad : {"SUCCEEDED,1", "DONE,1,2", "SUCCEEDED,good,2",
                                "SUCCEEDED,,2", "SUCCEEDED,1,\"2"}) {
    EXPECT_THAT(Parse(header + bad).status().message(), HasSubstr("t:3: "))
        << bad;
  }
  EXPECT_FALSE(Parse("x,x\n1,2\n").ok());
  EXPECT_FALSE(Parse("\"\"\n").ok());
}

class SpaceOfOne : public ImportedLinesTest {
 protected:
  SpaceOfOne() {
    v1::SearchSpace& space = *study_.mutable_spec()->mutable_space();
    space.add_parameters()->set_name("x");
    v1::ParameterSpace& sometimes = *space.add_parameters();
    sometimes.set_name("momentum");
    sometimes.mutable_when()->set_parent("x");
  }
};

TEST_F(SpaceOfOne, WhatIsNoTableOfTrialsIsNoHeader) {
  for (const std::string& text :
       {std::string("hello\n"), std::string(200'000, '['),
        std::string("[{\"state\": \"TRIAL_STATE_FAILED\"}]\n"),
        std::string("accuracy,momentum\n1,2\n")}) {
    const absl::Status refused = Parse(text).status();
    EXPECT_THAT(refused.message(), HasSubstr("t:1: ")) << text.substr(0, 50);
    EXPECT_LT(refused.message().size(), 300u);
    EXPECT_THAT(DetailOf(refused)->fix, HasSubstr("accuracy, x"));
    EXPECT_EQ(ExitCodeOf(refused), kExitInvalidFile);
  }
  EXPECT_TRUE(Parse("accuracy,x\n1,2\n").ok());
}

TEST_F(SpaceOfOne, AHeaderAloneIsNoTable) {
  EXPECT_THAT(Parse("\naccuracy,x\n").status().message(), HasSubstr("t:2: "));
}

TEST_F(SpaceOfOne, AParameterWithoutAValueIsNamedWithItsLine) {
  const absl::Status missing =
      Parse(good_ + R"({"state": "TRIAL_STATE_FAILED"})").status();
  EXPECT_THAT(missing.message(), HasSubstr("t:2: parameter x has no value"));
  EXPECT_EQ(DetailOf(missing)->field, "parameters.x");
  EXPECT_THAT(Parse("accuracy,x\n1,2\n1,\n").status().message(),
              HasSubstr("t:3: parameter x has no value"));
}

TEST_F(SpaceOfOne, AParameterTwiceIsNamedWithItsLine) {
  const absl::Status twice =
      Parse(good_ + R"({"state": "TRIAL_STATE_FAILED", "parameters": [)"
                    R"({"name": "x", "value": 1}, {"name": "x", "value": 2}]})")
          .status();
  EXPECT_THAT(twice.message(), HasSubstr("t:2: parameter x is there twice"));
  EXPECT_TRUE(HasErrorId(twice, ErrorId::kValueOutOfSpace));
}

TEST_F(ImportedLinesTest, TheSameContentHasTheSameRequestId) {
  ASSERT_OK_AND_ASSIGN(ImportedLines read, Parse(good_));
  const std::string id = FirstId(read);
  EXPECT_EQ(FirstId(read), id);
  read.trials[0].set_seed(10);
  EXPECT_NE(FirstId(read), id);
  read.trials[0].set_seed(9);
  study_.mutable_create_time()->set_seconds(1'700'000'001);
  EXPECT_NE(FirstId(read), id);
}

TEST_F(ImportedLinesTest, BatchesFitARequestAndDiffer) {
  ASSERT_OK_AND_ASSIGN(ImportedLines read, Parse(good_));
  read.trials.resize(2'001, read.trials[0]);
  read.lines.resize(2'001, 1);
  ASSERT_OK_AND_ASSIGN(const auto batches, ImportBatches(study_, read, "t"));
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].trials_size(), 1'000);
  EXPECT_EQ(batches[2].trials_size(), 1);
  EXPECT_NE(batches[0].request_id(), batches[1].request_id());
}

TEST_F(ImportedLinesTest, ATrialThatFitsNoRequestIsNamed) {
  ASSERT_OK_AND_ASSIGN(ImportedLines read, Parse(good_));
  (*read.trials[0].mutable_labels())["a"] = std::string(2 << 20, 'x');
  EXPECT_THAT(ImportBatches(study_, read, "t").status().message(),
              HasSubstr("t:1: "));
}

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
