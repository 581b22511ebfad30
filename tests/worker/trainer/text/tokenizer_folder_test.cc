// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_folder.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/limits.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kVocabTxt[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\n\xC3\xA4\n<cls>\n";

class TokenizerFolderTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_.File(name), std::ios::binary) << bytes;
  }
  void Copy(const std::string& recording, const std::string& name) {
    Write(name, ReadBytes(OwnRecording(recording)));
  }
  Expected<Tokenizer> Load() { return LoadTokenizer(folder_.path().string()); }
  std::vector<std::int32_t> Ids(const std::string& text) {
    const Expected<Tokenizer> tokenizer = Load();
    if (!tokenizer.ok()) return {};
    Encoding encoding;
    EXPECT_TRUE(Encoder(tokenizer.value()).Encode(text, {}, encoding).ok());
    return encoding.ids;
  }

  TempFolder folder_;
};

TEST_F(TokenizerFolderTest, WithoutSettingsWordPieceIsLowerCase) {
  Write("vocab.txt", kVocabTxt);
  EXPECT_THAT(Ids("A \xC3\xA4"), ElementsAre(2, 5, 5, 3));
}

TEST_F(TokenizerFolderTest, CaseAndAccentsAreAsTheSettingsSay) {
  Write("vocab.txt", kVocabTxt);
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(Ids("A \xC3\xA4"), ElementsAre(2, 6, 7, 3));
  Write("tokenizer_config.json", R"({"strip_accents": false})");
  EXPECT_THAT(Ids("A \xC3\xA4"), ElementsAre(2, 5, 7, 3));
  Write("tokenizer_config.json",
        R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_THAT(Ids("A \xC3\xA4"), ElementsAre(2, 6, 5, 3));
}

TEST_F(TokenizerFolderTest, IdeographsStandAloneUnlessToldOtherwise) {
  Write("vocab.txt", std::string(kVocabTxt) + "\xE4\xB8\xAD\n");
  EXPECT_THAT(Ids("\xE4\xB8\xAD\xE4\xB8\xAD"), ElementsAre(2, 9, 9, 3));
  Write("tokenizer_config.json", R"({"tokenize_chinese_chars": false})");
  EXPECT_THAT(Ids("\xE4\xB8\xAD\xE4\xB8\xAD"), ElementsAre(2, 1, 3));
}

TEST_F(TokenizerFolderTest, SpecialTokensAreAsTheSettingsSay) {
  Write("vocab.txt", kVocabTxt);
  Write("tokenizer_config.json",
        R"({"cls_token": {"content": "<cls>"}, "sep_token": "[MASK]"})");
  EXPECT_THAT(Ids("a"), ElementsAre(8, 5, 4));
}

TEST_F(TokenizerFolderTest, BrokenSettingsAreNamed) {
  Write("vocab.txt", kVocabTxt);
  for (const char* bytes : {"{", R"({"do_lower_case": "no"})"}) {
    Write("tokenizer_config.json", bytes);
    const Expected<Tokenizer> made = Load();
    ASSERT_FALSE(made.ok()) << bytes;
    EXPECT_THAT(made.fault().cause, HasSubstr("/tokenizer_config.json"));
  }
}

TEST_F(TokenizerFolderTest, OlderBpeFilesAndTokenizerJsonAgree) {
  Copy("bpe/vocab.json", "vocab.json");
  Copy("bpe/merges.txt", "merges.txt");
  const std::vector<std::int32_t> old = Ids("Some words, <mask> and \xC3\xA4");
  Write("vocab.json", "not looked at");
  Copy("bpe/tokenizer.json", "tokenizer.json");
  EXPECT_EQ(Ids("Some words, <mask> and \xC3\xA4"), old);
  EXPECT_GT(old.size(), 5U);
}

TEST_F(TokenizerFolderTest, AddPrefixSpaceIsInTheSettings) {
  Copy("bpe/vocab.json", "vocab.json");
  Copy("bpe/merges.txt", "merges.txt");
  const std::vector<std::int32_t> without = Ids(" the words");
  EXPECT_NE(Ids("the words"), without);
  Write("tokenizer_config.json", R"({"add_prefix_space": true})");
  EXPECT_EQ(Ids("the words"), without);
}

TEST_F(TokenizerFolderTest, TruncationAndPaddingOfTheFileAreIgnored) {
  std::string json = ReadBytes(OwnRecording("bpe/tokenizer.json"));
  const std::size_t at = json.find("\"truncation\":");
  ASSERT_NE(at, std::string::npos);
  const std::size_t end = json.find("\"added_tokens\"", at);
  json.replace(at, end - at,
               R"("truncation": {"direction": "Right", "max_length": 4,
               "strategy": "LongestFirst", "stride": 0}, "padding":
               {"strategy": {"Fixed": 64}, "direction": "Right", "pad_id": 1,
               "pad_to_multiple_of": null, "pad_type_id": 0,
               "pad_token": "<pad>"}, )");
  Write("tokenizer.json", json);
  EXPECT_GT(Ids("one two three four five six").size(), 7U);
  EXPECT_LT(Ids("one two three four five six").size(), 60U);
}

TEST_F(TokenizerFolderTest, WhatWasLookedForIsNamed) {
  Write("sentencepiece.bpe.model", "");
  Write("vocab.json", "{}");  // without merges.txt
  const Expected<Tokenizer> made = Load();
  ASSERT_EQ(KindOfFault(made), FaultKind::kUnreadable);
  for (const char* name :
       {"tokenizer.json", "vocab.txt", "vocab.json", "merges.txt"}) {
    EXPECT_THAT(made.fault().cause, HasSubstr(name));
  }
}

TEST_F(TokenizerFolderTest, NeitherPipesNorGiantsAreRead) {
  ASSERT_EQ(mkfifo(folder_.File("tokenizer.json").c_str(), 0600), 0);
  EXPECT_EQ(KindOfFault(Load()), FaultKind::kUnreadable);
  std::filesystem::remove(folder_.File("tokenizer.json"));
  Write("tokenizer.json", "{");
  std::filesystem::resize_file(folder_.File("tokenizer.json"),
                               kMaxTokenizerBytes + 1);
  EXPECT_EQ(KindOfFault(Load()), FaultKind::kTooLarge);
}

TEST_F(TokenizerFolderTest, ListsWhatACopyMustTake) {
  Write("vocab.txt", "");
  Write("config.json", "");
  Write("special_tokens_map.json", "");
  EXPECT_THAT(TokenizerFilesOf(folder_.path().string()),
              ElementsAre("vocab.txt", "special_tokens_map.json"));
  EXPECT_TRUE(TokenizerFilesOf(folder_.File("absent")).empty());
}

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
