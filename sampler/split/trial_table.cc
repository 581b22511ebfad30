// SPDX-License-Identifier: Apache-2.0
#include "sampler/split/trial_table.h"

namespace frostline::sampler {

void TrialTable::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    keys_.clear();
  }
  keys_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    const Observation& trial = history.trials()[i];
    std::optional<SplitKey> key = SplitKeyOf(trial, objectives_);
    // Trials from another space tell nothing about this one.
    if (key.has_value() && !space_.Check(trial.point).ok()) key.reset();
    keys_[i] = std::move(key);
  }
}

std::vector<KeyedTrial> TrialTable::List(const History& history,
                                         std::int64_t own,
                                         bool with_running) const {
  std::vector<KeyedTrial> trials;
  trials.reserve(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (!keys_[i].has_value() || history.trials()[i].number == own) continue;
    if (!with_running && keys_[i]->group == SplitGroup::kRunning) continue;
    trials.push_back({history.trials()[i].number, static_cast<std::uint32_t>(i),
                      &*keys_[i]});
  }
  return trials;
}

}  // namespace frostline::sampler
