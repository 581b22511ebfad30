// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/json_fields.h"

#include <utility>

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

}  // namespace frostline::trainer
