// SPDX-License-Identifier: Apache-2.0
//
// The decisions of a trial that need no tensor.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "gmock/gmock.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(EarlyStopping, EndsAfterSoManyThatAreNotBetter) {
  EarlyStopping maximize(true, 2, 0.01);
  EXPECT_FALSE(maximize.Note(0.80));
  EXPECT_FALSE(maximize.Note(0.805));  // better, and not by enough
  EXPECT_FALSE(maximize.Note(0.82));   // so that it counts from here
  EXPECT_FALSE(maximize.Note(0.70));
  EXPECT_TRUE(maximize.Note(0.82));

  EarlyStopping minimize(false, 1, 0.0);
  EXPECT_FALSE(minimize.Note(2.0));
  EXPECT_FALSE(minimize.Note(1.0));
  EXPECT_TRUE(minimize.Note(1.0));
}

TEST(EarlyStopping, WhatIsNoNumberIsNeverBetter) {
  EarlyStopping stopping(true, 2, 0.0);
  EXPECT_FALSE(stopping.Note(std::nan("")));
  EXPECT_FALSE(stopping.state().best.has_value());
  EXPECT_TRUE(stopping.Note(std::numeric_limits<double>::infinity()));
}

TEST(EarlyStopping, GoesOnFromItsState) {
  EarlyStopping before(true, 2, 0.0);
  before.Note(0.9);
  before.Note(0.8);
  EarlyStopping after(true, 2, 0.0);
  after.Restore(before.state());
  EXPECT_TRUE(after.Note(0.85));
}

TEST(Thaw, OneMoreLayerFromTheTopEachSoManySteps) {
  EXPECT_EQ(ThawedBlocks(0, 10, 3), 0);
  EXPECT_EQ(ThawedBlocks(9, 10, 3), 0);
  EXPECT_EQ(ThawedBlocks(10, 10, 3), 1);
  EXPECT_EQ(ThawedBlocks(1'000, 10, 3), 4);  // embeddings too
  EXPECT_EQ(ThawedBlocks(0, 0, 3), 4);       // not asked for
}

TEST(Thaw, LeavesHeadAndPoolerAndWhatIsFrozenAnyway) {
  const ModuleRates rates = {{"embeddings", 1.0}, {"layer.0.ffn", 1.0},
                             {"layer.1", 0.0},    {"layer.2", 1.0},
                             {"pooler", 1.0},     {"head", 1.0}};
  EXPECT_THAT(ThawedRates(rates, 1, 3),
              ElementsAre(Pair("embeddings", 0.0), Pair("head", 1.0),
                          Pair("layer.0.ffn", 0.0), Pair("layer.1", 0.0),
                          Pair("layer.2", 1.0), Pair("pooler", 1.0)));
  EXPECT_THAT(ThawedRates(rates, 3, 3), Contains(Pair("layer.0.ffn", 1.0)));
  EXPECT_EQ(ThawedRates(rates, 4, 3), rates);
}

TEST(TrialProgress, ComesBackToTheLastBit) {
  TrialProgress progress;
  progress.position = {{3, 41}, {{1, 2}, {0, 7}}};
  progress.loss_sum = 0.1 + 0.2;
  progress.loss_steps = 7;
  progress.early_stopping = {1.0 / 3.0, 2};
  progress.last = {{"accuracy", 0.7}, {"odd", -1e-310}};
  progress.train_seconds = 12.5;
  progress.flops_spent = 1e18 / 7;
  const Notes notes = PrintProgress(progress);
  const TrialProgress back = ParseProgress(notes).value();
  EXPECT_EQ(back.position, progress.position);
  EXPECT_EQ(back.loss_sum, progress.loss_sum);
  EXPECT_EQ(back.early_stopping.best, progress.early_stopping.best);
  EXPECT_EQ(back.last, progress.last);
  EXPECT_EQ(PrintProgress(back), notes);
}

TEST(TrialProgress, ANoteThatIsMissingOrNoNumberIsNamed) {
  Notes notes = PrintProgress({});
  notes["batch"] = "seven";
  EXPECT_EQ(ParseProgress(notes).fault().kind, FaultKind::kInconsistent);
  notes.erase("batch");
  EXPECT_THAT(ParseProgress(notes).fault().cause, testing::HasSubstr("batch"));
}

TEST(Shelf, TheOneLongestUnusedGoesAndWhoHoldsItKeepsIt) {
  Shelf<int, std::string> shelf(2);
  const auto one = shelf.Put(1, "one");
  shelf.Put(2, "two");
  EXPECT_EQ(shelf.Find(1), one);  // so that two is the older
  shelf.Put(3, "three");
  EXPECT_EQ(shelf.Find(2), nullptr);
  EXPECT_NE(shelf.Find(1), nullptr);
  shelf.Put(4, "four");
  shelf.Put(5, "five");
  EXPECT_EQ(shelf.Find(1), nullptr);
  EXPECT_EQ(*one, "one");
}

TEST(FaultText, HasAnIdOfTheCatalogue) {
  std::vector<int> known;
#define FROSTLINE_NUMBER(name, number, code, reason, text) \
  known.push_back(number);
  FROSTLINE_ERRORS(FROSTLINE_NUMBER)
#undef FROSTLINE_NUMBER
  for (const FaultKind kind :
       {FaultKind::kUnreadable, FaultKind::kSyntax, FaultKind::kTooLarge,
        FaultKind::kUnsupported, FaultKind::kInconsistent, FaultKind::kMisuse,
        FaultKind::kOutOfMemory, FaultKind::kInternal}) {
    EXPECT_THAT(known, Contains(IdOf(kind)));
  }
  EXPECT_THAT(known, Contains(kNotFiniteId));
  EXPECT_EQ(FaultText({FaultKind::kMisuse, "no", "yes"}), "FL-5015: no (yes)");
}

}  // namespace
}  // namespace frostline::trainer
