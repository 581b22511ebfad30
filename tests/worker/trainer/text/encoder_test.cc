// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/normalizer.h"
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

// The words, joined by '|'.
std::string Words(const PreTokenizer& split, std::string_view bytes) {
  NormalizedText text;
  NormalizedText rewritten;
  std::vector<ByteRange> words;
  text.Assign(bytes, 0);
  const NormalizedText& of =
      split.Split(text, {0, bytes.size()}, rewritten, words);
  std::string joined;
  for (const ByteRange& word : words) {
    joined += (joined.empty() ? "" : "|") + std::string(of.at(word));
  }
  return joined;
}

TEST(BertSplit, IsolatesPunctuation) {
  const BertSplit split;
  EXPECT_EQ(Words(split, "don't  stop!!"), "don|'|t|stop|!|!");
  EXPECT_EQ(Words(split, "\u201cso\u201d\u00a0x$y"), "\u201c|so|\u201d|x|$|y");
  EXPECT_EQ(Words(split, "  "), "");
}

TEST(ByteLevelSplit, FollowsGpt2) {
  const ByteLevelSplit split(false);
  EXPECT_EQ(Words(split, "I'm here, don't"), "I|'m| here|,| don|'t");
  EXPECT_EQ(Words(split, "it'S 'SO"), "it|'|S| '|SO");
  EXPECT_EQ(Words(split, "a1b22 33"), "a|1|b|22| 33");
  EXPECT_EQ(Words(split, "x...!?"), "x|...!?");
}

TEST(ByteLevelSplit, TheLastBlankGoesWithTheWord) {
  const ByteLevelSplit split(false);
  EXPECT_EQ(Words(split, "a   b"), "a|  | b");
  EXPECT_EQ(Words(split, "a\n\nb"), "a|\n|\n|b");
  EXPECT_EQ(Words(split, "a  "), "a|  ");
  EXPECT_EQ(Words(split, " \u3000b"), " |\u3000|b");
}

TEST(ByteLevelSplit, PutsABlankBeforeOnlyWhereNoneIs) {
  const ByteLevelSplit split(true);
  EXPECT_EQ(Words(split, "a b"), " a| b");
  EXPECT_EQ(Words(split, " a"), " a");
  EXPECT_EQ(Words(split, "\ta"), " |\t|a");
}

TEST(MetaspaceSplit, EachWordGetsTheSign) {
  const MetaspaceSplit split(true);
  EXPECT_EQ(Words(split, " a\u3000b\t"), "\u2581a|\u2581b");
  EXPECT_EQ(Words(split, "a\u2581b"), "\u2581a|\u2581b");
  EXPECT_EQ(Words(split, "\u2581\u2581a \u2581"), "\u2581|\u2581a|\u2581");
}

TEST(MetaspaceSplit, AloneItTurnsBlanksIntoTheSign) {
  const MetaspaceSplit split(false);
  EXPECT_EQ(Words(split, "a  b\tc"), "\u2581a|\u2581|\u2581b\tc");
  EXPECT_EQ(Words(split, " a"), "\u2581a");
}

TEST(MetaspaceSplit, TheSignHasTheSpanOfWhatItStandsFor) {
  NormalizedText text;
  NormalizedText rewritten;
  std::vector<ByteRange> words;
  text.Assign("ab cd", 0);
  MetaspaceSplit(true).Split(text, {0, 5}, rewritten, words);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(rewritten.SpanAt(words[1].begin), (Span{3, 4}));  // of the c
  EXPECT_EQ(rewritten.SpanOf(words[1]), (Span{3, 5}));
}

}  // namespace
}  // namespace frostline::trainer
