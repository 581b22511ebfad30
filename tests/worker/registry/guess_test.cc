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

using ::testing::ElementsAre;
using ::testing::Pair;

using RowsToPredictTest = RegistryTest;

TEST_F(RowsToPredictTest, ColumnsGoByTheirUsualNames) {
  const std::string model = WriteModel("m");
  ASSERT_OK_AND_ASSIGN(
      const RowsToPredict rows,
      LookAtRowsToPredict(
          model, Write("r.csv", "nr,review,sentiment\n1,some,good\n"), {}, {}));
  EXPECT_THAT(rows.columns,
              ElementsAre(Pair("label", "sentiment"), Pair("text", "review")));
  EXPECT_TRUE(rows.labelled);
  EXPECT_EQ(rows.format.kind, trainer::FileFormat::Kind::kCsv);
}

TEST_F(RowsToPredictTest, LabelsMayLackAndNoOtherColumnIsTakenForThem) {
  ASSERT_OK_AND_ASSIGN(
      const RowsToPredict rows,
      LookAtRowsToPredict(WriteModel("m"),
                          Write("r.tsv",
                                "text\tday\na\tmon\nb\tmon\nc\ttue\n"
                                "d\ttue\n"),
                          {}, {}));
  EXPECT_THAT(rows.columns, ElementsAre(Pair("text", "text")));
  EXPECT_FALSE(rows.labelled);
}

TEST_F(RowsToPredictTest, PairsAreFoundWithoutBeingAskedFor) {
  ASSERT_OK_AND_ASSIGN(
      const RowsToPredict rows,
      LookAtRowsToPredict(WriteModel("m"),
                          Write("r.tsv", "sentence1\tsentence2\na\tb\n"), {},
                          {}));
  EXPECT_THAT(rows.columns, ElementsAre(Pair("second", "sentence2"),
                                        Pair("text", "sentence1")));
}

TEST_F(RowsToPredictTest, InDoubtItAsks) {
  const auto rows = LookAtRowsToPredict(WriteModel("m"),
                                        Write("r.tsv", "a\tb\nx\ty\n"), {}, {});
  EXPECT_THAT(CauseOf(rows.status()),
              HasSubstr("which column holds the texts"));
  EXPECT_EQ(FixOf(rows.status()), "name it: --text COL");
}

TEST_F(RowsToPredictTest, AFolderThatAnswersNothingIsRefused) {
  const std::string model = WriteModel("m");
  Write("m/config.json", R"({"architectures": ["BertModel"]})");
  const auto rows =
      LookAtRowsToPredict(model, Write("r.tsv", "text\na\n"), {}, {});
  EXPECT_THAT(CauseOf(rows.status()), HasSubstr("answers nothing"));
  EXPECT_FALSE(LookAtRowsToPredict(folder_.File("none"), model, {}, {}).ok());
}

}  // namespace
}  // namespace frostline::registry
