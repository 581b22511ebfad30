// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/encoding.h"

#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using Labels = std::vector<std::int32_t>;

Encoding OfWords(std::vector<std::int32_t> word_ids) {
  Encoding encoding;
  encoding.ids.resize(word_ids.size());
  encoding.word_ids = std::move(word_ids);
  return encoding;
}

TEST(AlignLabels, TheFirstTokenOfAWordCarriesItsLabel) {
  Labels labels;
  const Labels of_words = {7, 8, 9};
  ASSERT_TRUE(
      AlignLabels(OfWords({-1, 0, 0, 1, 2, 2, -1}), of_words, labels).ok());
  EXPECT_THAT(labels, ElementsAre(-100, 7, -100, 8, 9, -100, -100));
}

TEST(AlignLabels, AWordWithoutTokensLosesItsLabel) {
  Labels labels;
  const Labels of_words = {7, 8, 9};
  ASSERT_TRUE(AlignLabels(OfWords({-1, 0, 2, -1}), of_words, labels).ok());
  EXPECT_THAT(labels, ElementsAre(-100, 7, 9, -100));
}

TEST(AlignLabels, RefusesTooFewLabels) {
  Labels labels;
  const Labels of_words = {7};
  EXPECT_EQ(KindOfFault(AlignLabels(OfWords({0, 1}), of_words, labels)),
            FaultKind::kMisuse);
}

}  // namespace
}  // namespace frostline::trainer
