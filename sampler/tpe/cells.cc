// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cells.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <variant>

#include "base/rng.h"

namespace frostline::sampler {
namespace {

// A rate without levels counts as this many of them.
constexpr double kLevelsOfARate = 7.0;

bool HasFrozen(const Domain& domain) {
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    return levels->rates.size() > 1 && levels->rates[0] == 0.0;
  }
  const auto* rate = std::get_if<LogUniform>(&domain);
  return rate != nullptr && rate->freeze;
}

}  // namespace

CellAxis::CellAxis(const Domain& domain, bool ordinal, double frozen_share)
    : range_(NumericRangeOf(domain)) {
  const bool is_levels = std::holds_alternative<Levels>(domain);
  ordered_ = range_.has_value() && (ordinal || !is_levels);
  frozen_ = ordered_ && HasFrozen(domain);
  const double count = CountValues(domain);
  exact_ = !ordered_ || is_levels || count <= static_cast<double>(kBins);
  if (exact_) {
    values_ = ListValues(domain);
    const double share = 1.0 / static_cast<double>(values_.size());
    prior_.assign(values_.size(), share);
    step_ = share;
    for (std::size_t c = 0; c < values_.size(); ++c) {
      place_.push_back(ordered_ ? ShareOfBox(values_[c])
                                : static_cast<double>(c) * share);
    }
    return;
  }
  step_ = 1.0 / kLevelsOfARate;
  if (frozen_) {
    prior_.push_back(frozen_share);
    place_.push_back(0.0);
  }
  const double rates = frozen_ ? 1.0 - frozen_share : 1.0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    prior_.push_back(rates / kBins);
    place_.push_back((static_cast<double>(bin) + 0.5) / kBins);
  }
}

bool CellAxis::SameShape(const CellAxis& other) const {
  return exact_ == other.exact_ && ordered_ == other.ordered_ &&
         frozen_ == other.frozen_ && prior_ == other.prior_ &&
         place_ == other.place_;
}

double CellAxis::ShareOfBox(double value) const {
  const double share = (range_->ToBox(value) - range_->box_lo) /
                       (range_->box_hi - range_->box_lo);
  // A box so wide that its width is no number has no inner places.
  return share >= 0.0 ? std::min(share, 1.0) : 0.0;
}

Cell CellAxis::CellOf(double value) const {
  if (!exact_) {
    if (frozen_ && value == 0.0) return 0;
    const auto bin = static_cast<std::size_t>(ShareOfBox(value) * kBins);
    return static_cast<Cell>(std::min(bin, kBins - 1) + (frozen_ ? 1 : 0));
  }
  const auto above = std::upper_bound(values_.begin(), values_.end(), value);
  std::size_t cell = static_cast<std::size_t>(above - values_.begin());
  if (cell == values_.size()) --cell;
  // Stepped values carry the rounding of whoever computed them.
  if (cell > 0 && value - values_[cell - 1] < values_[cell] - value) --cell;
  return static_cast<Cell>(cell);
}

double CellAxis::ValueIn(Cell cell, Rng& rng) const {
  if (exact_) return values_[cell];
  if (frozen_ && cell == 0) return 0.0;
  const double bin = static_cast<double>(cell) - (frozen_ ? 1.0 : 0.0);
  const double share = (bin + rng.Uniform()) / kBins;
  return range_->FromBox(range_->box_lo +
                         share * (range_->box_hi - range_->box_lo));
}

namespace {

bool IsBetterTrial(const RankedTrial& a, const RankedTrial& b) {
  return std::tie(a.group, a.first, a.second, a.number) <
         std::tie(b.group, b.first, b.second, b.number);
}

// Which trials are in the sample depends on their numbers alone.
std::uint64_t Lot(std::int64_t number) {
  return Rng(static_cast<std::uint64_t>(number)).Next();
}

}  // namespace

void TrialShortlist::AddToSample(std::int64_t number, std::uint32_t index) {
  const std::pair lot{Lot(number), index};
  sample_.insert(std::upper_bound(sample_.begin(), sample_.end(), lot), lot);
  if (sample_.size() > kSample + kBest) sample_.pop_back();
}

void TrialShortlist::Rank(const RankedTrial& trial) {
  best_.insert(
      std::upper_bound(best_.begin(), best_.end(), trial, IsBetterTrial),
      trial);
  if (best_.size() > kBest) best_.pop_back();
}

void TrialShortlist::Clear() {
  best_.clear();
  sample_.clear();
}

std::vector<std::uint32_t> TrialShortlist::Sample() const {
  std::vector<std::uint32_t> sample;
  sample.reserve(sample_.size());
  for (const auto& [lot, index] : sample_) sample.push_back(index);
  return sample;
}

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
