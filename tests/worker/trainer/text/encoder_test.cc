// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

constexpr std::int32_t kUnk = 1, kCls = 2, kSep = 3, kMask = 4;

class EncoderTest : public ::testing::Test {
 protected:
  Encoding Encode(std::string_view text, const EncodeOptions& options = {}) {
    Encoding encoding;
    EXPECT_TRUE(encoder_.Encode(text, options, encoding).ok());
    return encoding;
  }

  const Tokenizer tokenizer_ = SmallBert();
  Encoder encoder_{tokenizer_};
};

TEST_F(EncoderTest, GivesIdsSpansAndWords) {
  const Encoding encoding = Encode("The Unaffable film.");
  EXPECT_THAT(encoding.ids, ElementsAre(kCls, 10, 5, 6, 7, 8, 9, kSep));
  EXPECT_THAT(encoding.word_ids, ElementsAre(-1, 0, 1, 1, 1, 2, 3, -1));
  EXPECT_THAT(encoding.spans,
              ElementsAre(Span{0, 0}, Span{0, 3}, Span{4, 6}, Span{6, 9},
                          Span{9, 13}, Span{14, 18}, Span{18, 19}, Span{0, 0}));
}

TEST_F(EncoderTest, FindsSpecialTokensAsTheyAreWritten) {
  const Encoding encoding = Encode("the[MASK]film [mask]");
  EXPECT_THAT(encoding.ids,
              ElementsAre(kCls, 10, kMask, 8, kUnk, kUnk, kUnk, kSep));
  EXPECT_EQ(encoding.spans[2], (Span{3, 9}));
  EXPECT_EQ(encoding.special_mask[2], 0);  // the text's, not the template's
}

TEST_F(EncoderTest, SpansCountCodePointsOfTheOriginal) {
  const Encoding encoding = Encode("\u00dcn [MASK] THE");
  EXPECT_THAT(encoding.ids, ElementsAre(kCls, 5, kMask, 10, kSep));
  EXPECT_EQ(encoding.spans[1], (Span{0, 2}));
  EXPECT_EQ(encoding.spans[3], (Span{10, 13}));
}

TEST_F(EncoderTest, AnEmptyTextHasOnlyTheTemplate) {
  EXPECT_THAT(Encode("").ids, ElementsAre(kCls, kSep));
  Encoding pair;
  ASSERT_TRUE(encoder_.EncodePair("", "", {}, pair).ok());
  EXPECT_THAT(pair.ids, ElementsAre(kCls, kSep, kSep));
  EXPECT_THAT(pair.type_ids, ElementsAre(0, 0, 1));
}

TEST_F(EncoderTest, WordsKeepTheirIndex) {
  Encoding encoding;
  const std::vector<std::string_view> words = {"unaffable", "", "\u200b",
                                               "films"};
  ASSERT_TRUE(encoder_.EncodeWords(words, {}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(kCls, 5, 6, 7, 8, 11, kSep));
  EXPECT_THAT(encoding.word_ids, ElementsAre(-1, 0, 0, 0, 3, 3, -1));
  EXPECT_EQ(encoding.spans[4], (Span{0, 4}));  // counted in its own word
}

TEST_F(EncoderTest, IllFormedBytesCountAsOneReplacement) {
  const Encoding encoding = Encode("un\xFF film\xE2\x82");
  EXPECT_THAT(encoding.ids, ElementsAre(kCls, 5, 8, kSep));
  EXPECT_EQ(encoding.spans[2], (Span{4, 8}));
}

TEST_F(EncoderTest, CutsWithoutEncodingTheRest) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "the film. ";
  const Encoding cut = Encode(text, {.max_length = 5});
  EXPECT_THAT(cut.ids, ElementsAre(kCls, 10, 8, 9, kSep));
}

TEST_F(EncoderTest, AFaultLeavesNothingBehind) {
  Encoding encoding = Encode("the film");
  const auto outcome = encoder_.Encode(
      "the film", {.max_length = 3, .truncation = Truncation::kOnlySecond},
      encoding);
  EXPECT_EQ(KindOfFault(outcome), FaultKind::kMisuse);
  EXPECT_EQ(encoding.size(), 0U);
}

TEST_F(EncoderTest, ThreadsShareATokenizer) {
  const Encoding alone = Encode("The unaffable film.");
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::array<bool, 4> same{};
  for (bool& result : same) {
    threads.emplace_back([this, &alone, &result] {
      Encoder own(tokenizer_);
      Encoding encoding;
      result = true;
      for (int i = 0; i < 200; ++i) {
        (void)own.Encode("The unaffable film.", {}, encoding);
        result = result && encoding.ids == alone.ids;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, ElementsAre(true, true, true, true));
}

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
