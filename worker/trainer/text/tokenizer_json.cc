// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_json.h"

#include <string>
#include <utility>

#include "worker/trainer/text/json_fields.h"
#include "worker/trainer/text/limits.h"

namespace frostline::trainer {
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
    fields.MustBe("single_word", !fields.Bool("single_word", false));
    if (fields.fault()) return *fields.fault();
    added.push_back(std::move(token));
  }
  return added;
}

Expected<Tokenizer> ReadTokenizerJson(std::string_view bytes) {
  const Expected<Json> json = Json::Parse(bytes);
  if (!json.ok()) return json.fault();
  const JsonValue& root = json.value().root();
  JsonFields fields(root, "tokenizer.json");
  const JsonValue* model_value = fields.Demand("model", JsonKind::kObject);
  if (model_value == nullptr) return *fields.fault();
  auto normalizer = ReadNormalizer(root.Find("normalizer"));
  if (!normalizer.ok()) return normalizer.fault();
  auto pre_tokenizer = ReadPreTokenizer(root.Find("pre_tokenizer"));
  if (!pre_tokenizer.ok()) return pre_tokenizer.fault();
  auto model = ReadModel(*model_value);
  if (!model.ok()) return model.fault();
  auto form = ReadPostProcessor(root.Find("post_processor"));
  if (!form.ok()) return form.fault();
  auto added = ReadAddedTokens(root.Find("added_tokens"));
  if (!added.ok()) return added.fault();
  return Tokenizer::Make({std::move(normalizer).value(),
                          std::move(pre_tokenizer).value(),
                          std::move(model).value(), std::move(added).value(),
                          std::move(form).value()});
}

}  // namespace frostline::trainer
