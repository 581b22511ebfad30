// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cell_axis.h"

#include <algorithm>
#include <cmath>
#include <variant>

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

}  // namespace frostline::sampler
