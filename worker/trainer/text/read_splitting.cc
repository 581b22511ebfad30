// SPDX-License-Identifier: Apache-2.0
//
// The "normalizer" and the "pre_tokenizer" of a tokenizer.json.
#include <memory>
#include <string>
#include <utility>

#include "worker/trainer/text/bert_normalizer.h"
#include "worker/trainer/text/charsmap.h"
#include "worker/trainer/text/json_fields.h"
#include "worker/trainer/text/nfc_normalizer.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::trainer {
namespace {

using NormalizerPtr = std::unique_ptr<const Normalizer>;
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

Fault Unknown(const char* what, std::string_view type) {
  return {FaultKind::kUnsupported,
          std::string(what) + " of type \"" + std::string(type.substr(0, 80)) +
              "\" is not supported",
          "take the tokenizer.json of a BERT, DistilBERT, RoBERTa, XLM-R, "
          "ELECTRA, ModernBERT or DeBERTa-v3 model, written by a current "
          "transformers"};
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
    Expected<Charsmap> made = Charsmap::Parse(map->text);
    if (!made.ok()) return made.fault();
    return NormalizerPtr(std::make_unique<Charsmap>(std::move(made).value()));
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

}  // namespace frostline::trainer
