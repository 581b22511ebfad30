// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/normalizer.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {

JsonFields::JsonFields(const JsonValue& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is(JsonKind::kObject)) {
    Fail(FaultKind::kSyntax, "is no object");
  }
}

const JsonValue* JsonFields::Find(std::string_view name) const {
  const JsonValue* value = object_.Find(name);
  return value == nullptr || value->is(JsonKind::kNull) ? nullptr : value;
}

bool JsonFields::Bool(std::string_view name, bool fallback) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (value->is(JsonKind::kBool)) return value->truth;
  Fail(FaultKind::kSyntax, std::string(name) + " is neither true nor false");
  return fallback;
}

std::string_view JsonFields::Text(std::string_view name,
                                  std::string_view fallback) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (value->is(JsonKind::kString)) return value->text;
  Fail(FaultKind::kSyntax, std::string(name) + " is no string");
  return fallback;
}

std::int32_t JsonFields::Index(std::string_view name, std::int32_t fallback) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (const auto index = value->Index()) return *index;
  Fail(FaultKind::kSyntax, std::string(name) + " is no whole number from 0 on");
  return fallback;
}

const JsonValue* JsonFields::Demand(std::string_view name, JsonKind kind) {
  const JsonValue* value = Find(name);
  if (value != nullptr && value->is(kind)) return value;
  Fail(FaultKind::kSyntax,
       std::string(name) + " is missing or of another type than expected");
  return nullptr;
}

void JsonFields::MustBe(std::string_view name, bool holds) {
  if (holds) return;
  Fail(FaultKind::kUnsupported,
       std::string(name) + " has a value that is not supported");
}

void JsonFields::Fail(FaultKind kind, const std::string& what) {
  if (fault_) return;
  fault_ = Fault{kind, where_ + ": " + what,
                 "take the tokenizer.json of a BERT, DistilBERT, RoBERTa or "
                 "XLM-R model"};
}

namespace {

constexpr std::int64_t kMaxPower = 308;

double PowerOfTen(std::int64_t exponent) {
  static const auto table = [] {
    std::array<double, kMaxPower + 1> powers{};
    for (std::size_t i = 0; i < powers.size(); ++i) {
      const std::string text = "1e" + std::to_string(i);
      std::from_chars(text.data(), text.data() + text.size(), powers[i]);
    }
    return powers;
  }();
  return table[static_cast<std::size_t>(exponent)];
}

double Scaled(double value, std::int64_t exponent) {
  while (exponent < -kMaxPower && value != 0.0) {
    value /= PowerOfTen(kMaxPower);
    exponent += kMaxPower;
  }
  if (value == 0.0) return value;
  if (exponent > kMaxPower) return std::numeric_limits<double>::infinity();
  return exponent < 0 ? value / PowerOfTen(-exponent)
                      : value * PowerOfTen(exponent);
}

// "e-5": bounded, so that sums of exponents cannot overflow.
std::int64_t ExponentOf(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t exponent = 0;
  for (const char c : digits) {
    exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 1'000'000'000);
  }
  return negative ? -exponent : exponent;
}

}  // namespace

double ScoreOf(std::string_view number) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool point = false;
  bool full = false;  // further digits are dropped
  std::size_t i = 0;
  for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
    if (number[i] == '.') {
      point = true;
      full = false;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(number[i] - '0');
    full = full || digits > (kMax - digit) / 10;
    if (full) {
      exponent += point ? 0 : 1;
      continue;
    }
    digits = digits * 10 + digit;
    exponent -= point ? 1 : 0;
  }
  if (i < number.size()) exponent += ExponentOf(number.substr(i + 1));
  const double value = Scaled(static_cast<double>(digits), exponent);
  return negative ? -value : value;
}

Expected<std::vector<AddedToken>> ReadAddedTokens(const JsonValue* value) {
  std::vector<AddedToken> added;
  if (value == nullptr || value->is(JsonKind::kNull)) return added;
  if (!value->is(JsonKind::kArray) || value->count > kMaxEntries) {
    return Fault{FaultKind::kTooLarge,
                 "added_tokens is no list of at most a million",
                 "take the tokenizer.json that belongs to the model"};
  }
  for (const JsonValue* v = value->first; v != nullptr; v = v->next) {
    JsonFields fields(*v, "added_tokens");
    AddedToken token;
    token.id = fields.Index("id", -1);
    token.content = fields.Text("content", "");
    token.takes_left_space = fields.Bool("lstrip", false);
    token.takes_right_space = fields.Bool("rstrip", false);
    token.normalized = fields.Bool("normalized", true);
    token.special = fields.Bool("special", false);
    fields.MustBe("single_word", !fields.Bool("single_word", false));
    if (fields.fault()) return *fields.fault();
    added.push_back(std::move(token));
  }
  return added;
}

Expected<Tokenizer> ReadTokenizerJson(std::string_view bytes) {
  ASSIGN_OR_FAULT(const Json json, Json::Parse(bytes));
  const JsonValue& root = json.root();
  JsonFields fields(root, "tokenizer.json");
  const JsonValue* model_value = fields.Demand("model", JsonKind::kObject);
  if (model_value == nullptr) return *fields.fault();
  ASSIGN_OR_FAULT(auto normalizer, ReadNormalizer(root.Find("normalizer")));
  ASSIGN_OR_FAULT(auto pre_tokenizer,
                  ReadPreTokenizer(root.Find("pre_tokenizer")));
  ASSIGN_OR_FAULT(auto model, ReadModel(*model_value));
  ASSIGN_OR_FAULT(auto form, ReadPostProcessor(root.Find("post_processor")));
  ASSIGN_OR_FAULT(auto added, ReadAddedTokens(root.Find("added_tokens")));
  return Tokenizer::Make({std::move(normalizer), std::move(pre_tokenizer),
                          std::move(model), std::move(added), std::move(form)});
}

// The "normalizer" and the "pre_tokenizer" of a tokenizer.json.

namespace {

using NormalizerPtr = std::unique_ptr<const Normalizer>;
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

Fault Unknown(const char* what, std::string_view type) {
  return {FaultKind::kUnsupported,
          std::string(what) + " of type \"" + std::string(type.substr(0, 80)) +
              "\" is not supported",
          "take the tokenizer.json of a BERT, DistilBERT, RoBERTa, XLM-R, "
          "ELECTRA, ModernBERT, DeBERTa-v3, Llama 3, SmolLM2, Qwen2 or Qwen3 "
          "model, written by a current transformers"};
}

// The array of a component of type Sequence, if `name` has one.
const JsonValue* SequenceOf(const JsonValue& value, std::string_view name) {
  const JsonValue* type = value.Find("type");
  if (type == nullptr || type->text != "Sequence") return nullptr;
  const JsonValue* parts = value.Find(name);
  return parts != nullptr && parts->is(JsonKind::kArray) ? parts : nullptr;
}

bool IsOfType(const JsonValue& part, std::string_view type) {
  const JsonValue* found = part.Find("type");
  return found != nullptr && found->text == type;
}

// What transformers writes for DeBERTa-v3: a Replace by this very expression,
// NFC, a Strip at the end.
bool IsOfDeberta(const JsonValue& parts) {
  if (parts.count != 3) return false;
  const JsonValue& replace = *parts.first;
  const JsonValue& strip = *replace.next->next;
  const JsonValue* pattern = replace.Find("pattern");
  const JsonValue* regex =
      pattern == nullptr ? nullptr : pattern->Find("Regex");
  const JsonValue* content = replace.Find("content");
  const JsonValue* left = strip.Find("strip_left");
  const JsonValue* right = strip.Find("strip_right");
  return IsOfType(replace, "Replace") && regex != nullptr &&
         regex->text == R"(\s{2,}|[\n\r\t])" && content != nullptr &&
         content->text == " " && IsOfType(*replace.next, "NFC") &&
         IsOfType(strip, "Strip") && left != nullptr && !left->truth &&
         right != nullptr && right->truth;
}

Expected<PreTokenizerPtr> ReadMetaspace(const JsonValue& value,
                                        bool split_white_space) {
  JsonFields fields(value, "pre_tokenizer Metaspace");
  fields.MustBe("replacement", fields.Text("replacement", "") == "\u2581");
  fields.MustBe("prepend_scheme",
                fields.Text("prepend_scheme", "always") == "always");
  fields.MustBe("add_prefix_space", fields.Bool("add_prefix_space", true));
  fields.MustBe("split", fields.Bool("split", true));
  if (fields.fault()) return *fields.fault();
  return PreTokenizerPtr(std::make_unique<MetaspaceSplit>(split_white_space));
}

// The expressions by which Llama 3 and Qwen split, as their files have them.
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// What stands before ByteLevel: an expression, or single digits.
Expected<PreTokenizerPtr> ReadBeforeBytes(JsonFields& first,
                                          JsonFields& second) {
  const std::string_view type = first.Text("type", "");
  const bool split = type == "Split";
  second.MustBe("use_regex", second.Bool("use_regex", true) != split);
  second.MustBe("add_prefix_space", !second.Bool("add_prefix_space", true));
  if (second.fault()) return *second.fault();
  if (type == "Digits") {
    first.MustBe("individual_digits", first.Bool("individual_digits", false));
    if (first.fault()) return *first.fault();
    return PreTokenizerPtr(
        std::make_unique<ByteLevelSplit>(false, /*single_digits=*/true));
  }
  const JsonValue* pattern = split ? first.Find("pattern") : nullptr;
  const JsonValue* regex =
      pattern == nullptr ? nullptr : pattern->Find("Regex");
  const bool known =
      regex != nullptr && (regex->text == kLlama3 || regex->text == kQwen) &&
      first.Text("behavior", "") == "Isolated" && !first.Bool("invert", false);
  if (first.fault()) return *first.fault();
  if (!known) return Unknown("a pre_tokenizer", "Split by other words");
  return PreTokenizerPtr(
      std::make_unique<LlamaSplit>(regex->text == kLlama3 ? 3 : 1));
}

}  // namespace

Expected<NormalizerPtr> ReadNormalizer(const JsonValue* value) {
  if (value == nullptr || value->is(JsonKind::kNull)) {
    return NormalizerPtr(std::make_unique<NoNormalizer>());
  }
  if (const JsonValue* parts = SequenceOf(*value, "normalizers")) {
    if (IsOfDeberta(*parts)) {
      return NormalizerPtr(std::make_unique<NfcNormalizer>(
          NfcOptions{.collapse_white_space = true}));
    }
    if (parts->count == 1) value = parts->first;
  }
  JsonFields fields(*value, "normalizer");
  const std::string_view type = fields.Text("type", "");
  if (type == "BertNormalizer") {
    BertNormalizerOptions options;
    options.clean_text = fields.Bool("clean_text", true);
    options.handle_chinese_chars = fields.Bool("handle_chinese_chars", true);
    options.lowercase = fields.Bool("lowercase", true);
    options.strip_accents = fields.Bool("strip_accents", options.lowercase);
    if (fields.fault()) return *fields.fault();
    return NormalizerPtr(std::make_unique<BertNormalizer>(options));
  }
  if (type == "NFC") {
    return NormalizerPtr(std::make_unique<NfcNormalizer>(NfcOptions{}));
  }
  if (type == "Precompiled") {
    const JsonValue* map =
        fields.Demand("precompiled_charsmap", JsonKind::kString);
    if (map == nullptr) return *fields.fault();
    ASSIGN_OR_FAULT(Charsmap made, Charsmap::Parse(map->text));
    return NormalizerPtr(std::make_unique<Charsmap>(std::move(made)));
  }
  return fields.fault() ? *fields.fault() : Unknown("a normalizer", type);
}

Expected<PreTokenizerPtr> ReadPreTokenizer(const JsonValue* value) {
  if (value == nullptr || value->is(JsonKind::kNull)) {
    return Unknown("a pre_tokenizer", "null");
  }
  if (const JsonValue* parts = SequenceOf(*value, "pretokenizers");
      parts != nullptr && parts->count == 2) {
    JsonFields first(*parts->first, "pre_tokenizer");
    JsonFields second(*parts->first->next, "pre_tokenizer");
    if (first.Text("type", "") == "WhitespaceSplit" &&
        second.Text("type", "") == "Metaspace") {
      return ReadMetaspace(*parts->first->next, true);
    }
    if (second.Text("type", "") == "ByteLevel") {
      return ReadBeforeBytes(first, second);
    }
    return Unknown("a pre_tokenizer", "Sequence of others");
  }
  if (const JsonValue* parts = SequenceOf(*value, "pretokenizers");
      parts != nullptr && parts->count == 1) {
    value = parts->first;
  }
  JsonFields fields(*value, "pre_tokenizer");
  const std::string_view type = fields.Text("type", "");
  if (type == "BertPreTokenizer") {
    return PreTokenizerPtr(std::make_unique<BertSplit>());
  }
  if (type == "ByteLevel") {
    const bool prefix = fields.Bool("add_prefix_space", true);
    fields.MustBe("use_regex", fields.Bool("use_regex", true));
    if (fields.fault()) return *fields.fault();
    return PreTokenizerPtr(std::make_unique<ByteLevelSplit>(prefix));
  }
  if (type == "Metaspace") return ReadMetaspace(*value, false);
  return fields.fault() ? *fields.fault() : Unknown("a pre_tokenizer", type);
}

// The "model" of a tokenizer.json.

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
  ASSIGN_OR_FAULT(Vocabulary vocabulary, VocabularyOf(fields));
  ASSIGN_OR_FAULT(WordPiece made,
                  WordPiece::Make(std::move(vocabulary), options));
  return ModelPtr(std::make_unique<WordPiece>(std::move(made)));
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
  for (const std::string_view name : {"dropout", "continuing_subword_prefix",
                                      "end_of_word_suffix", "byte_fallback"}) {
    off(name);
  }
  const bool whole_words = fields.Bool("ignore_merges", false);
  const JsonValue* list = fields.Demand("merges", JsonKind::kArray);
  if (fields.fault()) return *fields.fault();
  ASSIGN_OR_FAULT(std::vector<ByteBpe::Pair> merges, ReadMerges(*list));
  ASSIGN_OR_FAULT(Vocabulary vocabulary, VocabularyOf(fields));
  ASSIGN_OR_FAULT(ByteBpe made,
                  ByteBpe::Make(std::move(vocabulary), merges, whole_words));
  return ModelPtr(std::make_unique<ByteBpe>(std::move(made)));
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
  ASSIGN_OR_FAULT(Vocabulary vocabulary,
                  Vocabulary::FromList(std::move(tokens)));
  ASSIGN_OR_FAULT(Unigram made, Unigram::Make(std::move(vocabulary),
                                              std::move(scores), unknown));
  return ModelPtr(std::make_unique<Unigram>(std::move(made)));
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

// The "post_processor" of a tokenizer.json.

namespace {

using ProcessorKind = TemplateItem::Kind;

// ["</s>", 2]: a token and its id.
std::int32_t IdOfPair(JsonFields& fields, std::string_view name) {
  const JsonValue* pair = fields.Demand(name, JsonKind::kArray);
  if (pair == nullptr) return -1;
  if (pair->count == 2) {
    if (const auto id = pair->first->next->Index()) return *id;
  }
  fields.Fail(FaultKind::kSyntax, std::string(name) + " is no [token, id]");
  return -1;
}

bool AppendSpecialPiece(JsonFields& fields, const JsonValue& special,
                        std::vector<TemplateItem>& items) {
  JsonFields one(special, "SpecialToken");
  const std::int32_t type = one.Index("type_id", 0);
  const JsonValue* known = fields.Find("special_tokens");
  const JsonValue* token =
      known == nullptr ? nullptr : known->Find(one.Text("id", ""));
  const JsonValue* ids = token == nullptr ? nullptr : token->Find("ids");
  if (ids == nullptr || !ids->is(JsonKind::kArray) || one.fault()) return false;
  for (const JsonValue* v = ids->first; v != nullptr; v = v->next) {
    const auto id = v->Index();
    if (!id) return false;
    items.push_back({ProcessorKind::kSpecial, *id, type});
  }
  return true;
}

bool AppendSequence(const JsonValue& sequence,
                    std::vector<TemplateItem>& items) {
  JsonFields one(sequence, "Sequence");
  const std::string_view id = one.Text("id", "");
  const std::int32_t type = one.Index("type_id", 0);
  if (id != "A" && id != "B") return false;
  items.push_back(
      {id == "A" ? ProcessorKind::kFirst : ProcessorKind::kSecond, -1, type});
  return !one.fault();
}

// Each text exactly once, and few special tokens.
bool IsWhole(const std::vector<TemplateItem>& items, bool pair) {
  int first = 0;
  int second = 0;
  for (const TemplateItem& item : items) {
    first += item.kind == ProcessorKind::kFirst ? 1 : 0;
    second += item.kind == ProcessorKind::kSecond ? 1 : 0;
    if (item.type_id > 1) return false;
  }
  return first == 1 && second == (pair ? 1 : 0) && items.size() <= 16;
}

void ReadItems(JsonFields& fields, std::string_view name, bool pair,
               std::vector<TemplateItem>& items) {
  const JsonValue* list = fields.Demand(name, JsonKind::kArray);
  if (list == nullptr) return;
  bool good = true;
  for (const JsonValue* v = list->first; good && v != nullptr; v = v->next) {
    const JsonValue* special = v->Find("SpecialToken");
    const JsonValue* sequence = v->Find("Sequence");
    good = special != nullptr    ? AppendSpecialPiece(fields, *special, items)
           : sequence != nullptr ? AppendSequence(*sequence, items)
                                 : false;
  }
  fields.MustBe(name, good && IsWhole(items, pair));
}

}  // namespace

Expected<Template> ReadPostProcessor(const JsonValue* value) {
  if (value == nullptr || value->is(JsonKind::kNull)) return Template::Plain();
  // Llama 3 trims spans, which tell ids nothing, and then fills in a template.
  if (const JsonValue* parts = SequenceOf(*value, "processors");
      parts != nullptr && parts->count == 2 &&
      IsOfType(*parts->first, "ByteLevel")) {
    ASSIGN_OR_FAULT(Template bytes, ReadPostProcessor(parts->first));
    ASSIGN_OR_FAULT(Template form, ReadPostProcessor(parts->first->next));
    form.trim_spans = bytes.trim_spans;
    form.keep_prefix_space = bytes.keep_prefix_space;
    return form;
  }
  JsonFields fields(*value, "post_processor");
  const std::string_view type = fields.Text("type", "");
  Template form;
  if (type == "BertProcessing") {
    form = Template::Bert(IdOfPair(fields, "cls"), IdOfPair(fields, "sep"));
  } else if (type == "RobertaProcessing") {
    form = Template::Roberta(IdOfPair(fields, "cls"), IdOfPair(fields, "sep"));
    form.trim_spans = fields.Bool("trim_offsets", true);
    form.keep_prefix_space = fields.Bool("add_prefix_space", true);
  } else if (type == "ByteLevel") {
    form = Template::Plain();
    form.trim_spans = fields.Bool("trim_offsets", true);
    form.keep_prefix_space = fields.Bool("add_prefix_space", true);
  } else if (type == "TemplateProcessing") {
    ReadItems(fields, "single", false, form.single);
    ReadItems(fields, "pair", true, form.pair);
  } else {
    fields.MustBe("type", false);
  }
  if (fields.fault()) return *fields.fault();
  return form;
}

}  // namespace frostline::trainer
