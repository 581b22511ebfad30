// SPDX-License-Identifier: Apache-2.0
//
// The "model" of a tokenizer.json.
#include <cmath>
#include <string>
#include <utility>

#include "worker/trainer/text/byte_bpe.h"
#include "worker/trainer/text/json_fields.h"
#include "worker/trainer/text/score.h"
#include "worker/trainer/text/tokenizer_json.h"
#include "worker/trainer/text/unigram.h"
#include "worker/trainer/text/vocab_files.h"
#include "worker/trainer/text/word_piece.h"

namespace frostline::trainer {
namespace {

using ModelPtr = std::unique_ptr<const SubwordModel>;

Expected<Vocabulary> VocabularyOf(JsonFields& fields) {
  const JsonValue* vocab = fields.Demand("vocab", JsonKind::kObject);
  if (vocab == nullptr) return *fields.fault();
  return ReadVocabulary(*vocab);
}

Expected<ModelPtr> ReadWordPiece(JsonFields& fields) {
  WordPieceOptions options;
  options.unknown = fields.Text("unk_token", options.unknown);
  options.continuation =
      fields.Text("continuing_subword_prefix", options.continuation);
  const std::int32_t longest = fields.Index("max_input_chars_per_word", 100);
  fields.MustBe("max_input_chars_per_word", longest <= 1000);
  options.max_characters = static_cast<std::size_t>(longest);
  if (fields.fault()) return *fields.fault();
  Expected<Vocabulary> vocabulary = VocabularyOf(fields);
  if (!vocabulary.ok()) return vocabulary.fault();
  Expected<WordPiece> made =
      WordPiece::Make(std::move(vocabulary).value(), options);
  if (!made.ok()) return made.fault();
  return ModelPtr(std::make_unique<WordPiece>(std::move(made).value()));
}

// A merge is ["a", "b"], in older files "a b".
Expected<std::vector<ByteBpe::Pair>> ReadMerges(const JsonValue& list) {
  std::vector<ByteBpe::Pair> merges;
  merges.reserve(list.count);
  for (const JsonValue* v = list.first; v != nullptr; v = v->next) {
    const bool two = v->is(JsonKind::kArray) && v->count == 2 &&
                     v->first->is(JsonKind::kString) &&
                     v->first->next->is(JsonKind::kString);
    if (two) {
      merges.emplace_back(v->first->text, v->first->next->text);
      continue;
    }
    const std::optional<ByteBpe::Pair> pair = SplitMerge(v->text);
    if (!pair) {
      return Fault{FaultKind::kSyntax, "a merge is no pair of tokens",
                   "take the tokenizer.json that belongs to the model"};
    }
    merges.push_back(*pair);
  }
  return merges;
}

Expected<ModelPtr> ReadByteBpe(JsonFields& fields) {
  const auto off = [&fields](std::string_view name) {
    const JsonValue* value = fields.Find(name);
    const bool is_off =
        value == nullptr || (value->is(JsonKind::kBool) && !value->truth) ||
        (value->is(JsonKind::kNumber) && value->number == 0.0) ||
        (value->is(JsonKind::kString) && value->text.empty());
    fields.MustBe(name, is_off);
  };
  for (const std::string_view name :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
        "byte_fallback", "ignore_merges"}) {
    off(name);
  }
  const JsonValue* list = fields.Demand("merges", JsonKind::kArray);
  if (fields.fault()) return *fields.fault();
  Expected<std::vector<ByteBpe::Pair>> merges = ReadMerges(*list);
  if (!merges.ok()) return merges.fault();
  Expected<Vocabulary> vocabulary = VocabularyOf(fields);
  if (!vocabulary.ok()) return vocabulary.fault();
  Expected<ByteBpe> made =
      ByteBpe::Make(std::move(vocabulary).value(), merges.value());
  if (!made.ok()) return made.fault();
  return ModelPtr(std::make_unique<ByteBpe>(std::move(made).value()));
}

Expected<ModelPtr> ReadUnigram(JsonFields& fields) {
  const std::int32_t unknown = fields.Index("unk_id", -1);
  fields.MustBe("byte_fallback", !fields.Bool("byte_fallback", false));
  const JsonValue* list = fields.Demand("vocab", JsonKind::kArray);
  if (fields.fault()) return *fields.fault();
  std::vector<std::string> tokens;
  std::vector<double> scores;
  for (const JsonValue* v = list->first; v != nullptr; v = v->next) {
    if (!v->is(JsonKind::kArray) || v->count != 2 ||
        !v->first->is(JsonKind::kString) ||
        !v->first->next->is(JsonKind::kNumber)) {
      fields.Fail(FaultKind::kSyntax, "an entry is no token with a score");
      return *fields.fault();
    }
    tokens.emplace_back(v->first->text);
    scores.push_back(ScoreOf(v->first->next->text));
    fields.MustBe("vocab", std::isfinite(scores.back()));
  }
  if (fields.fault()) return *fields.fault();
  Expected<Vocabulary> vocabulary = Vocabulary::FromList(std::move(tokens));
  if (!vocabulary.ok()) return vocabulary.fault();
  Expected<Unigram> made =
      Unigram::Make(std::move(vocabulary).value(), std::move(scores), unknown);
  if (!made.ok()) return made.fault();
  return ModelPtr(std::make_unique<Unigram>(std::move(made).value()));
}

// Files of the first versions do not say it.
std::string_view GuessType(const JsonFields& fields) {
  if (fields.Find("merges") != nullptr) return "BPE";
  if (fields.Find("unk_id") != nullptr) return "Unigram";
  return "WordPiece";
}

}  // namespace

Expected<ModelPtr> ReadModel(const JsonValue& value) {
  JsonFields fields(value, "model");
  const std::string_view type = fields.Text("type", GuessType(fields));
  if (type == "WordPiece") return ReadWordPiece(fields);
  if (type == "BPE") return ReadByteBpe(fields);
  if (type == "Unigram") return ReadUnigram(fields);
  fields.MustBe("type", false);
  return *fields.fault();
}

}  // namespace frostline::trainer
