// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/best_trials.h"

#include <algorithm>
#include <utility>

namespace frostline::server {

void BestTrials::Offer(std::int64_t number, const std::vector<double>& values) {
  Entry offered{number, {}};
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    offered.losses.push_back(AsLoss(objectives_[i], values[i]));
  }
  for (const Entry& entry : front_) {
    const bool tie_of_one =
        objectives_.size() == 1 && entry.losses == offered.losses;
    if (tie_of_one || Dominates(entry.losses, offered.losses)) return;
  }
  std::erase_if(front_, [&offered](const Entry& entry) {
    return Dominates(offered.losses, entry.losses);
  });
  const auto place = std::upper_bound(
      front_.begin(), front_.end(), offered,
      [](const Entry& a, const Entry& b) { return a.losses < b.losses; });
  front_.insert(place, std::move(offered));
}

std::vector<std::int64_t> BestTrials::Numbers() const {
  std::vector<std::int64_t> numbers;
  for (const Entry& entry : front_) numbers.push_back(entry.number);
  return numbers;
}

}  // namespace frostline::server
