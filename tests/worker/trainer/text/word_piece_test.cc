// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/word_piece.h"

#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

WordPiece Model() {
  return WordPiece::Make(VocabularyOf({"[UNK]", "un", "##aff", "##a", "##ff",
                                       "##able", "a"}),
                         {})
      .value();
}

TEST(WordPiece, TakesTheLongestTokenEachTime) {
  EXPECT_THAT(IdsOf(Model(), "unaffable"), ElementsAre(1, 2, 5));
}

TEST(WordPiece, AWordWithAnUncoveredEndIsUnknownAsAWhole) {
  EXPECT_THAT(IdsOf(Model(), "unaffablex"), ElementsAre(0));
  EXPECT_THAT(IdsOf(Model(), "xun"), ElementsAre(0));
}

TEST(WordPiece, AContinuationBeginsNoWord) {
  EXPECT_THAT(IdsOf(Model(), "ff"), ElementsAre(0));
}

TEST(WordPiece, CountsCharactersNotBytes) {
  WordPieceOptions options;
  options.max_characters = 3;
  const auto model = WordPiece::Make(
      VocabularyOf({"[UNK]", "\u00e9", "##\u00e9", "e", "##e"}), options);
  EXPECT_THAT(IdsOf(model.value(), "\u00e9\u00e9\u00e9"), ElementsAre(1, 2, 2));
  EXPECT_THAT(IdsOf(model.value(), "eeee"), ElementsAre(0));
}

TEST(WordPiece, NeedsATokenForTheUnknown) {
  EXPECT_EQ(KindOfFault(WordPiece::Make(VocabularyOf({"a"}), {})),
            FaultKind::kInconsistent);
}

}  // namespace
}  // namespace frostline::trainer
