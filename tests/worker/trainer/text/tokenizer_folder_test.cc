// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_folder.h"

#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/tokenizer_json.h"

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

TEST(ScoreOf, ReadsShortNumbersExactly) {
  EXPECT_EQ(ScoreOf("0"), 0.0);
  EXPECT_EQ(ScoreOf("-2.5"), -2.5);
  EXPECT_EQ(ScoreOf("1e2"), 100.0);
  EXPECT_EQ(ScoreOf("-12.5E-1"), -1.25);
  EXPECT_EQ(ScoreOf("-3.3034400939941406"), -3.3034400939941406);
  EXPECT_TRUE(std::signbit(ScoreOf("-0.0")));
}

TEST(ScoreOf, RoundsTwiceAsTheReferenceDoes) {
  EXPECT_EQ(ScoreOf("11.761319692818383"), 0x1.785cbb1dce955p+3);
  EXPECT_EQ(11.761319692818383, 0x1.785cbb1dce954p+3);  // the nearest
}

TEST(ScoreOf, DropsDigitsThatDoNotFit) {
  EXPECT_EQ(ScoreOf("1.00000000000000000000000000009"), 1.0);
  EXPECT_EQ(ScoreOf("123456789012345678901234567890"),
            12345678901234567890.0 * 1e10);
}

TEST(ScoreOf, StaysInBounds) {
  EXPECT_TRUE(std::isinf(ScoreOf("1e400")));
  EXPECT_EQ(ScoreOf("1e-400"), 0.0);
  EXPECT_EQ(ScoreOf("0e999999999999999999999"), 0.0);
  EXPECT_EQ(ScoreOf("1e-999999999999999999999"), 0.0);
}

// The sums of all orders are equal but for the last place; the reference gives
// these ids.
TEST(ScoreOf, DecidesBetweenEqualCuts) {
  const Tokenizer tokenizer =
      ReadTokenizerJson(R"({"pre_tokenizer": {"type": "Metaspace",
          "replacement": "\u2581"}, "model": {"type": "Unigram", "unk_id": 0,
          "vocab": [["<unk>", 0.0], ["\u2581", -1.0], ["a", -8.213750516360522],
                    ["aaa", -12.661555033058067]]}})")
          .value();
  Encoder encoder(tokenizer);
  const auto ids = [&encoder](std::size_t letters) {
    Encoding encoding;
    EXPECT_TRUE(encoder.Encode(std::string(letters, 'a'), {}, encoding).ok());
    return encoding.ids;
  };
  EXPECT_THAT(ids(4), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids(7), ElementsAre(1, 3, 3, 2));
  EXPECT_THAT(ids(8), ElementsAre(1, 3, 3, 2, 2));
  EXPECT_THAT(ids(10), ElementsAre(1, 3, 3, 2, 3));
  EXPECT_THAT(ids(13), ElementsAre(1, 3, 3, 2, 3, 3));
}

// A whole tokenizer.json of seven tokens, with `from` replaced by `to`.
std::string Json(const std::string& from = "", const std::string& to = "") {
  std::string json = R"({
    "version": "1.0", "truncation": {"max_length": 2}, "padding": null,
    "added_tokens": [
      {"id": 1, "content": "[CLS]", "single_word": false, "lstrip": false,
       "rstrip": false, "normalized": false, "special": true},
      {"id": 2, "content": "[SEP]", "normalized": false, "special": true}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true,
      "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
               {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {
        "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
        "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
    "decoder": {"type": "WordPiece"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
      "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "film": 3, "##s": 4}}})";
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return from.empty() ? json : json.replace(at, from.size(), to);
}

FaultKind Refused(const std::string& from, const std::string& to) {
  return KindOfFault(ReadTokenizerJson(Json(from, to)));
}

TEST(ReadTokenizerJson, MakesATokenizer) {
  const Tokenizer tokenizer = ReadTokenizerJson(Json()).value();
  Encoder encoder(tokenizer);
  Encoding encoding;
  ASSERT_TRUE(encoder.EncodePair("F\u00eflms!", "film", {}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(1, 3, 4, 0, 2, 3));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(ReadTokenizerJson, TakesTheFirstVersionsWithoutModelType) {
  EXPECT_TRUE(ReadTokenizerJson(Json(R"("type": "WordPiece", )", "")).ok());
}

TEST(ReadTokenizerJson, RefusesComponentsItDoesNotKnow) {
  EXPECT_EQ(Refused("BertNormalizer", "NFKC"), FaultKind::kUnsupported);
  EXPECT_EQ(Refused("BertPreTokenizer", "Split"), FaultKind::kUnsupported);
  EXPECT_EQ(Refused("TemplateProcessing", "Other"), FaultKind::kUnsupported);
  EXPECT_EQ(Refused(R"("type": "WordPiece", )", R"("type": "WordLevel", )"),
            FaultKind::kUnsupported);
  EXPECT_EQ(Refused(R"("single_word": false)", R"("single_word": true)"),
            FaultKind::kUnsupported);
}

TEST(ReadTokenizerJson, TakesNoRegularExpression) {
  const std::string split =
      R"({"type": "Split", "pattern": {"Regex": "(a+)+$"}, "invert": false})";
  EXPECT_EQ(Refused(R"({"type": "BertPreTokenizer"})", split),
            FaultKind::kUnsupported);
}

TEST(ReadTokenizerJson, RefusesWrongTypes) {
  EXPECT_EQ(Refused(R"("lowercase": true)", R"("lowercase": "yes")"),
            FaultKind::kSyntax);
  EXPECT_EQ(Refused(R"("film": 3)", R"("film": "3")"), FaultKind::kSyntax);
  EXPECT_EQ(Refused(R"("film": 3)", R"("film": 3.5)"), FaultKind::kSyntax);
  EXPECT_EQ(Refused(R"("film": 3)", R"("film": -3)"), FaultKind::kSyntax);
  EXPECT_EQ(Refused(R"("ids": [1])", R"("ids": ["1"])"),
            FaultKind::kUnsupported);
  EXPECT_EQ(KindOfFault(ReadTokenizerJson("[]")), FaultKind::kSyntax);
  EXPECT_EQ(KindOfFault(ReadTokenizerJson("{}")), FaultKind::kSyntax);
}

TEST(ReadTokenizerJson, IdsMustBeDenseAndUnique) {
  EXPECT_EQ(Refused(R"("film": 3)", R"("film": 5)"), FaultKind::kInconsistent);
  EXPECT_EQ(Refused(R"("film": 3)", R"("film": 2)"), FaultKind::kInconsistent);
  EXPECT_EQ(Refused(R"("film": 3)", R"("##s": 3)"), FaultKind::kInconsistent);
  EXPECT_EQ(Refused(R"("film": 3)", R"("film": 2147483647)"),
            FaultKind::kInconsistent);
}

TEST(ReadTokenizerJson, AddedTokensMayFollowTheVocabulary) {
  const std::string more =
      R"({"id": 5, "content": "[X]", "normalized": false}, {"id": 1,)";
  const auto made = ReadTokenizerJson(Json(R"({"id": 1,)", more));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().vocabulary_size(), 6);
  EXPECT_EQ(made.value().IdOf("[X]"), 5);
  // [CLS] is token 1 of the vocabulary.
  EXPECT_EQ(Refused(R"({"id": 1,)", R"({"id": 7,)"), FaultKind::kInconsistent);
  EXPECT_EQ(Refused(R"({"id": 1,)", R"({"id": 0,)"), FaultKind::kInconsistent);
}

TEST(ReadTokenizerJson, TheTemplateHasEachTextOnce) {
  EXPECT_EQ(Refused(R"({"Sequence": {"id": "B", "type_id": 1}})",
                    R"({"Sequence": {"id": "A", "type_id": 1}})"),
            FaultKind::kUnsupported);
  EXPECT_EQ(Refused(R"("ids": [1])", R"("ids": [99])"),
            FaultKind::kInconsistent);
}

TEST(ReadTokenizerJson, AFaultSaysWhereAndWhatToDo) {
  const auto made =
      ReadTokenizerJson(Json(R"("lowercase": true)", R"("lowercase": 1)"));
  EXPECT_THAT(made.fault().cause, HasSubstr("normalizer: lowercase"));
  EXPECT_THAT(made.fault().fix, HasSubstr("tokenizer.json"));
}

TEST(ReadTokenizerJson, ModelSettingsThatChangeTokensAreRefused) {
  const std::string bpe = ReadBytes(OwnRecording("bpe/tokenizer.json"));
  const auto with = [&bpe](const std::string& from, const std::string& to) {
    std::string json = bpe;
    json.replace(json.find(from), from.size(), to);
    return KindOfFault(ReadTokenizerJson(json));
  };
  EXPECT_EQ(with(R"("dropout":null)", R"("dropout":0.1)"),
            FaultKind::kUnsupported);
  EXPECT_EQ(with(R"("use_regex":true)", R"("use_regex":false)"),
            FaultKind::kUnsupported);
}

}  // namespace
}  // namespace frostline::trainer
