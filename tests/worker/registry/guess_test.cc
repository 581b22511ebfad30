// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/guess.h"

#include "tests/worker/registry/registry_fixture.h"

namespace frostline::registry {
namespace {

using ::testing::HasSubstr;

class GuessTest : public RegistryTest {
 protected:
  absl::StatusOr<RoleGuess> Guess(const std::string& text,
                                  const trainer::ColumnMap& said = {},
                                  const std::string& task = "") {
    const std::string path = Write("g.csv", text);
    const auto look = LookAtTable(path, {});
    if (!look.ok()) return look.status();
    return GuessRoles(path, *look, said, task);
  }
};

TEST_F(GuessTest, AMisspeltColumnNamesTheNearest) {
  const auto guess =
      Guess("review,stars\nsome,1\nmore,2\n", {{"text", "reviews"}});
  EXPECT_THAT(CauseOf(guess.status()),
              HasSubstr("has no column 'reviews'; it has 'review', 'stars'"));
  EXPECT_EQ(FixOf(guess.status()), "did you mean --text review?");
}

TEST_F(GuessTest, AColumnMayBeNamedByItsNumber) {
  EXPECT_OK(
      Guess("a,b\nsome,1\nmore,2\n", {{"text", "1"}, {"label", "2"}}).status());
  EXPECT_FALSE(
      Guess("a,b\nsome,1\nmore,2\n", {{"text", "1"}, {"label", "3"}}).ok());
}

TEST_F(GuessTest, InDoubtItAsks) {
  const auto guess = Guess("a,b\nx,1\ny,2\n");
  EXPECT_THAT(CauseOf(guess.status()), HasSubstr("which column holds the"));
  EXPECT_EQ(FixOf(guess.status()), "name it: --text COL");
  std::string amounts = "text,label\n";
  for (int i = 0; i < 30; ++i) amounts += "w," + std::to_string(i) + "\n";
  EXPECT_THAT(CauseOf(Guess(amounts).status()),
              HasSubstr("are they classes, or amounts?"));
  EXPECT_OK(Guess(amounts, {}, "regression").status());
}

TEST_F(GuessTest, WithoutUsualNamesContentsTell) {
  std::string text = "nr,what was said,kind\n";
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(i) + ",a sentence that goes on for some time " +
            std::to_string(i) + "," + (i % 2 == 0 ? "A" : "B") + "\n";
  }
  ASSERT_OK_AND_ASSIGN(const RoleGuess guess, Guess(text));
  EXPECT_EQ(guess.columns.at("text"), "what was said");
  EXPECT_EQ(guess.columns.at("label"), "kind");
}

}  // namespace
}  // namespace frostline::registry
