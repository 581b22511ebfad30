// SPDX-License-Identifier: Apache-2.0
//
// Texts and files that somebody made to hurt: nothing crashes, and nothing
// takes longer than its length allows. Bounds on time are a hundred times what
// is needed, so that only a wrong order of growth is caught.
#include <chrono>
#include <cstdlib>
#include <random>

#include "tests/support/record.h"
#include "tests/support/watched.h"
#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::trainer {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kLong = kMiB / kSlower;
constexpr const char* kTokenizers[] = {
    "wordpiece/vocab.txt", "bpe/tokenizer.json", "unigram/tokenizer.json"};

std::string Repeated(std::string_view what, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += what;
  return text;
}

// Every token lies in the text, in order; returns how many there are.
std::size_t CheckedSize(Encoder& encoder, std::string_view text) {
  Encoding encoding;
  EXPECT_TRUE(encoder.Encode(text, {}, encoding).ok());
  for (const Span& span : encoding.spans) {
    EXPECT_LE(span.begin, span.end);
    EXPECT_LE(span.end, text.size());
  }
  return encoding.size();
}

class Hostile : public ::testing::TestWithParam<const char*> {
 protected:
  const Tokenizer tokenizer_ = TokenizerOfFile(OwnRecording(GetParam()));
  Encoder encoder_{tokenizer_};
};

TEST_P(Hostile, AMebibyteOfOneWordOfAnyKind) {
  const auto start = Steady::now();
  for (const char* unit :
       {"a", "ab", "\u4e2d", "\u0301", "e\u0301", " ", "\n", "'s", "\u2581",
        "\u00bd", "\x80", "\xF0\x9F", "[MASK", "<mask>", " <", "!", "\r\n",
        "\u200b", "\ufdfa"}) {
    EXPECT_GE(CheckedSize(encoder_, Repeated(unit, kLong)), 2U) << unit;
  }
  EXPECT_LT(Steady::now() - start, std::chrono::seconds(100));
}

TEST_P(Hostile, NulAndEveryOtherByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_GE(CheckedSize(encoder_, all), 2U);
  EXPECT_GE(CheckedSize(encoder_, std::string(1000, '\0')), 2U);
}

TEST_P(Hostile, RandomBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n) {
      text.push_back(static_cast<char>(random() % 256));
    }
    CheckedSize(encoder_, text);
  }
}

TEST_P(Hostile, ManySpecialTokensWithManyBlanks) {
  const auto start = Steady::now();
  const std::string blanks(1000, ' ');
  CheckedSize(encoder_, Repeated(blanks + "<mask>" + blanks + "[MASK]", kMiB));
  EXPECT_LT(Steady::now() - start, std::chrono::seconds(20));
}

TEST_P(Hostile, ATextOverTheLimitIsRefused) {
  Encoding encoding;
  const std::string text(kMaxTextBytes + 1, 'a');
  EXPECT_EQ(KindOfFault(encoder_.Encode(text, {}, encoding)),
            FaultKind::kTooLarge);
}

INSTANTIATE_TEST_SUITE_P(AllTokenizers, Hostile,
                         ::testing::ValuesIn(kTokenizers),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name.substr(0, name.find('/'));
                         });

// Longest matches fail at every position after a thousand steps.
TEST(HostileVocabulary, LongTokensThatNearlyMatch) {
  std::string json = R"({"pre_tokenizer": {"type": "Metaspace",
      "replacement": "\u2581"}, "model": {"type": "Unigram", "unk_id": 0,
      "vocab": [["<unk>", 0.0], ["a", -1.0], [")";
  json += std::string(1000, 'a') + R"(b", -2.0]]}})";
  const Tokenizer tokenizer = ReadTokenizerJson(json).value();
  Encoder encoder(tokenizer);
  const auto start = Steady::now();
  EXPECT_GT(CheckedSize(encoder, Repeated("a", kMiB / 4)), kMiB / 4);
  EXPECT_LT(Steady::now() - start, std::chrono::seconds(100));
}

TEST(HostileVocabulary, AMillionTokensOfFewLetters) {
  std::string bytes = "[UNK]\n[CLS]\n[SEP]\n";
  for (int i = 0; i < 900'000; ++i) {
    for (int rest = i + 1; rest > 0; rest /= 3) bytes += "abc"[rest % 3];
    bytes += '\n';
  }
  const auto start = Steady::now();
  EXPECT_TRUE(ReadVocabTxt(bytes, {}).ok());
  EXPECT_LT(Steady::now() - start, std::chrono::seconds(100));
}

// Real files with one place changed: an error or a tokenizer, never a crash.
// FROSTLINE_FAULT_COUNT=n changes each file n times.
TEST(HostileFile, AnyByteMayBeWrong) {
  std::mt19937 random(5);
  const char* const wanted = std::getenv("FROSTLINE_FAULT_COUNT");
  Record record;
  for (const char* name : {"bpe/tokenizer.json", "unigram/tokenizer.json"}) {
    const std::string good = ReadBytes(OwnRecording(name));
    const int usual = good.size() > 100'000 ? 60 : 600;
    const int rounds = wanted == nullptr ? usual : std::atoi(wanted);
    for (int round = 0; round < rounds; ++round) {
      ++record["bad_files"];
      std::string bad = good;
      bad[random() % bad.size()] = static_cast<char>(random() % 256);
      const Expected<Tokenizer> made = ReadTokenizerJson(bad);
      if (!made.ok()) continue;
      Encoder encoder(made.value());
      CheckedSize(encoder, "some text, e\u0301 \ufb01 <mask>");
    }
  }
}

TEST(HostileFile, AnyLengthMayBeWrong) {
  const std::string good = ReadBytes(OwnRecording("bpe/tokenizer.json"));
  Record record;
  for (std::size_t length = 0; length < good.size(); length += 97) {
    ++record["bad_files"];
    EXPECT_FALSE(ReadTokenizerJson(good.substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace frostline::trainer
