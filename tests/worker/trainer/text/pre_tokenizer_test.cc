// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {
namespace {

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
