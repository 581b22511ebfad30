// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/request_fields.h"

#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

namespace frostline::trainer {
namespace {

// Of a JSON number, to the last digit; a whole number may be written 1e3.
template <typename Whole>
std::optional<Whole> WholeOf(const JsonValue& value) {
  if (!value.is(JsonKind::kNumber)) return std::nullopt;
  Whole whole = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, whole);
  if (error == std::errc() && stop == end) return whole;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double number = value.number;
  if (std::trunc(number) != number || std::abs(number) > kExact ||
      (number < 0.0 && !std::is_signed_v<Whole>)) {
    return std::nullopt;
  }
  return static_cast<Whole>(number);
}

std::string Shortest(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return {text, end};
}

}  // namespace

RequestFields::RequestFields(std::string where,
                             std::vector<const JsonValue*> objects)
    : where_(std::move(where)), objects_(std::move(objects)) {
  for (const JsonValue* object : objects_) {
    if (object == nullptr || object->is(JsonKind::kObject) ||
        object->is(JsonKind::kNull)) {
      continue;
    }
    Take({FaultKind::kMisuse, where_ + " is no object", "write {\"name\": …}"});
  }
}

const JsonValue* RequestFields::Find(std::string_view name) const {
  for (const JsonValue* object : objects_) {
    if (object == nullptr) continue;
    const JsonValue* found = object->Find(name);
    if (found != nullptr && !found->is(JsonKind::kNull)) return found;
  }
  return nullptr;
}

std::string RequestFields::Text(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return "";
  if (!found->is(JsonKind::kString)) Fail(name, "is no text", "write a text");
  return std::string(found->text);
}

bool RequestFields::Flag(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return false;
  if (!found->is(JsonKind::kBool)) {
    Fail(name, "is neither true nor false", "write one of them");
  }
  return found->truth;
}

double RequestFields::Share(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return 0.0;
  const bool share = found->is(JsonKind::kNumber) && found->number >= 0.0 &&
                     found->number <= 1.0;
  if (!share) Fail(name, "is not within 0 and 1", "write e.g. 0.1");
  return found->number;
}

double RequestFields::Number(std::string_view name, double least, double most,
                             double fallback) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return fallback;
  if (found->is(JsonKind::kNumber) && found->number >= least &&
      found->number <= most) {
    return found->number;
  }
  Fail(name, "is no number of " + Shortest(least) + " to " + Shortest(most),
       "write one, or leave it out for " + Shortest(fallback));
  return fallback;
}

std::int64_t RequestFields::Whole(std::string_view name, std::int64_t least,
                                  std::int64_t most, std::int64_t fallback) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return fallback;
  const std::optional<std::int64_t> whole = WholeOf<std::int64_t>(*found);
  if (whole && *whole >= least && *whole <= most) return *whole;
  Fail(name,
       "is no whole number of " + std::to_string(least) + " to " +
           std::to_string(most),
       "write one, or leave it out for " + std::to_string(fallback));
  return fallback;
}

std::uint64_t RequestFields::Bits(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return 0;
  const std::optional<std::uint64_t> whole = WholeOf<std::uint64_t>(*found);
  if (!whole) Fail(name, "is no whole number of 0 or more", "write one");
  return whole.value_or(0);
}

std::vector<std::string> RequestFields::Texts(std::string_view name) {
  std::vector<std::string> texts;
  const JsonValue* found = Find(name);
  if (found == nullptr) return texts;
  for (const JsonValue* v = found->first; v != nullptr; v = v->next) {
    if (!found->is(JsonKind::kArray) || !v->is(JsonKind::kString)) break;
    texts.emplace_back(v->text);
  }
  if (!found->is(JsonKind::kArray) || texts.size() != found->count) {
    Fail(name, "is no list of texts", "write [\"one\", \"another\"]");
  }
  return texts;
}

void RequestFields::Fail(std::string_view name, const std::string& what,
                         const std::string& fix) {
  if (fault_) return;
  fault_ = Fault{FaultKind::kMisuse,
                 where_ + "." + std::string(name) + " " + what, fix};
}

}  // namespace frostline::trainer
