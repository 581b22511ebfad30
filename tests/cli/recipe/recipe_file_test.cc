// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_file.h"

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/recipe/small_recipe.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;

std::string MistakeIn(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(SmallRecipe(), {{from, to}});
  EXPECT_NE(text, SmallRecipe());
  return std::string(ParseRecipe(text, "r.yaml").status().message());
}

TEST(RecipeFile, IsReadWhole) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  ASSERT_OK(recipe);
  EXPECT_EQ(recipe->name, "first-layers");
  EXPECT_EQ(recipe->scales[0].name, "tiny");
  EXPECT_EQ(recipe->scales[0].about, "small");
  ASSERT_EQ(recipe->stages.size(), 2u);
  EXPECT_EQ(recipe->stages[1].compare->to, "all trained");
  EXPECT_TRUE(recipe->stages[1].skip_without_data);
  EXPECT_EQ(recipe->published.at("frozen-english").examples, 544);
  EXPECT_EQ(recipe->models.at("mini").facts.at("layers")->text, "4");
}

TEST(RecipeFile, NamesAKeyThatDoesNotExist) {
  EXPECT_THAT(MistakeIn("question:", "qestion:"), HasSubstr("question"));
  EXPECT_THAT(MistakeIn("  skip_without_data:", "  skip_without_dta:"),
              HasSubstr("r.yaml:"));
  EXPECT_THAT(MistakeIn("where: the web", "were: the web"),
              HasSubstr("data set ewt"));
}

TEST(RecipeFile, OfALaterFormatIsRefusedBeforeAnythingElse) {
  const auto recipe = ParseRecipe("format: 2\nnew_key: 1\n", "r.yaml");
  ASSERT_FALSE(recipe.ok());
  EXPECT_THAT(recipe.status().message(), HasSubstr("format 2"));
}

TEST(RecipeFile, WithoutStagesOrScalesIsNone) {
  const auto recipe =
      ParseRecipe("recipe: a\nformat: 1\ntitle: b\nquestion: c\n", "r.yaml");
  ASSERT_FALSE(recipe.ok());
  EXPECT_THAT(recipe.status().message(), HasSubstr("scales"));
}

TEST(RecipeFile, HasTheScalesThatItNames) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  ASSERT_OK(recipe);
  EXPECT_OK(FindScale(*recipe, "full"));
  EXPECT_THAT(FindScale(*recipe, "huge").status().message(), HasSubstr("huge"));
}

TEST(KnownRecipes, AreAllReadable) {
  EXPECT_EQ(KnownRecipes().size(), 6u);
  for (const KnownRecipe& known : KnownRecipes()) {
    const auto recipe = OpenRecipe(known.name);
    ASSERT_OK(recipe) << known.name;
    EXPECT_EQ(recipe->name, known.name);
  }
}

TEST(KnownRecipes, AreSuggested) {
  EXPECT_FALSE(OpenRecipe("esla").ok());
  EXPECT_FALSE(OpenRecipe("no/such.yaml").ok());
}

absl::StatusOr<YamlPtr> Put(const std::string& text,
                            const std::string& values) {
  const auto named = ParseYaml(values, "values");
  const auto tree = ParseYaml(text, "file");
  RecipeValues scope;
  for (const YamlEntry& entry : (*named)->entries) {
    scope[entry.key] = entry.value;
  }
  return PutValues(*tree, "file", FromScopes({&scope}));
}

TEST(RecipeValues, StandWhereTheyAreNamed) {
  const auto put =
      Put("k: \"${n}\"\n\"first ${n} of ${m}\": x", "{n: 3, m: 6}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("k")->value->text, "3");
  ASSERT_NE((*put)->Find("first 3 of 6"), nullptr);
}

TEST(RecipeValues, MayBeListsAndMapsWhereTheyAreAll) {
  const auto put = Put("k: \"${list}\"", "{list: [1, 2]}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("k")->value->items.size(), 2u);
  const auto within = Put("k: \"a ${list}\"", "{list: [1, 2]}");
  EXPECT_THAT(within.status().message(), HasSubstr("file:1:4"));
}

TEST(RecipeValues, AreComputed) {
  const auto put = Put(
      "a: \"${n / 2}\"\nb: \"${n - 3}\"\nc: \"${r * 0.5}\"\nd: \"${n + 1}\"",
      "{n: 7, r: 2e-5}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("a")->value->text, "3");
  EXPECT_EQ((*put)->Find("b")->value->text, "4");
  EXPECT_EQ(std::stod((*put)->Find("c")->value->text), 1e-5);
  EXPECT_EQ((*put)->Find("d")->value->text, "8");
  EXPECT_FALSE(Put("a: \"${n / 0}\"", "{n: 7}").ok());
}

TEST(RecipeValues, ThatComeToNothingLeaveTheirKeyOut) {
  const auto put = Put("train_rows: \"${rows}\"\nid: x", "{rows: ~}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("train_rows"), nullptr);
  EXPECT_NE((*put)->Find("id"), nullptr);
}

TEST(RecipeValues, ThatNobodyKnowsAreMistakesAtTheirPlace) {
  const auto put = Put("a: 1\nb: \"${nosuch}\"", "{n: 7}");
  ASSERT_FALSE(put.ok());
  EXPECT_THAT(put.status().message(), HasSubstr("file:2:4"));
  EXPECT_THAT(put.status().message(), HasSubstr("nosuch"));
}

}  // namespace
}  // namespace frostline::cli
