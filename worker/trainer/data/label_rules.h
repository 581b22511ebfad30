// SPDX-License-Identifier: Apache-2.0
//
// File: label_rules.h
//
// Makes the labels of one set those of another: renames, merges and drops them.
//
//   {"0": neg, "1": pos}, drop neutral:  0 -> neg, neutral -> nothing, pos ->
//   pos
#ifndef FROSTLINE_WORKER_TRAINER_DATA_LABEL_RULES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_LABEL_RULES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

struct LabelRules {
  std::map<std::string, std::string, std::less<>> names;
  std::set<std::string, std::less<>> dropped;

  bool any() const { return !names.empty() || !dropped.empty(); }
  // Nothing where the label is dropped.
  std::optional<std::string_view> Apply(std::string_view label) const;
  // Says whether a rule is of this label.
  bool Has(std::string_view label) const {
    return names.contains(label) || dropped.contains(label);
  }

  friend bool operator==(const LabelRules&, const LabelRules&) = default;
};

// One after the other: a set's own, then the study's.
using LabelChain = std::vector<LabelRules>;
std::optional<std::string_view> Apply(const LabelChain& chain,
                                      std::string_view label);

// What becomes of a set's declared labels, each once, in their order.
std::vector<std::string> Apply(const LabelChain& chain,
                               const std::vector<std::string>& labels);

// Returns kMisuse, naming `where`, for a label that is mapped and dropped.
Expected<Done> Check(const LabelRules& rules, const std::string& where);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LABEL_RULES_H_
