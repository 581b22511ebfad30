// SPDX-License-Identifier: Apache-2.0
//
// The "post_processor" of a tokenizer.json.
#include <optional>
#include <string>

#include "worker/trainer/text/json_fields.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::trainer {
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
