// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_json.h"

#include <cmath>

#include "tests/worker/trainer/text/goldens.h"
#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

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

using ::testing::HasSubstr;

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
  EXPECT_EQ(with(R"("ignore_merges":false)", R"("ignore_merges":true)"),
            FaultKind::kUnsupported);
  EXPECT_EQ(with(R"("use_regex":true)", R"("use_regex":false)"),
            FaultKind::kUnsupported);
}

}  // namespace
}  // namespace frostline::trainer
