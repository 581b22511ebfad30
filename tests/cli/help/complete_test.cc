// SPDX-License-Identifier: Apache-2.0
//
// What may stand where a person has stopped typing, on a small table of
// commands.
#include "cli/help/complete.h"

#include <string>
#include <vector>

#include "cli/help/help_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CompleteWords : public testing::Test {
 protected:
  CompleteWords() {
    app_.add_option("--connect", text_, "Who to ask")->type_name("HOST:PORT");
    app_.add_option("--context", text_)->type_name("NAME");
    CLI::App* const study = app_.add_subcommand("study", "About studies");
    CLI::App* const show = study->add_subcommand("show", "Show one study");
    show->add_option("ID", text_)->required();
    show->add_option("--format", text_)
        ->check(CLI::IsMember({"table", "json"}));
    show->add_flag("--wide", flag_, "All columns");
    CLI::App* const trial = app_.add_subcommand("trial", "About trials");
    CLI::App* const log = trial->add_subcommand("log", "Its log");
    log->add_option("STUDY", text_)->required();
    log->add_option("NUMBER", number_)->required();
    log->add_option("--format", text_, "table, json")->type_name("FORMAT");
    CLI::App* const apart = trial->add_subcommand("compare", "Which is better");
    apart->add_option("TRIAL", texts_);
    app_.add_subcommand("explain", "What a word means");
    CLI::App* const create = study->add_subcommand("create", "From a file");
    create->add_option("FILE", text_);
  }

  NextWord After(const std::vector<std::string>& words) {
    return WantedAfter(app_, words);
  }
  std::vector<std::string> Offered(const std::vector<std::string>& words) {
    std::vector<std::string> offered;
    for (const Candidate& one : After(words).candidates) {
      offered.push_back(one.word);
    }
    return offered;
  }

  CLI::App app_{"Which layers to train.", "frostline"};
  std::string text_;
  std::vector<std::string> texts_;
  int number_ = 0;
  bool flag_ = false;
};

TEST_F(CompleteWords, AFormatIsOneOfThoseThatItsHelpNames) {
  EXPECT_THAT(Offered({"trial", "log", "imdb", "--format", ""}),
              ElementsAre("table", "json"));
  EXPECT_FALSE(After({"trial", "log", "imdb", "--format", "t"}).files);
}

TEST_F(CompleteWords, ATrialMayBeOneWordWhereANumberMayFollow) {
  EXPECT_TRUE(After({"trial", "log", "imdb/1"}).slash_number);
  EXPECT_FALSE(After({"study", "show", "imdb/1"}).slash_number);
}

TEST_F(CompleteWords, CommandsStandWhereNoneWasChosen) {
  EXPECT_THAT(Offered({""}), ElementsAre("study", "trial", "explain"));
  EXPECT_THAT(Offered({"study", ""}), ElementsAre("show", "create"));
}

TEST_F(CompleteWords, FlagsAreTheCommandsOwnAndThoseOfAll) {
  const auto flags = Offered({"study", "show", "--"});
  EXPECT_THAT(flags, AllOf(Contains("--format"), Contains("--wide"),
                           Contains("--connect"), Contains("--help")));
  EXPECT_THAT(Offered({"trial", "log", "-"}), Not(Contains("--wide")));
}

TEST_F(CompleteWords, AValueIsOneOfItsSetHoweverItIsWritten) {
  EXPECT_THAT(Offered({"study", "show", "--format", "j"}),
              ElementsAre("table", "json"));
  const NextWord joined = After({"study", "show", "--format=j"});
  EXPECT_EQ(joined.before, "--format=");
  EXPECT_EQ(joined.begun, "j");
  // As bash cuts it.
  EXPECT_EQ(After({"study", "show", "--format", "=", "j"}).before, "--format=");
}

TEST_F(CompleteWords, AValueIsNeitherACommandNorAWord) {
  EXPECT_THAT(Offered({"--context", "trial", "study", ""}),
              ElementsAre("show", "create"));
  EXPECT_THAT(Offered({"--connect", "host", ":", "7070", "study", ""}),
              ElementsAre("show", "create"));
  EXPECT_EQ(After({"--connect", "host", ":", "7070", ""}).options.connect,
            "host:7070");
}

TEST_F(CompleteWords, ACoordinatorIsAskedForItsNames) {
  EXPECT_EQ(After({"study", "show", ""}).live, Live::kStudies);
  EXPECT_EQ(After({"study", "show", "imdb", ""}).live, Live::kNone);
  const NextWord number = After({"trial", "log", "imdb", ""});
  EXPECT_EQ(number.live, Live::kTrials);
  EXPECT_EQ(number.study, "imdb");
  EXPECT_TRUE(After({"trial", "compare", "imdb/1", ""}).slash_number);
  EXPECT_EQ(After({"--context", ""}).live, Live::kContexts);
}

TEST_F(CompleteWords, FilesAreLeftToTheShell) {
  EXPECT_TRUE(After({"study", "create", "st"}).files);
  EXPECT_FALSE(After({"study", "show", ""}).files);
}

TEST_F(CompleteWords, ErrorsAreExplained) {
  EXPECT_THAT(Offered({"explain", "FL-2"}), Contains("FL-2001"));
}

TEST_F(CompleteWords, HelpBeginsWithExamplesAndEndsWithWhereMoreIs) {
  UseHelpFormat(app_);
  app_.clear();
  const CLI::App* const show =
      app_.get_subcommand("study")->get_subcommand("show");
  EXPECT_EQ(PathOf(*show), "study show");
  const std::string text = show->help();
  EXPECT_THAT(text, StartsWith("Examples:\n  frostline study show "));
  EXPECT_THAT(text, AllOf(HasSubstr("Usage: frostline study show"),
                          HasSubstr("\nFlags:\n"), HasSubstr("--wide"),
                          HasSubstr("\nGlobal flags:\n"), HasSubstr(kDocs)));
  EXPECT_LT(text.find("--wide"), text.find("--connect"));
}

TEST(TypeWords, AreThoseThatAValueMayBe) {
  EXPECT_THAT(WordsOfType("TEXT:{table,json}"), ElementsAre("table", "json"));
  EXPECT_THAT(WordsOfType("{QUEUED,FAILED}"), ElementsAre("QUEUED", "FAILED"));
  EXPECT_THAT(WordsOfType("N|gpu"), ElementsAre("gpu"));
  EXPECT_THAT(WordsOfType("INT in [1 - 64]"), IsEmpty());
  EXPECT_THAT(WordsOfType("FILE"), IsEmpty());
}

TEST(TypeWords, AreWrittenForPeople) {
  EXPECT_EQ(ShownType("TEXT:{table,json}"), "table|json");
  EXPECT_EQ(ShownType("N:INT in [1 - 64]"), "N from 1 to 64");
  EXPECT_EQ(ShownType("INT:INT in [1 - 9223372036854775807]"), "INT from 1");
  EXPECT_EQ(ShownType("INT:INT in [-1000 - 1000]"), "INT from -1000 to 1000");
  for (const char* const type : {"HOST:PORT", "N|gpu", "FILE", "NAME,…"}) {
    EXPECT_EQ(ShownType(type), type);
  }
}

TEST(Examples, StandBelowTheirPath) {
  const HelpExamples table =
      ReadExamples("# why\nstudy show\n  frostline study show a\n  b\ntop\n");
  EXPECT_THAT(table.at("study show"),
              ElementsAre("frostline study show a", "b"));
  EXPECT_THAT(table.at("top"), IsEmpty());
  EXPECT_THAT(ExamplesOf("no such path"), IsEmpty());
}

TEST(Topics, EachHasAText) {
  for (const std::string& topic : TopicNames()) {
    EXPECT_THAT(TopicText(topic), Not(IsEmpty())) << topic;
  }
  EXPECT_THAT(TopicText("study"), IsEmpty());
}

}  // namespace
}  // namespace frostline::cli
