// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/figures/recorded_json.h"

#include <stdexcept>

#include "tests/parity/figures/torch_recordings.h"

namespace frostline::test {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 26;

std::string TextOf(const JsonValue& value) {
  if (!value.is(JsonKind::kString)) {
    throw std::runtime_error(std::string(value.key) + " is no text");
  }
  return std::string(value.text);
}

}  // namespace

RecordedJson::RecordedJson(const std::filesystem::path& file)
    : bytes_(OrThrow(ReadWholeFile(file.string(), kLargest))),
      json_(OrThrow(Json::Parse(bytes_))) {}

bool Has(const JsonValue& object, const std::string& member) {
  return object.Find(member) != nullptr;
}

const JsonValue& At(const JsonValue& object, const std::string& member) {
  const JsonValue* found = object.Find(member);
  if (found == nullptr) throw std::runtime_error("there is no " + member);
  return *found;
}

double NumberOf(const JsonValue& value) {
  if (!value.is(JsonKind::kNumber)) {
    throw std::runtime_error(std::string(value.key) + " is no number");
  }
  return value.number;
}

double NumberAt(const JsonValue& object, const std::string& member) {
  return NumberOf(At(object, member));
}

std::string TextAt(const JsonValue& object, const std::string& member) {
  return TextOf(At(object, member));
}

std::string TextAt(const JsonValue& object, const std::string& member,
                   const std::string& otherwise) {
  return Has(object, member) ? TextAt(object, member) : otherwise;
}

std::vector<const JsonValue*> Elements(const JsonValue& value) {
  std::vector<const JsonValue*> elements;
  for (const JsonValue* at = value.first; at != nullptr; at = at->next) {
    elements.push_back(at);
  }
  return elements;
}

std::set<std::string> TextsAt(const JsonValue& object,
                              const std::string& member) {
  std::set<std::string> texts;
  for (const JsonValue* each : Elements(At(object, member))) {
    texts.insert(TextOf(*each));
  }
  return texts;
}

}  // namespace frostline::test
