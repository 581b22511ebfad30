// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/best_trials.h"

#include <algorithm>
#include <utility>

namespace frostline::server {

// Of one objective the earlier of equals stays, so it beats the later one.
bool BestTrials::Beats(const Losses& a, const Losses& b) {
  ++comparisons_;
  return Dominates(a, b) || (objectives_.size() == 1 && a == b);
}

// Those before `after` are at least as good in the first objective.
bool BestTrials::IsDominated(const Losses& losses,
                             Front::const_iterator after) {
  for (auto before = after; before != front_.begin();) {
    --before;
    if (Beats(before->first, losses)) return true;
    // Of two losses the last before has the lowest second one. Its twins tell
    // nothing else.
    if (losses.size() <= 2) return false;
  }
  return false;
}

void BestTrials::DropDominated(const Losses& losses, Front::iterator from) {
  while (from != front_.end()) {
    if (Beats(losses, from->first)) {
      from = front_.erase(from);
    } else if (losses.size() <= 2) {
      return;  // the stair is below from here on
    } else {
      ++from;
    }
  }
}

bool BestTrials::Offer(std::int64_t number, const std::vector<double>& values) {
  const double violation =
      values.size() > objectives_.size() ? values.back() : 0.0;
  if (violation > least_violation_) return false;
  if (violation < least_violation_) front_.clear();
  least_violation_ = violation;
  Losses losses;
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    losses.push_back(AsLoss(objectives_[i], values[i]));
  }
  const auto after = front_.upper_bound(losses);
  if (IsDominated(losses, after)) return false;
  DropDominated(losses, after);
  front_.emplace(std::move(losses), number);  // behind its twins
  return true;
}

std::vector<std::int64_t> BestTrials::Numbers(std::size_t most) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(std::min(most, front_.size()));
  for (const auto& [losses, number] : front_) {
    if (numbers.size() == most) break;
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<BestTrials::Best> BestTrials::First() const {
  if (front_.empty()) return std::nullopt;
  const auto& [losses, number] = *front_.begin();
  Best best{.number = number, .values = {}};
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    // A loss of a loss is the value again.
    best.values.push_back(AsLoss(objectives_[i], losses[i]));
  }
  return best;
}

}  // namespace frostline::server
