// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/unigram.h"

#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

Unigram UnigramModel(std::vector<std::string> tokens,
                     std::vector<double> scores) {
  return Unigram::Make(VocabularyOf(std::move(tokens)), std::move(scores), 0)
      .value();
}

TEST(Unigram, TakesTheBestSumNotTheLongestToken) {
  const Unigram model = UnigramModel({"<unk>", "ab", "c", "a", "bc"},
                                     {0, -1.0, -5.0, -1.0, -1.5});
  EXPECT_THAT(IdsOf(model, "abc"), ElementsAre(3, 4));  // -2.5 against -6
}

TEST(Unigram, OfEqualsTheFirstThatWasFoundStays) {
  const Unigram model =
      UnigramModel({"<unk>", "a", "b", "ab"}, {0, -1.0, -1.0, -2.0});
  EXPECT_THAT(IdsOf(model, "ab"), ElementsAre(3));
}

TEST(Unigram, NeighbouringUnknownsAreOneToken) {
  const Unigram model = UnigramModel({"<unk>", "a"}, {0, -1.0});
  Workspace workspace;
  std::vector<Piece> pieces;
  model.Tokenize("xya\u00e9", workspace, pieces);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].id, 0);
  EXPECT_EQ(pieces[0].end, 2U);
  EXPECT_EQ(pieces[1].id, 1);
  EXPECT_EQ(pieces[2].end, 5U);  // the two bytes of one code point
}

TEST(Unigram, UnknownCostsTenMoreThanTheWorstToken) {
  // x alone: -10 - 10 = -20 for <unk> and -1 for b, against -10 for "xb".
  const Unigram model = UnigramModel({"<unk>", "b", "xb"}, {0, -1.0, -10.0});
  EXPECT_THAT(IdsOf(model, "xb"), ElementsAre(2));
  EXPECT_THAT(IdsOf(model, "x"), ElementsAre(0));
}

TEST(Unigram, NeedsAScoreForEachTokenAndAnUnknown) {
  EXPECT_EQ(KindOfFault(Unigram::Make(VocabularyOf({"a"}), {0.0}, 1)),
            FaultKind::kInconsistent);
  EXPECT_EQ(KindOfFault(Unigram::Make(VocabularyOf({"a", "b"}), {0.0}, 0)),
            FaultKind::kInconsistent);
}

}  // namespace
}  // namespace frostline::trainer
