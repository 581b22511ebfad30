// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/subword_model.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "base/plain/text.h"
#include "gmock/gmock.h"
#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

using Pairs = std::vector<ByteBpe::Pair>;

std::vector<std::string> Letters() {
  std::vector<std::string> letters(256);
  for (unsigned i = 0; i < 256; ++i) {
    AppendUtf8(ByteBpe::LetterOf(static_cast<unsigned char>(i)), letters[i]);
  }
  return letters;
}

// Ids 0..255 are the bytes; then come the merged tokens, in order.
ByteBpe BpeModel(const Pairs& merges) {
  std::vector<std::string> tokens = Letters();
  for (const auto& [left, right] : merges) {
    tokens.push_back(std::string(left) + std::string(right));
  }
  return ByteBpe::Make(VocabularyOf(tokens), merges).value();
}

// As in SmolLM2's vocabulary.
TEST(ByteBpe, AByteThatIsNoTokenLeavesNoTrace) {
  std::vector<std::string> tokens = Letters();
  tokens.erase(tokens.begin() + 0xFF);
  tokens.erase(tokens.begin() + 4);
  const Expected<ByteBpe> model = ByteBpe::Make(VocabularyOf(tokens), {});
  ASSERT_TRUE(model.ok());
  Workspace workspace;
  std::vector<Piece> pieces;
  model.value().Tokenize("!\x04?", workspace, pieces);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[1].id, model.value().IdOf("?"));
  EXPECT_EQ(pieces[1].begin, 2U);
  pieces.clear();
  model.value().Tokenize("\x04", workspace, pieces);
  EXPECT_TRUE(pieces.empty());
  std::erase(tokens, "a");
  EXPECT_FALSE(ByteBpe::Make(VocabularyOf(tokens), {}).ok());
}

TEST(ByteBpe, LettersAreThoseOfGpt2) {
  EXPECT_EQ(ByteBpe::LetterOf('a'), U'a');
  EXPECT_EQ(ByteBpe::LetterOf(' '), 0x120U);
  EXPECT_EQ(ByteBpe::LetterOf('\n'), 0x10AU);
  EXPECT_EQ(ByteBpe::LetterOf(0x7F), 0x121U);
  EXPECT_EQ(ByteBpe::LetterOf(0xAD), 0x143U);
  EXPECT_EQ(ByteBpe::LetterOf(0xFF), 0xFFU);
}

TEST(ByteBpe, TheEarliestMergeGoesFirst) {
  // "bc" was learned before "ab": abc is a + bc.
  const ByteBpe model = BpeModel({{"b", "c"}, {"a", "b"}});
  EXPECT_THAT(IdsOf(model, "abc"), ElementsAre('a', 256));
  EXPECT_THAT(IdsOf(model, "abd"), ElementsAre(257, 'd'));
}

TEST(ByteBpe, OfEqualMergesTheLeftmostGoesFirst) {
  EXPECT_THAT(IdsOf(BpeModel({{"a", "a"}}), "aaa"), ElementsAre(256, 'a'));
}

TEST(ByteBpe, MergesOfMergesAreFound) {
  const ByteBpe model = BpeModel({{"a", "b"}, {"ab", "ab"}, {"abab", "c"}});
  EXPECT_THAT(IdsOf(model, "ababc"), ElementsAre(258));
}

TEST(ByteBpe, AnyByteIsAToken) {
  EXPECT_THAT(IdsOf(BpeModel({}), "\xC3\xA9"), ElementsAre(0xC3, 0xA9));
}

// The slow way, by the definition.
std::vector<std::string> Reference(const Pairs& merges, std::string_view word) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  for (;;) {
    std::size_t best = merges.size();
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto rank = static_cast<std::size_t>(
          std::find(merges.begin(), merges.end(),
                    ByteBpe::Pair(parts[i], parts[i + 1])) -
          merges.begin());
      if (rank >= best) continue;
      best = rank;
      where = i;
    }
    if (best == merges.size()) return parts;
    parts[where] += parts[where + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

TEST(ByteBpe, AgreesWithTheDefinition) {
  const Pairs merges = {{"a", "b"}, {"b", "a"},   {"ab", "a"}, {"c", "c"},
                        {"b", "b"}, {"cc", "ba"}, {"a", "a"},  {"aa", "bb"},
                        {"c", "a"}, {"ca", "ba"}, {"aa", "aa"}};
  const std::vector<std::string> letters = Letters();
  const ByteBpe model = BpeModel(merges);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string word;
    for (auto n = random() % 24 + 1; n > 0; --n) {
      word.push_back("abc"[random() % 3]);
    }
    std::vector<std::int32_t> expected;
    for (const std::string& part : Reference(merges, word)) {
      expected.push_back(*model.IdOf(part));
    }
    ASSERT_EQ(IdsOf(model, word), expected) << word;
  }
}

TEST(ByteBpe, RefusesWhatDoesNotFitTogether) {
  std::vector<std::string> tokens = Letters();
  EXPECT_EQ(KindOfFault(ByteBpe::Make(VocabularyOf(tokens), {{"a", "b"}})),
            FaultKind::kInconsistent);  // "ab" is no token
  tokens.emplace_back("ab");
  EXPECT_EQ(KindOfFault(
                ByteBpe::Make(VocabularyOf(tokens), {{"a", "b"}, {"a", "b"}})),
            FaultKind::kInconsistent);
  tokens[0x41] = "seven";  // a byte without a token
  EXPECT_EQ(KindOfFault(ByteBpe::Make(VocabularyOf(tokens), {})),
            FaultKind::kInconsistent);
}

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

DoubleArray Build(const std::map<std::string, std::int32_t>& keys) {
  std::vector<DoubleArray::Entry> entries(keys.begin(), keys.end());
  return DoubleArray::Build(entries);
}

TEST(DoubleArray, FindsItsKeysAndNothingElse) {
  const DoubleArray trie = Build({{"a", 7}, {"ab", 0}, {"abc", 3}, {"b", 1}});
  EXPECT_EQ(trie.Find("a"), 7);
  EXPECT_EQ(trie.Find("ab"), 0);
  EXPECT_EQ(trie.Find("abc"), 3);
  EXPECT_EQ(trie.Find("b"), 1);
  for (const char* other : {"", "c", "ac", "abcd", "bb"}) {
    EXPECT_EQ(trie.Find(other), -1) << other;
  }
}

TEST(DoubleArray, TakesAnyByte) {
  const std::string nul(1, '\0');
  const DoubleArray trie = Build({{nul, 1}, {nul + "\xFF", 2}, {"\xFF", 3}});
  EXPECT_EQ(trie.Find(nul), 1);
  EXPECT_EQ(trie.Find(nul + "\xFF"), 2);
  EXPECT_EQ(trie.Find("\xFF"), 3);
  EXPECT_EQ(trie.Find(nul + nul), -1);
}

TEST(DoubleArray, AnEmptyOneFindsNothing) {
  EXPECT_EQ(DoubleArray().Find("a"), -1);
  EXPECT_EQ(Build({}).Find("a"), -1);
}

TEST(DoubleArray, ManyKeysOfFewLetters) {
  std::map<std::string, std::int32_t> keys;
  for (std::int32_t i = 0; i < 20000; ++i) {
    std::string key;
    for (std::int32_t rest = i + 1; rest > 0; rest /= 5) {
      key.push_back("ab\xE4\xB8z"[rest % 5]);
    }
    keys[key] = i;
  }
  const DoubleArray trie = Build(keys);
  for (const auto& [key, value] : keys) ASSERT_EQ(trie.Find(key), value);
}

}  // namespace
}  // namespace frostline::trainer
