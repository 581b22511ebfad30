// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_trials.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sampler/optuna/compat_volume.h"

namespace frostline::sampler {
namespace {

bool IsRunning(const SplitKey& key) {
  return key.group == SplitGroup::kRunning;
}

// Version 4 has constraints for all trials or for none, and a trial without
// values for them is behind all others.
SplitKey UnconstrainedKey() {
  SplitKey key;
  key.group = SplitGroup::kInfeasible;
  key.first = std::numeric_limits<double>::infinity();
  return key;
}

}  // namespace

void CompatTrials::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    known_.clear();
  }
  known_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    const Observation& trial = history.trials()[i];
    known_[i].reset();
    if (trial.state == TrialState::kInfeasible) continue;
    std::optional<SplitKey> key = SplitKeyOf(trial, objectives_);
    // Trials from another space tell nothing about this one.
    if (!key.has_value() || !space_.space().Check(trial.point).ok()) continue;
    known_[i] = Known{*std::move(key), space_.RowOf(trial.point)};
  }
}

CompatView CompatTrials::Look(const History& history, std::int64_t own,
                              bool with_running, OptunaVersion version) const {
  static const SplitKey kUnconstrained = UnconstrainedKey();
  const bool v4 = version == OptunaVersion::kV4;
  std::vector<KeyedTrial> trials;
  std::size_t ended = 0;
  bool constrained = false;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i].has_value()) continue;
    const Observation& trial = history.trials()[i];
    const bool running = IsRunning(known_[i]->key);
    if (running && (!with_running || trial.number == own)) continue;
    trials.push_back(
        {trial.number, static_cast<std::uint32_t>(i), &known_[i]->key});
    ended += running ? 0 : 1;
    constrained |= !running && !trial.constraints.empty();
  }
  for (KeyedTrial& trial : trials) {
    if (v4 && constrained && !IsRunning(*trial.key) &&
        history.trials()[trial.index].constraints.empty()) {
      trial.key = &kUnconstrained;
    }
  }
  // Version 4 stops at 25 good trials with several objectives too.
  const Split split = SplitTrials(
      std::move(trials), CountBelow(ended, v4 ? 1 : objectives_.size()));
  CompatView view;
  view.below = RowsOf(split.below);
  view.above = RowsOf(split.above);
  if (objectives_.size() > 1) {
    view.below_weights =
        v4 ? CompatVolumeWeights(history, split.below, objectives_)
           : std::vector<double>(split.below.size(), 1.0);
  }
  view.ended = EndedOf(history);
  return view;
}

std::vector<const CompatRow*> CompatTrials::RowsOf(
    const std::vector<std::uint32_t>& trials) const {
  std::vector<const CompatRow*> rows;
  rows.reserve(trials.size());
  for (const std::uint32_t i : trials) rows.push_back(&known_[i]->row);
  return rows;
}

std::vector<const CompatRow*> CompatTrials::EndedOf(
    const History& history) const {
  std::vector<std::pair<std::int64_t, const CompatRow*>> numbered;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i].has_value() || IsRunning(known_[i]->key)) continue;
    numbered.emplace_back(history.trials()[i].number, &known_[i]->row);
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<const CompatRow*> rows;
  rows.reserve(numbered.size());
  for (const auto& [number, row] : numbered) rows.push_back(row);
  return rows;
}

}  // namespace frostline::sampler
