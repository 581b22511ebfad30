// SPDX-License-Identifier: Apache-2.0
#include "base/plain/yaml_fields.h"

#include <algorithm>
#include <utility>

#include "base/plain/shown.h"

namespace frostline {

YamlFields::YamlFields(const YamlNode& node, std::string file,
                       std::string where)
    : node_(node), file_(std::move(file)), where_(std::move(where)) {
  if (node_.kind != YamlNode::Kind::kMap) {
    Fail(node_.mark, "is no block of keys",
         "write its keys below it, indented");
  }
}

void YamlFields::Fail(const YamlMark& mark, const std::string& what,
                      const std::string& fix) {
  if (fault_) return;
  fault_ = Fault{FaultKind::kInconsistent,
                 file_ + " line " + std::to_string(mark.line) + " column " +
                     std::to_string(mark.column) + ": " + where_ + ": " + what,
                 fix};
}

const YamlNode* YamlFields::Find(std::string_view key, YamlNode::Kind kind,
                                 const std::string& form) {
  const YamlEntry* entry = node_.Find(key);
  if (entry == nullptr) return nullptr;
  const YamlNode* found = entry->value.get();
  if (found->kind == kind) return found;
  Fail(found->mark, std::string(key) + " has another form",
       "write it as " + form);
  return nullptr;
}

std::string YamlFields::Demand(std::string_view key) {
  std::optional<std::string> text = Text(key);
  if (!text) Fail(node_.mark, "lacks " + std::string(key), "add it");
  return text.value_or("");
}

std::optional<std::string> YamlFields::Text(std::string_view key) {
  const YamlNode* found =
      Find(key, YamlNode::Kind::kScalar, std::string(key) + ": a text");
  if (found == nullptr) return std::nullopt;
  return found->text;
}

std::optional<bool> YamlFields::Bool(std::string_view key) {
  const std::optional<std::string> text = Text(key);
  if (!text) return std::nullopt;
  if (*text != "true" && *text != "false") {
    Fail(node_.Find(key)->value->mark,
         std::string(key) + " is " + Shown(*text) + ", neither true nor false",
         "write true or false");
  }
  return *text == "true";
}

std::vector<std::string> YamlFields::Words(std::string_view key) {
  std::vector<std::string> words;
  const YamlNode* found =
      Find(key, YamlNode::Kind::kList, "a list: [one, two]");
  if (found == nullptr) return words;
  for (const YamlPtr& item : found->items) {
    if (item->kind != YamlNode::Kind::kScalar) {
      Fail(item->mark, std::string(key) + " holds more than texts",
           "write a list of texts: [one, two]");
    }
    words.push_back(item->text);
  }
  return words;
}

std::map<std::string, std::string> YamlFields::Pairs(std::string_view key) {
  std::map<std::string, std::string> pairs;
  const YamlNode* found = Map(key);
  if (found == nullptr) return pairs;
  for (const auto& [name, mark, value] : found->entries) {
    if (value->kind != YamlNode::Kind::kScalar) {
      Fail(mark, std::string(key) + "." + name + " is no text",
           "write pairs of texts: {text: sentence}");
    }
    pairs[name] = value->text;
  }
  return pairs;
}

const YamlNode* YamlFields::Map(std::string_view key) {
  return Find(key, YamlNode::Kind::kMap, "a block of keys");
}

void YamlFields::KnowOnly(std::initializer_list<std::string_view> keys) {
  for (const auto& [name, mark, value] : node_.entries) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    std::string known;
    for (const std::string_view key : keys) {
      known += (known.empty() ? "" : ", ") + std::string(key);
    }
    Fail(mark, "has an unknown key " + Shown(name), "known are " + known);
  }
}

}  // namespace frostline
