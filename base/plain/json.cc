// SPDX-License-Identifier: Apache-2.0
#include "base/plain/json.h"

#include <utility>

#include "base/plain/json_parser.h"

namespace frostline {

const JsonValue* JsonValue::Find(std::string_view name) const {
  if (!is(JsonKind::kObject)) return nullptr;
  for (const JsonValue* member = first; member != nullptr;
       member = member->next) {
    if (member->key == name) return member;
  }
  return nullptr;
}

std::optional<std::int32_t> JsonValue::Index() const {
  if (!is(JsonKind::kNumber) || !(number >= 0 && number < 2147483648.0)) {
    return std::nullopt;
  }
  const auto whole = static_cast<std::int32_t>(number);
  if (static_cast<double>(whole) != number) return std::nullopt;
  return whole;
}

Expected<Json> Json::Parse(std::string_view bytes, std::size_t max_values,
                           JsonNumbers numbers) {
  Json json;
  JsonParser parser(bytes, max_values, numbers, json);
  if (std::optional<Fault> fault = parser.Run()) return *std::move(fault);
  return json;
}

}  // namespace frostline
