// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/word_cache.h"

#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

TEST(WordCache, GivesBackWhatItWasGiven) {
  WordCache cache;
  const std::vector<Piece> pieces = {{5, 0, 2}, {6, 2, 4}};
  std::vector<Piece> found = {{1, 0, 1}};
  EXPECT_FALSE(cache.Recall("film", found));
  cache.Remember("film", pieces);
  ASSERT_TRUE(cache.Recall("film", found));
  ASSERT_EQ(found.size(), 3U);  // appended
  EXPECT_EQ(found[2].id, 6);
  EXPECT_FALSE(cache.Recall("fil", found));
  EXPECT_FALSE(cache.Recall("films", found));
}

TEST(WordCache, DoesNotKeepLongWords) {
  WordCache cache;
  const std::string word(WordCache::kMaxWordBytes + 1, 'a');
  const std::vector<Piece> pieces = {{5, 0, 1}};
  std::vector<Piece> found;
  cache.Remember(word, pieces);
  EXPECT_FALSE(cache.Recall(word, found));
}

TEST(WordCache, StaysRightWhenItIsFull) {
  WordCache cache;
  std::vector<Piece> found;
  int recalled = 0;
  for (std::int32_t i = 0; i < 200'000; ++i) {
    const std::vector<Piece> pieces = {{i, 0, 1}};
    cache.Remember("w" + std::to_string(i), pieces);
  }
  for (std::int32_t i = 0; i < 200'000; ++i) {
    found.clear();
    if (!cache.Recall("w" + std::to_string(i), found)) continue;
    ++recalled;
    ASSERT_EQ(found.at(0).id, i);
  }
  EXPECT_GT(recalled, 0);
}

}  // namespace
}  // namespace frostline::trainer
