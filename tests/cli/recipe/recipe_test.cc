// SPDX-License-Identifier: Apache-2.0
//
// What a run of a recipe comes to: tables, pictures and the judgement of what
// was published.
#include <cmath>

#include "cli/recipe/recipe_page.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/run_table.h"
#include "cli/report/trial_figures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/recipe/small_recipe.h"
#include "tests/cli/report/small_record.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two runs of two seeds: all trained scores .90 and .94, first 1 .80 and .84.
StudyRecord RunsRecord() {
  StudyRecord record = SmallRecord();
  record.plan.reset();
  record.missing.clear();
  auto& labels = *record.study.mutable_settings()->mutable_labels();
  labels["recipe"] = "first-layers";
  labels["recipe_entry"] = "frozen-english";
  labels["recipe_stage"] = "frozen";
  labels["recipe_compare"] = "all trained";
  record.trials.Clear();
  const std::vector<std::pair<std::string, double>> runs = {
      {"all trained", 0.90},
      {"all trained", 0.94},
      {"first 1", 0.80},
      {"first 1", 0.84}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    v1::Trial trial = TrialOf(static_cast<std::int64_t>(i), runs[i].second,
                              i < 2 ? 4'000'000 : 3'000'000, 9.0, {0.0, 1e-3});
    trial.mutable_usage()->set_train_seconds(i < 2 ? 10.0 : 4.0);
    (*trial.mutable_labels())["run"] = runs[i].first;
    (*trial.mutable_labels())["at"] = i < 2 ? "0" : "1";
    *record.trials.add_trials() = trial;
  }
  return record;
}

TEST(RunTable, HasMeanAndDeviationOverSeeds) {
  const StudyRecord record = RunsRecord();
  const ReportTable table = RunTable(record, "runs", nullptr);
  EXPECT_THAT(table.columns,
              ElementsAre("run", "seeds", "accuracy", "±", "trained",
                          "train seconds", "time saved"));
  EXPECT_THAT(table.rows[1], ElementsAre("first 1", "2", "0.82", "0.02828",
                                         "3 M", "4", "60.0 %"));
}

TEST(RunTable, HasWhatWasPublishedBeside) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const ReportTable table =
      RunTable(RunsRecord(), "runs", &recipe->published.at("frozen-english"));
  EXPECT_EQ(table.columns[4], "published accuracy");
  EXPECT_EQ(table.rows[0][4], "0.93");
}

TEST(ComparedRuns, SayWhichTheyHaveNoRoomFor) {
  // Given three runs of 60 seeds, where a comparison takes 128 trials.
  StudyRecord record = RunsRecord();
  record.trials.Clear();
  for (std::int64_t i = 0; i < 180; ++i) {
    v1::Trial trial = TrialOf(i, 0.9, 4'000'000, 9.0, {0.0, 1e-3});
    (*trial.mutable_labels())["run"] = std::vector{
        "first 1", "first 2", "all trained"}[static_cast<std::size_t>(i) % 3];
    *record.trials.add_trials() = trial;
  }
  ComparedRuns compared = RunsToCompare(record);
  ASSERT_EQ(compared.request().contenders_size(), 2);
  EXPECT_EQ(compared.request().contenders(0).name(), "all trained");
  EXPECT_EQ(compared.request().contenders(1).name(), "first 1");
  std::vector<std::string> missing;
  compared.SayLeftOut("The test", missing);
  EXPECT_THAT(missing, ElementsAre("The test leaves out first 2: it takes 16 "
                                   "runs and 128 trials at most."));
}

TEST(ComparedRuns, SayNothingWhereAllHaveRoom) {
  std::vector<std::string> missing;
  RunsToCompare(RunsRecord()).SayLeftOut("The test", missing);
  EXPECT_THAT(missing, ElementsAre());
}

TEST(RunFigures, TellWhatShareOfTheScoreIsLeft) {
  const auto scores = RelativeScores(RunsRecord());
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores[1].share, 0.82 / 0.92, 1e-12);
  EXPECT_NEAR(scores[1].error, 0.02 / 0.92, 1e-9);
  EXPECT_EQ(FurthestThatKeeps(scores, 0.85)->run, "first 1");
  EXPECT_EQ(FurthestThatKeeps(scores, 0.95)->run, "all trained");
  EXPECT_THAT(RelativeScoreSvg(RunsRecord()), HasSubstr("first 1"));
}

// Returns what is said of "first 1" with these two scores; the whole model has
// .90 and .94.
std::string KeptBy(double one, double other) {
  StudyRecord record = RunsRecord();
  (*record.trials.mutable_trials(2)->mutable_metrics())["accuracy"] = one;
  (*record.trials.mutable_trials(3)->mutable_metrics())["accuracy"] = other;
  return FindingsOf({record, {}}, nullptr)[0];
}

TEST(Findings, SayWhetherSeedsLeaveItSureThatMostIsKept) {
  EXPECT_EQ(KeptBy(0.86, 0.90),
            "'first 1' is the furthest that keeps 90 % of the accuracy of 'all "
            "trained' in the mean: 95.7 % ± 3.0 %.");
  EXPECT_THAT(KeptBy(0.84, 0.88), HasSubstr("93.5 % ± 3.0 %, which is not "
                                            "sure."));
  EXPECT_EQ(KeptBy(0.80, 0.84),
            "No run keeps 90 % of the accuracy of 'all trained'.");
}

TEST(PublishedJudge, KnowsWhatSoManyExamplesCanShow) {
  EXPECT_NEAR(LeastVisibleDifference(0.93, 0.93, 544), 0.0303, 1e-4);
  EXPECT_TRUE(std::isnan(LeastVisibleDifference(0.93, 0.93, 0)));
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto sentences = JudgePublished(recipe->published.at("frozen-english"),
                                        "all trained", "test.accuracy");
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_THAT(sentences[0], HasSubstr("0.0100 below"));
  EXPECT_THAT(sentences[0], HasSubstr("not to be told from chance"));
}

TEST(RateCorrelation, IsSpearmansWithItsInterval) {
  StudyRecord record = SmallRecord();
  record.trials.Clear();
  for (int i = 0; i < 8; ++i) {
    *record.trials.add_trials() =
        TrialOf(i, 0.5 + 0.01 * i, 1, 1.0, {1e-5 * (i == 3 ? 4.5 : i), 1e-3});
  }
  const auto all = CorrelateRates(record);
  ASSERT_EQ(all.size(), 1u);  // layer.1 has one rate
  EXPECT_EQ(all[0].module, "layer.0");
  // Ranks 0 1 2 4 3 5 6 7: 1 - 6 * 2 / (8 * 63).
  EXPECT_NEAR(all[0].correlation, 1.0 - 12.0 / 504.0, 1e-12);
  const double z = std::atanh(all[0].correlation);
  EXPECT_NEAR(all[0].lo95, std::tanh(z - 1.96 * 1.06 / std::sqrt(5.0)), 1e-4);
}

TEST(RankedPoints, AreRankedByTheMeanOfTheirTrials) {
  const StudyRecord record = RunsRecord();
  std::vector<v1::Trial> trials(record.trials.trials().begin(),
                                record.trials.trials().end());
  // One lucky run of a point does not go before two good ones of another.
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].clear_parameters();
    v1::ParameterValue* const value = trials[i].add_parameters();
    value->set_name("rate");
    value->mutable_value()->set_number_value(i % 2 == 0 ? 1e-5 : 2e-5);
  }
  const auto points = RankPoints(record.study, trials);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR(points[0].mean, 0.89, 1e-12);
  EXPECT_EQ(points[0].trials.size(), 2u);
  EXPECT_EQ(points[0].values()[0].value().number_value(), 2e-5);
}

// Their mean is off them in the last digit.
TEST(RunTable, EqualValuesHaveNoDeviation) {
  EXPECT_EQ(SpreadOf({0.8, 0.8, 0.8}).deviation, 0.0);
  EXPECT_NEAR(SpreadOf({0.8, 0.9}).deviation, std::sqrt(0.005), 1e-12);
}

// The second seed is bad for all: a point that was spared it does not lead.
TEST(RankedPoints, AreJudgedAtEqualSeeds) {
  const double accuracies[] = {0.80, 0.70, 0.81, 0.71, 0.79};
  std::vector<v1::Trial> trials;
  for (int i = 0; i < 5; ++i) {
    trials.push_back(TrialOf(i, accuracies[i], 1, 1.0, {1e-5, 1e-3}));
    trials.back().set_seed(i % 2 == 0 ? 1 : 2);
    v1::ParameterValue* const value = trials.back().add_parameters();
    value->set_name("rate");
    value->mutable_value()->set_number_value(1e-5 * (i / 2));
  }
  const auto points = RankPoints(RunsRecord().study, trials);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].trials[0].number(), 2);
  EXPECT_EQ(points[1].trials[0].number(), 0);
  EXPECT_NEAR(points[1].mean, 0.75, 1e-12);
  EXPECT_LT(points[2].judged, points[1].judged);
}

TEST(RecipeRecord, GivesTheSamePageAgain) {
  const RecipeRecord record = {
      "first-layers-tiny", "r.yaml", SmallRecipe(), {{RunsRecord(), {}}}};
  const std::string text = ToText(record);
  EXPECT_TRUE(IsRecipeRecord(text));
  const auto read = ReadRecipeRecord(text);
  ASSERT_OK(read);
  const auto page = ComposeRecipeReport(*read);
  ASSERT_OK(page);
  const auto again = ComposeRecipeReport(*ReadRecipeRecord(ToText(*read)));
  EXPECT_EQ(ToHtml(*page), ToHtml(*again));
  EXPECT_EQ(page->title, "How many first layers");
  EXPECT_EQ(page->sections[0].heading, "Verdict");
  EXPECT_THAT(ToMarkdown(*page, "f"), HasSubstr("not to be told from chance"));
}

TEST(RecipeRecord, OfALaterVersionOrNoneIsRefused) {
  EXPECT_THAT(
      ReadRecipeRecord("{\"frostline_recipe_report\": 2}").status().message(),
      HasSubstr("later version"));
  EXPECT_THAT(ReadRecipeRecord("{}").status().message(),
              HasSubstr("no record of a recipe's run"));
}

}  // namespace
}  // namespace frostline::cli
