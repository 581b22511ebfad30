// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_values.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;

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
