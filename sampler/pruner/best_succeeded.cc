// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/best_succeeded.h"

#include <algorithm>

namespace frostline::sampler {
namespace {

bool IsFeasibleResult(const Observation& trial) {
  return std::none_of(trial.constraints.begin(), trial.constraints.end(),
                      [](double violation) { return violation > 0.0; });
}

}  // namespace

bool BestSucceeded::Offer(const History& history, std::size_t index) {
  ++trials_read_;
  const Observation& trial = history.trials()[index];
  const bool is_best = best_.has_value() && best_->index == index;
  if (trial.state != TrialState::kSucceeded || trial.values.empty() ||
      !IsFeasibleResult(trial)) {
    return !is_best;
  }
  const double loss = AsLoss(objective_, trial.values[0]);
  if (is_best && loss > best_->loss) return false;
  if (!best_.has_value() || loss < best_->loss ||
      (loss == best_->loss && index < best_->index)) {
    best_ = Best{.index = index, .loss = loss};
  }
  return true;
}

const Observation* BestSucceeded::In(const History& history) {
  bool is_void = history.revision() < revision_;
  for (; revision_ < history.revision() && !is_void; ++revision_) {
    is_void =
        !Offer(history, history.changes()[static_cast<std::size_t>(revision_)]);
  }
  if (is_void) {
    best_.reset();
    for (std::size_t i = 0; i < history.size(); ++i) Offer(history, i);
    revision_ = history.revision();
  }
  return best_.has_value() ? &history.trials()[best_->index] : nullptr;
}

}  // namespace frostline::sampler
