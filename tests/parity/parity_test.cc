// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/parity.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "gtest/gtest.h"
#include "tests/parity/figures/figures.h"
#include "tests/parity/recordings.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

TEST(ParityResultTest, NearScalesTheToleranceByTheExpectedValue) {
  ParityResult result;
  result.Near("large", 1e6, 1e6 + 0.5, 1e-6);
  EXPECT_EQ(result.failed(), 0);
  result.Near("small", 1e-3, 1e-3 + 2e-6, 1e-6);
  EXPECT_EQ(result.failed(), 1);
}

TEST(ParityResultTest, NanAgreesOnlyWithNan) {
  const double nan = std::nan("");
  ParityResult result;
  result.Near("both", nan, nan, 0.0);
  EXPECT_EQ(result.failed(), 0);
  result.Near("one", 1.0, nan, 1e9);
  result.Near("other", nan, 1.0, 1e9);
  EXPECT_EQ(result.failed(), 2);
}

TEST(ParityResultTest, EqualInfinitiesAgreeAndOppositeOnesDoNot) {
  const double inf = std::numeric_limits<double>::infinity();
  ParityResult result;
  result.Near("same", -inf, -inf, 0.0);
  EXPECT_EQ(result.failed(), 0);
  result.Near("opposite", -inf, inf, 1e9);
  EXPECT_EQ(result.failed(), 1);
}

// A NaN among them must not hide behind a smaller or a larger one.
TEST(FiguresTest, TheFurthestOfAKindIsANanWhereThereIsOne) {
  const FigureKind kind = FigureKind::kStep;
  const Figures figures = {{kind, "near", 1.0, 1.1},
                           {FigureKind::kExact, "of another kind", 1.0, 9.0},
                           {kind, "nan", 1.0, std::nan("")},
                           {kind, "far", 1.0, 3.0}};
  EXPECT_EQ(Furthest(figures, kind)->what, "nan");
  const Figures finite = {figures[0], figures[3], figures[0]};
  EXPECT_EQ(Furthest(finite, kind)->what, "far");
  EXPECT_EQ(Furthest(figures, FigureKind::kWeight), nullptr);
}

TEST(FiguresTest, OnADeviceSumsOfWeightsAreNotDivided) {
  EXPECT_EQ(OffOnDevice({FigureKind::kWeight, "", 100.0, 102.0}), 2.0);
  EXPECT_EQ(OffOnDevice({FigureKind::kStep, "", 100.0, 102.0}), 0.02);
}

TEST(RecordingsTest, AKnownKindIsRecognisedByPatternInAnyFolder) {
  EXPECT_EQ(Classify("pruner_new_option.json").kind, "pruner");
  EXPECT_EQ(Classify("fanova_3.json").kind, "fanova");
  EXPECT_EQ(Classify("fanova_native_3.json").kind, "fanova_native");
  EXPECT_EQ(Classify("models/bert-seq2/expected.json").kind, "model");
}

TEST(RecordingsTest, ACompanionIsNoTestAndAStrangerIsUnknown) {
  EXPECT_EQ(Classify("journal_0_summary.json").state,
            RecordingState::kCompanion);
  EXPECT_EQ(Classify("models/bert-seq2/io.safetensors").state,
            RecordingState::kCompanion);
  EXPECT_EQ(Classify("surprise.json").state, RecordingState::kUnknown);
}

TEST(RecordingsTest, ARegisteredKindWinsOverTheKnownOne) {
  RegisterParity("mine", R"(convergence_of_mine\.json)",
                 [](const std::string&, ParityResult&) {});
  EXPECT_EQ(Classify("convergence_of_mine.json").kind, "mine");
  EXPECT_EQ(Classify("convergence_of_others.json").kind, "convergence");
}

TEST(ReadJsonTest, ABrokenRecordingNamesItsFile) {
  TempFolder folder;
  const std::string path = folder.File("broken.json");
  std::ofstream(path) << "{\"results\": [1, 2";
  try {
    ReadJson(path);
    FAIL() << "parsed";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("broken.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace frostline::test
