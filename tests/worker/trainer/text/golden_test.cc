// SPDX-License-Identifier: Apache-2.0
//
// Everything that was recorded from the reference, the recordings of the
// repository first. Those it may not carry are read from
// $FROSTLINE_SHARED_DATA and skipped where that is not set.
#include <utility>

#include "gmock/gmock.h"
#include "tests/worker/trainer/text/goldens.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

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
