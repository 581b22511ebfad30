// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/yaml_fields.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/nearest.h"

namespace frostline::cli {

using Kind = YamlNode::Kind;

YamlFields::YamlFields(const YamlPtr& node, const std::string& file,
                       const std::string& what)
    : node_(node), file_(file), what_(what) {
  if (node_->kind == Kind::kMap) return;
  Fail(node_->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(what_, " is ", Describe(*node_)), "write keys with values");
}

void YamlFields::Fail(const YamlMark& mark, ErrorId id,
                      const std::string& cause, const std::string& fix,
                      const std::string& field) {
  if (error_.ok()) error_ = ErrorAt(id, file_, mark, cause, fix, field);
}

YamlPtr YamlFields::Take(const std::string& key) {
  known_.push_back(key);
  const YamlEntry* const entry = node_->Find(key);
  return entry == nullptr ? nullptr : entry->value;
}

YamlPtr YamlFields::TakeMap(const std::string& key) {
  const YamlPtr value = Take(key);
  if (value == nullptr || value->kind == Kind::kMap) return value;
  Fail(value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is ", Describe(*value)),
       "write keys with values", key);
  return nullptr;
}

std::string YamlFields::TakeText(const std::string& key) {
  const YamlPtr value = Take(key);
  if (value == nullptr || value->kind == Kind::kNull) return "";
  if (value->kind == Kind::kScalar) return value->text;
  Fail(value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is ", Describe(*value)),
       "write a text", key);
  return "";
}

std::string YamlFields::NeedText(const std::string& key,
                                 const std::string& example) {
  const std::string text = TakeText(key);
  if (text.empty()) {
    Fail(node_->mark, ErrorId::kStudyFieldMissing,
         absl::StrCat(what_, " has no ", key),
         absl::StrCat("add a line such as ", key, ": ", example), key);
  }
  return text;
}

double YamlFields::TakeNumber(const std::string& key) {
  const YamlPtr value = Take(key);
  if (value == nullptr) return 0.0;
  double number = 0.0;
  const bool is_number = value->kind == Kind::kScalar && !value->quoted &&
                         absl::SimpleAtod(value->text, &number) &&
                         number - number == 0.0;  // finite
  if (is_number) return number;
  Fail(value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is ", Describe(*value)),
       "write a number", key);
  return 0.0;
}

bool YamlFields::TakeFlag(const std::string& key) {
  const std::string text = TakeText(key);
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  Fail(node_->Find(key)->value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is '", text, "'"),
       "write true or false", key);
  return false;
}

std::vector<YamlEntry> YamlFields::TakeRest() {
  std::vector<YamlEntry> rest;
  for (const YamlEntry& entry : node_->entries) {
    if (std::count(known_.begin(), known_.end(), entry.key) > 0) continue;
    rest.push_back(entry);
  }
  for (const YamlEntry& entry : rest) known_.push_back(entry.key);
  return rest;
}

absl::Status YamlFields::Finish() {
  for (const YamlEntry& entry : node_->entries) {
    if (std::count(known_.begin(), known_.end(), entry.key) > 0) continue;
    Fail(entry.key_mark, ErrorId::kStudyFieldUnknown,
         absl::StrCat("unknown key '", entry.key, "' in ", what_),
         Suggest(entry.key, known_), entry.key);
  }
  return error_;
}

}  // namespace frostline::cli
