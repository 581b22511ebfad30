// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/vocab_files.h"

#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

constexpr char kSpecials[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";

TEST(ReadVocabTxt, TheLineIsTheId) {
  const Tokenizer tokenizer =
      ReadVocabTxt(std::string(kSpecials) + "a \t\nb\r\n##c", {}).value();
  EXPECT_EQ(tokenizer.vocabulary_size(), 7);
  EXPECT_EQ(tokenizer.IdOf("a"), 4);  // white space at the end is cut
  EXPECT_EQ(tokenizer.IdOf("b"), 5);
  EXPECT_EQ(tokenizer.IdOf("##c"), 6);  // no line end at the end of the file
  EXPECT_EQ(tokenizer.IdOf("[PAD]"), 0);
  EXPECT_EQ(tokenizer.IdOf("x"), std::nullopt);
}

TEST(ReadVocabTxt, AnEmptyLineKeepsItsId) {
  const Tokenizer tokenizer =
      ReadVocabTxt(std::string(kSpecials) + "\n\u3000\nb\n", {}).value();
  EXPECT_EQ(tokenizer.IdOf("b"), 6);
}

TEST(ReadVocabTxt, RefusesWhatCannotBeAVocabulary) {
  const auto kind = [](const std::string& bytes) {
    return KindOfFault(ReadVocabTxt(bytes, {}));
  };
  EXPECT_EQ(kind(""), FaultKind::kInconsistent);
  EXPECT_EQ(kind("a\nb\n"), FaultKind::kInconsistent);          // no [UNK]
  EXPECT_EQ(kind("[UNK]\n[SEP]\n"), FaultKind::kInconsistent);  // no [CLS]
  EXPECT_EQ(kind(std::string(kSpecials) + "a\na\n"), FaultKind::kInconsistent);
  EXPECT_EQ(kind(std::string(kSpecials) + "\xFF\n"), FaultKind::kSyntax);
  EXPECT_EQ(kind(std::string(kSpecials) + std::string(1025, 'a')),
            FaultKind::kTooLarge);
  EXPECT_EQ(kind(std::string(1'000'001, '\n')), FaultKind::kTooLarge);
}

TEST(SplitMerge, WantsTwoTokens) {
  EXPECT_EQ(SplitMerge("a b"), ByteBpe::Pair("a", "b"));
  for (const char* line : {"", "a", "a ", " b", "a b c", "a  b"}) {
    EXPECT_EQ(SplitMerge(line), std::nullopt) << line;
  }
}

TEST(ReadBpeFiles, RefusesBrokenFiles) {
  const std::string vocab = ReadBytes(OwnRecording("bpe/vocab.json"));
  EXPECT_TRUE(ReadBpeFiles(vocab, "#version: 0.2\n", false).ok());
  EXPECT_EQ(KindOfFault(ReadBpeFiles(vocab, "a b c\n", false)),
            FaultKind::kSyntax);
  EXPECT_EQ(KindOfFault(ReadBpeFiles(vocab, "a \xE2\x96\x81\n", false)),
            FaultKind::kInconsistent);
  EXPECT_EQ(KindOfFault(ReadBpeFiles("[]", "", false)),
            FaultKind::kInconsistent);
  EXPECT_EQ(KindOfFault(ReadBpeFiles(R"({"a": 1})", "", false)),
            FaultKind::kInconsistent);
  EXPECT_EQ(KindOfFault(ReadBpeFiles(R"({"a": "0"})", "", false)),
            FaultKind::kSyntax);
}

}  // namespace
}  // namespace frostline::trainer
