// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_fields.h
//
// The first member that does not fit is kept as the fault; a reader asks once,
// at the end.
//
//   YamlFields fields(node, "datasets.yaml", "imdb");
//   entry.path = fields.Demand("path");
//   if (fields.fault()) return *fields.fault();
#ifndef FROSTLINE_BASE_PLAIN_YAML_FIELDS_H_
#define FROSTLINE_BASE_PLAIN_YAML_FIELDS_H_

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/yaml_subset.h"

namespace frostline {

class YamlFields {
 public:
  // `node` must outlive this; `where` says whose block it is.
  YamlFields(const YamlNode& node, std::string file, std::string where);

  // It is empty, and a fault, when it is absent or no text.
  std::string Demand(std::string_view key);
  std::optional<std::string> Text(std::string_view key);
  std::optional<bool> Bool(std::string_view key);  // true, false
  std::vector<std::string> Words(std::string_view key);
  std::map<std::string, std::string> Pairs(std::string_view key);
  // It is null when it is absent or, with a fault, no map.
  const YamlNode* Map(std::string_view key);

  void KnowOnly(std::initializer_list<std::string_view> keys);
  void Fail(const YamlMark& mark, const std::string& what,
            const std::string& fix);

  const YamlNode& node() const { return node_; }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const YamlNode* Find(std::string_view key, YamlNode::Kind kind,
                       const std::string& form);

  const YamlNode& node_;
  std::string file_;
  std::string where_;
  std::optional<Fault> fault_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_FIELDS_H_
