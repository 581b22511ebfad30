// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer.h"

#include <utility>

#include "gmock/gmock.h"
#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

AddedToken Token(std::string content, std::int32_t id, bool left = false,
                 bool right = false) {
  AddedToken token;
  token.content = std::move(content);
  token.id = id;
  token.takes_left_space = left;
  token.takes_right_space = right;
  return token;
}

// "a|[M]|b": the sections, joined.
std::string Sections(std::vector<AddedToken> tokens, std::string_view text) {
  std::vector<Section> sections;
  AddedTokens::Make(std::move(tokens)).value().Split(text, sections);
  std::string joined;
  for (const Section& section : sections) {
    if (!joined.empty()) joined += '|';
    joined += text.substr(section.range.begin,
                          section.range.end - section.range.begin);
    if (section.id >= 0) joined += '=' + std::to_string(section.id);
  }
  return joined;
}

TEST(AddedTokens, AreFoundAnywhere) {
  EXPECT_EQ(Sections({Token("[M]", 4)}, "a[M]b[M]"), "a|[M]=4|b|[M]=4");
  EXPECT_EQ(Sections({Token("[M]", 4)}, "[M"), "[M");
  EXPECT_EQ(Sections({Token("[M]", 4)}, ""), "");
  EXPECT_EQ(Sections({}, "a[M]b"), "a[M]b");
}

TEST(AddedTokens, TheLongestOfTheLeftmostWins) {
  EXPECT_EQ(Sections({Token("<a", 1), Token("<ab>", 2), Token("ab>c", 3)},
                     "<ab>c<ab"),
            "<ab>=2|c|<a=1|b");
}

TEST(AddedTokens, TakeTheirSpaceAlong) {
  EXPECT_EQ(Sections({Token("<m>", 1, true)}, "a \t<m> b"), "a| \t<m>=1| b");
  EXPECT_EQ(Sections({Token("<m>", 1, false, true)}, "a <m>\u3000 b"),
            "a |<m>\u3000 =1|b");
}

TEST(AddedTokens, SpaceThatAnotherTookIsGone) {
  EXPECT_EQ(Sections({Token("<m>", 1, true, true)}, "<m> <m>"), "<m> =1|<m>=1");
}

TEST(AddedTokens, MustBeUniqueAndNotEmpty) {
  EXPECT_EQ(KindOfFault(AddedTokens::Make({Token("a", 1), Token("a", 2)})),
            FaultKind::kInconsistent);
  EXPECT_EQ(KindOfFault(AddedTokens::Make({Token("", 1)})),
            FaultKind::kTooLarge);
}

using ::testing::ElementsAre;

TokenRun RunOf(std::vector<std::int32_t> ids) {
  TokenRun run;
  run.ids = std::move(ids);
  run.words.resize(run.ids.size(), 0);
  run.spans.resize(run.ids.size());
  return run;
}

std::pair<std::size_t, std::size_t> Kept(
    std::size_t first, std::size_t second, std::size_t budget,
    Truncation how = Truncation::kLongestFirst) {
  const auto kept = Truncate({first, second}, true, budget, how);
  return {kept.value().first, kept.value().second};
}

TEST(Truncate, LeavesWhatFits) {
  EXPECT_EQ(Kept(3, 4, 7), std::pair(3UL, 4UL));
}

TEST(Truncate, TheShorterStaysWhenItFitsInItsHalf) {
  EXPECT_EQ(Kept(3, 20, 10), std::pair(3UL, 7UL));
  EXPECT_EQ(Kept(20, 3, 10), std::pair(7UL, 3UL));
}

TEST(Truncate, TheOddTokenIsTheLongerOnes) {
  EXPECT_EQ(Kept(10, 12, 15), std::pair(7UL, 8UL));
  EXPECT_EQ(Kept(12, 10, 15), std::pair(8UL, 7UL));
  EXPECT_EQ(Kept(10, 10, 15), std::pair(7UL, 8UL));
}

TEST(Truncate, OnlyOneIsCutWhenAsked) {
  EXPECT_EQ(Kept(9, 4, 10, Truncation::kOnlyFirst), std::pair(6UL, 4UL));
  EXPECT_EQ(Kept(4, 9, 10, Truncation::kOnlySecond), std::pair(4UL, 6UL));
}

TEST(Truncate, RefusesToCutAwayAWholeText) {
  EXPECT_EQ(KindOfFault(Truncate({2, 12}, true, 10, Truncation::kOnlyFirst)),
            FaultKind::kMisuse);
  EXPECT_EQ(KindOfFault(Truncate({12, 0}, false, 10, Truncation::kOnlySecond)),
            FaultKind::kMisuse);
}

TEST(Assemble, PutsBertsTokensAround) {
  const TokenRun first = RunOf({7, 8});
  const TokenRun second = RunOf({9});
  Encoding encoding;
  ASSERT_TRUE(
      Assemble(Template::Bert(1, 2), first, &second, {}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(1, 7, 8, 2, 9, 2));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(encoding.special_mask, ElementsAre(1, 0, 0, 1, 0, 1));
  EXPECT_THAT(encoding.attention_mask, ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(encoding.word_ids, ElementsAre(-1, 0, 0, -1, 0, -1));
}

TEST(Assemble, PutsRobertasFourTokensAround) {
  const TokenRun first = RunOf({7});
  const TokenRun second = RunOf({});
  Encoding encoding;
  ASSERT_TRUE(
      Assemble(Template::Roberta(0, 2), first, &second, {}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(0, 7, 2, 2, 2));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 0));
}

TEST(Assemble, CountsSpecialTokensInTheLength) {
  const TokenRun first = RunOf({7, 8, 9});
  const Template bert = Template::Bert(1, 2);
  Encoding encoding;
  ASSERT_TRUE(Assemble(bert, first, nullptr, {.max_length = 4}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(1, 7, 8, 2));
  ASSERT_TRUE(Assemble(bert, first, nullptr,
                       {.max_length = 2, .add_special_tokens = false}, encoding)
                  .ok());
  EXPECT_THAT(encoding.ids, ElementsAre(7, 8));
}

TEST(Assemble, RefusesALengthBelowTheSpecialTokens) {
  Encoding encoding;
  const TokenRun first = RunOf({7});
  EXPECT_EQ(KindOfFault(Assemble(Template::Bert(1, 2), first, nullptr,
                                 {.max_length = 1}, encoding)),
            FaultKind::kMisuse);
  EXPECT_EQ(encoding.size(), 0U);
}

// Everything that was recorded from the reference, the recordings of the
// repository first. Those it may not carry are read from
// $FROSTLINE_SHARED_DATA and skipped where that is not set.

void ExpectSame(const GoldenCount& count, int at_least) {
  EXPECT_EQ(count.different, 0) << count.what;
  EXPECT_GE(count.compared, at_least);
}

void ExpectRecords(const std::string& vocabulary, const std::string& records,
                   int at_least) {
  const Tokenizer tokenizer = TokenizerOfFile(vocabulary);
  Encoder encoder(tokenizer);
  ExpectSame(CompareRecords(encoder, records), at_least);
}

Tokenizer BpeWithPrefix(const std::string& folder) {
  auto made = ReadBpeFiles(ReadBytes(folder + "vocab.json"),
                           ReadBytes(folder + "merges.txt"), true);
  return std::move(made).value();
}

#define NEEDS_SHARED(path)      \
  if (SharedData(path).empty()) \
  GTEST_SKIP() << "set FROSTLINE_SHARED_DATA to the folder that has " path

TEST(Recordings, WordPieceAgrees) {
  const std::string vocabulary = OwnRecording("wordpiece/vocab.txt");
  ExpectRecords(vocabulary, OwnRecording("wordpiece/goldens.jsonl"), 390);
  ExpectRecords(vocabulary, OwnRecording("wordpiece/split_words.jsonl"), 90);
}

TEST(Recordings, ByteBpeAgrees) {
  ExpectRecords(OwnRecording("bpe/tokenizer.json"),
                OwnRecording("bpe/goldens.jsonl"), 280);
}

TEST(Recordings, ByteBpeOfWordsWithABlankBeforeEachAgrees) {
  const Tokenizer tokenizer = BpeWithPrefix(OwnRecording("bpe/"));
  Encoder encoder(tokenizer);
  ExpectSame(CompareRecords(encoder,
                            OwnRecording("bpe/split_words_prefix_space.jsonl")),
             50);
}

TEST(Recordings, UnigramAgrees) {
  const std::string json = OwnRecording("unigram/tokenizer.json");
  ExpectRecords(json, OwnRecording("unigram/goldens.jsonl"), 300);
  ExpectRecords(json, OwnRecording("unigram/split_words.jsonl"), 50);
}

TEST(Recordings, ByteBpeOfComposedTextsAgrees) {
  ExpectRecords(OwnRecording("modernbert/tokenizer.json"),
                OwnRecording("modernbert/goldens.jsonl"), 120);
}

TEST(Recordings, UnigramAsDebertaHasItAgrees) {
  ExpectRecords(OwnRecording("deberta/tokenizer.json"),
                OwnRecording("deberta/goldens.jsonl"), 120);
}

TEST(Recordings, ByteBpeAsDecodersHaveItAgrees) {
  for (const std::string family : {"llama3", "qwen", "smollm"}) {
    SCOPED_TRACE(family);
    ExpectRecords(OwnRecording(family + "/tokenizer.json"),
                  OwnRecording(family + "/goldens.jsonl"), 120);
  }
}

TEST(SharedRecordings, WordPieceAgrees) {
  NEEDS_SHARED("fixtures/tokenizers/wordpiece/goldens.jsonl");
  const std::string folder = SharedData("fixtures/tokenizers/wordpiece/");
  ExpectRecords(folder + "vocab.txt", folder + "goldens.jsonl", 2000);
  ExpectRecords(folder + "vocab.txt", folder + "split_words.jsonl", 300);
}

TEST(SharedRecordings, ByteBpeAgrees) {
  NEEDS_SHARED("fixtures/tokenizers/bpe/goldens.jsonl");
  const std::string folder = SharedData("fixtures/tokenizers/bpe/");
  ExpectRecords(folder + "tokenizer.json", folder + "goldens.jsonl", 1000);
  const Tokenizer tokenizer = BpeWithPrefix(folder);
  Encoder encoder(tokenizer);
  ExpectSame(CompareRecords(encoder, folder + "split_words_prefix_space.jsonl"),
             100);
}

TEST(SharedRecordings, UnigramAgrees) {
  NEEDS_SHARED("fixtures/tokenizers/unigram/goldens.jsonl");
  const std::string folder = SharedData("fixtures/tokenizers/unigram/");
  ExpectRecords(folder + "tokenizer.json", folder + "goldens.jsonl", 1000);
  ExpectRecords(folder + "tokenizer.json", folder + "split_words.jsonl", 100);
}

TEST(SharedRecordings, AllQuestionsAgree) {
  NEEDS_SHARED("data/tokenizer_golden/question_tokens.json");
  const std::string folder = SharedData("data/tokenizer_golden/");
  const Tokenizer tokenizer = TokenizerOfFile(folder + "bert-vocab.txt");
  ExpectSame(CompareQuestions(tokenizer, folder + "question_tokens.json",
                              folder + "tokenized_questions.json"),
             10570);
}

TEST(SharedRecordings, AllTokenizerCasesAgree) {
  NEEDS_SHARED("data/tokenizer_golden/tokenizer_tests.json");
  const std::string folder = SharedData("data/tokenizer_golden/");
  const Tokenizer tokenizer = TokenizerOfFile(folder + "bert-vocab.txt");
  Encoder encoder(tokenizer);
  ExpectSame(CompareCases(encoder, folder + "tokenizer_tests.json",
                          "bert-base-uncased"),
             18);
}

}  // namespace
}  // namespace frostline::trainer
