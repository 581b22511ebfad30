// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cells.h"

#include <algorithm>
#include <optional>

namespace frostline::sampler {
namespace {

CellTable::Use UseOf(const Observation& trial,
                     const std::optional<SplitKey>& key) {
  switch (trial.state) {
    case TrialState::kQueued:
      return CellTable::Use::kQueued;
    case TrialState::kRunning:
      return CellTable::Use::kRunning;
    case TrialState::kFailed:
    case TrialState::kInfeasible:
      return CellTable::Use::kFailed;
    default:
      return key.has_value() ? CellTable::Use::kResult : CellTable::Use::kNone;
  }
}

}  // namespace

void CellTable::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    Clear();
  }
  uses_.resize(history.size(), Use::kNone);
  hashes_.resize(history.size());
  cells_.resize(history.size() * axes_.size(), kNoCell);
  // Each trial once: one that was leased and ended since the last time is two
  // changes, and only what it is now can be seen of either.
  std::vector<std::uint32_t> changed(
      history.changes().begin() + static_cast<std::ptrdiff_t>(revision_),
      history.changes().end());
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (const std::uint32_t i : changed) {
    Forget(i);
    Learn(history.trials()[i], i);
  }
  revision_ = history.revision();
  if (stale_) Rebuild(history);
}

void CellTable::Clear() {
  revision_ = 0;
  results_ = failures_ = 0;
  uses_.clear();
  hashes_.clear();
  cells_.clear();
  shortlist_.Clear();
  running_.clear();
  tried_.clear();
}

void CellTable::Forget(std::uint32_t index) {
  const Use use = uses_[index];
  if (use == Use::kNone) return;
  if (use == Use::kResult) --results_;
  if (use == Use::kFailed) --failures_;
  if (use == Use::kResult || use == Use::kFailed) stale_ = true;
  if (use == Use::kRunning) {
    std::erase_if(running_,
                  [index](const auto& trial) { return trial.second == index; });
  }
  const auto tried = tried_.find(hashes_[index]);
  if (--tried->second == 0) tried_.erase(tried);
  uses_[index] = Use::kNone;
}

void CellTable::Learn(const Observation& trial, std::uint32_t index) {
  // Trials from another space tell nothing about this one.
  if (!space_.Check(trial.point).ok()) return;
  const Use use = UseOf(trial, SplitKeyOf(trial, objectives_));
  if (use == Use::kNone) return;
  uses_[index] = use;
  hashes_[index] = HashOf(trial.point);
  ++tried_[hashes_[index]];
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const double value = trial.point[a];
    cells_[index * axes_.size() + a] =
        IsAbsent(value) ? kNoCell : axes_[a].CellOf(value);
  }
  if (use == Use::kRunning) running_.emplace(trial.number, index);
  if (use == Use::kResult) ++results_;
  if (use == Use::kFailed) ++failures_;
  if (!stale_) Place(trial, index);
}

void CellTable::Place(const Observation& trial, std::uint32_t index) {
  const Use use = uses_[index];
  if (use != Use::kResult && use != Use::kFailed) return;
  shortlist_.AddToSample(trial.number, index);
  if (use == Use::kFailed) return;
  const SplitKey key = *SplitKeyOf(trial, objectives_);
  shortlist_.Rank({key.group, key.first, key.second, trial.number, index});
}

void CellTable::Rebuild(const History& history) {
  ++rebuilds_;
  shortlist_.Clear();
  for (std::uint32_t i = 0; i < history.size(); ++i) {
    Place(history.trials()[i], i);
  }
  stale_ = false;
}

std::uint64_t CellTable::HashOf(Point point) const {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (axes_[a].exact() && !IsAbsent(point[a])) {
      point[a] = static_cast<double>(axes_[a].CellOf(point[a]));
    }
  }
  return HashPoint(point);
}

std::size_t CellTable::TimesTried(const Point& point) const {
  const auto tried = tried_.find(HashOf(point));
  return tried == tried_.end() ? 0 : tried->second;
}

}  // namespace frostline::sampler
