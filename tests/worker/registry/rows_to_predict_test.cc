// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/rows_to_predict.h"

#include "tests/worker/registry/registry_fixture.h"

namespace frostline::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
