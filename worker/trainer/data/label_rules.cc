// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/label_rules.h"

#include <algorithm>

#include "base/plain/text.h"

namespace frostline::trainer {

std::optional<std::string_view> LabelRules::Apply(
    std::string_view label) const {
  if (dropped.contains(label)) return std::nullopt;
  const auto found = names.find(label);
  return found == names.end() ? label : std::string_view(found->second);
}

std::optional<std::string_view> Apply(const LabelChain& chain,
                                      std::string_view label) {
  std::optional<std::string_view> name = label;
  for (const LabelRules& rules : chain) {
    if (name) name = rules.Apply(*name);
  }
  return name;
}

std::vector<std::string> Apply(const LabelChain& chain,
                               const std::vector<std::string>& labels) {
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    const std::optional<std::string_view> name = Apply(chain, label);
    if (!name || std::ranges::find(names, *name) != names.end()) continue;
    names.emplace_back(*name);
  }
  return names;
}

Expected<Done> Check(const LabelRules& rules, const std::string& where) {
  for (const std::string& label : rules.dropped) {
    if (!rules.names.contains(label)) continue;
    return Fault{FaultKind::kMisuse,
                 where + "drop_labels drops " + Shown(label) + ", which " +
                     where + "label_map renames",
                 "do one of the two"};
  }
  for (const auto& [label, name] : rules.names) {
    if (!name.empty()) continue;
    return Fault{FaultKind::kMisuse,
                 where + "label_map gives " + Shown(label) + " no name",
                 "drop it: drop_labels: [" + label + "]"};
  }
  return Done{};
}

}  // namespace frostline::trainer
