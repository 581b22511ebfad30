// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/label_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {

Expected<LabelSet> LabelSet::FromList(const std::vector<std::string>& names) {
  LabelSet set;
  if (names.size() > kMaxLabels) {
    return Fault{FaultKind::kTooLarge, "there are more than 10,000 labels",
                 "name fewer"};
  }
  for (const std::string& name : names) {
    if (set.Find(name)) {
      return Fault{FaultKind::kInconsistent,
                   "label " + Shown(name) + " is there twice",
                   "name each label once"};
    }
    set.FindOrAdd(name);
  }
  return set;
}

std::optional<std::int32_t> LabelSet::Find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::int32_t LabelSet::FindOrAdd(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::int32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

std::vector<std::int32_t> LabelSet::Sort() {
  std::vector<std::optional<double>> numbers;
  numbers.reserve(names_.size());
  for (const std::string& name : names_) numbers.push_back(ParseNumber(name));
  const bool numeric =
      std::all_of(numbers.begin(), numbers.end(),
                  [](const auto& number) { return number.has_value(); });
  std::vector<std::size_t> order(names_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (numeric && *numbers[a] != *numbers[b]) return *numbers[a] < *numbers[b];
    return names_[a] < names_[b];
  });
  std::vector<std::int32_t> new_ids(names_.size());
  std::vector<std::string> sorted;
  for (const std::size_t old : order) {
    const auto id = static_cast<std::int32_t>(sorted.size());
    new_ids[old] = id;
    ids_[names_[old]] = id;
    sorted.push_back(names_[old]);
  }
  names_ = std::move(sorted);
  return new_ids;
}

std::string ListOfLabels(const LabelSet& labels) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(labels.size(), kShown); ++i) {
    list += (i > 0 ? ", " : "") + Shown(labels.names()[i]);
  }
  if (labels.size() > kShown) {
    list += " and " + std::to_string(labels.size() - kShown) + " more";
  }
  return list;
}

}  // namespace frostline::trainer
