// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_stage.h"

#include "absl/strings/str_replace.h"
#include "cli/recipe/recipe_survey.h"
#include "cli/study_file/yaml_sugar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/recipe/small_recipe.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecipeStages : public ::testing::Test {
 protected:
  // Both stages' studies, with the rate that the first one is said to have
  // found.
  absl::StatusOr<std::vector<StageStudy>> Make(const std::string& text) {
    auto read = ParseRecipe(text, "r.yaml");
    if (!read.ok()) return read.status();
    recipe_ = *std::move(read);
    const RecipeScale& scale = **FindScale(recipe_, wish_.scale);
    const StageWorld world = {
        recipe_, scale, wish_,
        [this](const std::string& model) {
          return recipe_.models.at(model).facts;
        },
        [](const StageStudy& earlier,
           const std::string& what) -> absl::StatusOr<YamlPtr> {
          EXPECT_EQ(earlier.stage, "line");
          EXPECT_EQ(what, "best.rate");
          return ScalarNode("3e-5", {});
        }};
    std::vector<StageStudy> all;
    for (const RecipeStage& stage : recipe_.stages) {
      const auto studies = StudiesOf(world, stage, all);
      if (!studies.ok()) return studies.status();
      all.insert(all.end(), studies->begin(), studies->end());
    }
    return all;
  }

  Recipe recipe_;
  RecipeWish wish_ = {"tiny", "", "", "", {}};
};

TEST_F(RecipeStages, BecomeStudies) {
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].study.id, "first-layers-tiny-line");
  EXPECT_EQ((*all)[1].study.id, "first-layers-tiny-frozen-english");
  EXPECT_EQ((*all)[2].study.spec.data().id(), "naija");
  EXPECT_EQ((*all)[1].study.spec.model().layers(), 4);
  EXPECT_EQ((*all)[1].study.spec.data().train_rows(), 60);
  EXPECT_EQ((*all)[1].study.settings.labels().at("recipe_compare"),
            "all trained");
}

TEST_F(RecipeStages, TrainEachRunWithEachSeed) {
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  const v1::StudySpec& spec = (*all)[1].study.spec;
  ASSERT_EQ(spec.enqueue_size(), 6);  // three runs, two seeds
  EXPECT_EQ((*all)[1].study.settings.budget().trials(), 6);
  EXPECT_EQ(spec.enqueue(0).labels().at("run"), "all trained");
  EXPECT_EQ(spec.enqueue(5).labels().at("run"), "first 2");
  EXPECT_EQ(spec.enqueue(5).labels().at("at"), "2");
  EXPECT_EQ(spec.enqueue(5).seed(), 2u);
  EXPECT_EQ(spec.enqueue(5).strategy().k(), 2);
}

TEST_F(RecipeStages, TakeWhatAnEarlierOneFound) {
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.spec.enqueue(5).strategy().rate(), 3e-5);
}

TEST_F(RecipeStages, TakeAllRowsWhereTheScaleSaysNone) {
  wish_.scale = "full";
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.spec.data().train_rows(), 0);
  EXPECT_EQ((*all)[1].study.spec.enqueue_size(), 9);
}

TEST_F(RecipeStages, TakeWhatTheCommandLineSays) {
  wish_.id = "mine";
  wish_.set["seeds"] = *ParseValue("[7]", "--set");
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.id, "mine-frozen-english");
  EXPECT_EQ((*all)[1].study.spec.enqueue_size(), 3);
  EXPECT_EQ((*all)[1].study.spec.enqueue(0).seed(), 7u);
}

TEST_F(RecipeStages, TellMistakesAtTheRecipesLine) {
  const auto unknown = Make(
      absl::StrReplaceAll(SmallRecipe(), {{"${line.best", "${lien.best"}}));
  EXPECT_THAT(unknown.status().message(), HasSubstr("'lien'"));
  const auto key =
      Make(absl::StrReplaceAll(SmallRecipe(), {{"train_rows", "train_rowz"}}));
  EXPECT_THAT(key.status().message(), HasSubstr("r.yaml:"));
  const auto to = Make(absl::StrReplaceAll(
      SmallRecipe(), {{"to: all trained", "to: everything"}}));
  EXPECT_THAT(to.status().message(), HasSubstr("everything"));
}

TEST(RecipeEntries, AreEveryCombination) {
  const auto each = ParseYaml("[{a: {x: 1}, b: {x: 2}}, {c: {y: 3}}]", "f");
  const auto entries = EntriesOfEach(*each, "f", {});
  ASSERT_OK(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_THAT((*entries)[1].names, ElementsAre("b", "c"));
  EXPECT_EQ((*entries)[1].values.at("y")->text, "3");
}

TEST(RecipeEntries, AreThoseOfTheModelThatIsWanted) {
  const auto each =
      ParseYaml("{base: {model: bert}, large: {model: bert-large}}", "f");
  const auto one = EntriesOfEach(*each, "f", {{"model", "bert-large"}});
  ASSERT_OK(one);
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ((*one)[0].names[0], "large");
  const auto other = EntriesOfEach(*each, "f", {{"model", "mini"}});
  ASSERT_OK(other);
  ASSERT_EQ(other->size(), 1u);
  EXPECT_EQ((*other)[0].names[0], "mini");
  EXPECT_EQ((*other)[0].values.at("model")->text, "mini");
}

RecipeStock StockWith(std::set<std::string> data) {
  RecipeStock stock;
  stock.models = {"mini"};
  stock.data = std::move(data);
  stock.model_facts = [](const std::string&) { return RecipeValues(); };
  return stock;
}

TEST(RecipeSurvey, SkipsWhatHasNoDataAndMayBeSkipped) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey = SurveyRecipe(
      *recipe, recipe->scales[0], {"tiny", "", "", "", {}}, StockWith({"ewt"}));
  ASSERT_OK(survey);
  EXPECT_EQ(survey->studies.size(), 2u);
  ASSERT_EQ(survey->skipped.size(), 1u);
  EXPECT_EQ(survey->skipped[0].missing[0].id, "naija");
  EXPECT_TRUE(survey->missing.empty());
  EXPECT_TRUE(survey->studies[1].takes_earlier);
}

TEST(RecipeSurvey, SaysWhatIsMissingAndHowToRegisterIt) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey = SurveyRecipe(*recipe, recipe->scales[0],
                                   {"tiny", "", "", "", {}}, StockWith({}));
  ASSERT_OK(survey);
  ASSERT_EQ(survey->missing.size(), 1u);
  const std::string text = DescribeMissing(*recipe, survey->missing);
  EXPECT_THAT(text, HasSubstr("data set ewt is missing"));
  EXPECT_THAT(text, HasSubstr("the web"));
  EXPECT_THAT(text, HasSubstr("frostline registry add dataset ewt.conllu"));
}

TEST(RecipeSurvey, SaysOfAModelThatNobodyKnowsThatItIsMissing) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey =
      SurveyRecipe(*recipe, recipe->scales[0], {"tiny", "", "nothing", "", {}},
                   StockWith({"ewt"}));
  ASSERT_OK(survey);
  EXPECT_TRUE(survey->studies.empty());
  ASSERT_EQ(survey->missing.size(), 1u);
  EXPECT_THAT(DescribeMissing(*recipe, survey->missing),
              HasSubstr("frostline registry add model FOLDER --id nothing"));
}

TEST(RecipeSurvey, WarnsOfRatesFromWhereLayersForget) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey = SurveyRecipe(
      *recipe, recipe->scales[0], {"tiny", "", "", "", {}}, StockWith({"ewt"}));
  ASSERT_OK(survey);
  ASSERT_EQ(survey->warnings.size(), 1u);
  EXPECT_THAT(survey->warnings[0], HasSubstr("0.001"));
}

}  // namespace
}  // namespace frostline::cli
