// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
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

namespace {

// Rows can be divided by; nobody can tell such a likeness from none.
constexpr double kLeast = 1e-12;

}  // namespace

CellKernel::CellKernel(const CellAxis& axis, double width, double frozen_steps)
    : axis_(axis), width_(width), frozen_steps_(frozen_steps) {
  const std::size_t cells = axis_.cells();
  for (std::size_t bins = 0; !axis_.exact() && bins < CellAxis::kBins; ++bins) {
    const double z = static_cast<double>(bins) / CellAxis::kBins / width_;
    near_.push_back(std::exp(-0.5 * z * z));
  }
  rows_.resize(cells);
  up_to_.resize(cells);
  norm_.assign(cells, 0.0);
  const double other = cells > 1 ? Likeness(0, 1) : 0.0;
  for (std::size_t c = 0; c < cells; ++c) {
    if (!axis_.ordered()) {
      norm_[c] = axis_.prior(c) + (1.0 - axis_.prior(c)) * other;
      continue;
    }
    for (std::size_t x = 0; x < cells; ++x) {
      norm_[c] += axis_.prior(x) * Likeness(c, x);
    }
    // A center whose cells all have no prior: it says nothing.
    norm_[c] = std::max(norm_[c], 1e-300);
  }
}

double CellKernel::Likeness(std::size_t center, std::size_t x) const {
  if (!axis_.ordered()) {
    const double others = static_cast<double>(axis_.cells()) - 1.0;
    return center == x ? 1.0 : std::min(1.0, 3.0 * width_ / others);
  }
  if (center == x) return 1.0;
  const bool frozen = axis_.frozen() && (center == 0 || x == 0);
  if (!frozen && !near_.empty()) {
    return near_[center > x ? center - x : x - center];
  }
  double distance = std::abs(axis_.place(center) - axis_.place(x));
  if (frozen) {
    const std::size_t rate = std::max(center, x);
    distance =
        axis_.place(rate) - axis_.place(1) + frozen_steps_ * axis_.step();
  }
  const double z = distance / width_;
  return std::exp(-0.5 * z * z);
}

double CellKernel::Probability(Cell center, Cell x) const {
  return axis_.prior(x) * Likeness(center, x) / norm_[center];
}

const CellKernel::Row& CellKernel::RowOf(Cell x) {
  std::unique_ptr<Row>& row = rows_[x];
  if (row != nullptr) return *row;
  row = std::make_unique<Row>();
  row->ratio.resize(axis_.cells());
  double largest = 0.0;
  for (std::size_t c = 0; c < axis_.cells(); ++c) {
    row->ratio[c] = Likeness(c, x) / norm_[c];
    largest = std::max(largest, row->ratio[c]);
  }
  for (double& ratio : row->ratio) ratio = std::max(ratio / largest, kLeast);
  row->log_scale = std::log(largest);
  return *row;
}

Cell CellKernel::Draw(Cell center, Rng& rng) {
  std::vector<double>& up_to = up_to_[center];
  if (up_to.empty()) {
    double sum = 0.0;
    for (std::size_t x = 0; x < axis_.cells(); ++x) {
      sum += Probability(center, static_cast<Cell>(x));
      up_to.push_back(sum);
    }
  }
  const double u = rng.Uniform() * up_to.back();
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), u);
  const auto cell = static_cast<std::size_t>(found - up_to.begin());
  return static_cast<Cell>(std::min(cell, axis_.cells() - 1));
}

KernelCache::KernelCache(const std::vector<CellAxis>& axes) : axes_(axes) {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::size_t first = 0;
    while (!axes_[first].SameShape(axes_[a])) ++first;
    shape_.push_back(first);
  }
}

CellKernel& KernelCache::Get(std::size_t axis, double width,
                             double frozen_steps) {
  const std::size_t shape = shape_[axis];
  const int octave = static_cast<int>(std::lround(4.0 * std::log2(width)));
  if (!axes_[shape].frozen()) frozen_steps = 1.0;
  std::unique_ptr<CellKernel>& kernel = kernels_[{shape, octave, frozen_steps}];
  if (kernel == nullptr) {
    kernel = std::make_unique<CellKernel>(axes_[shape], std::exp2(octave / 4.0),
                                          frozen_steps);
  }
  return *kernel;
}

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

double LogOf(double x) { return x > 0.0 ? std::log(x) : kNever; }

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

void MultiplyBy(const AxisFactor& f, std::vector<double>& products) {
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= f.row[f.centers[k]];
  }
}

// Multiplies by four axes in one pass. The products, which are most of the work
// of a proposal, are read and written once instead of four times.
void MultiplyBy(const std::array<AxisFactor, kFactors>& f,
                std::vector<double>& products) {
  const auto [a, b, c, d] = f;
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= (a.row[a.centers[k]] * b.row[b.centers[k]]) *
                   (c.row[c.centers[k]] * d.row[d.centers[k]]);
  }
}

// Four sums side by side: additions need not wait for each other.
double SumOfProducts(const double* a, const double* b, std::size_t size) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void SeparateMixture::Finish(const std::vector<CellAxis>& axes,
                             const std::vector<std::vector<Cell>>& columns,
                             const std::vector<double>& weights, double prior,
                             double sum) {
  centers_.resize(axes.size());
  log_ratios_.resize(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::size_t cells = axes[a].cells();
    centers_[a].assign(cells + 1, 0.0);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      centers_[a][columns[a][k]] += weights[k];
    }
    log_ratios_[a].assign(cells, kUnknown);
    // Only trials in which the parameter had a value speak for it.
    const double present = sum - centers_[a][cells];
    for (double& weight : centers_[a]) weight /= present;
    centers_[a][cells] = prior / present;
  }
}

double SeparateMixture::LogRatio(std::size_t axis, Cell x, CellKernel& kernel) {
  double& log_ratio = log_ratios_[axis][x];
  if (!std::isnan(log_ratio)) return log_ratio;
  const CellKernel::Row& row = kernel.RowOf(x);
  const std::vector<double>& centers = centers_[axis];
  const double near =
      SumOfProducts(centers.data(), row.ratio.data(), row.ratio.size());
  log_ratio = std::log(centers.back() + near * std::exp(row.log_scale));
  return log_ratio;
}

CellDensity::CellDensity(const std::vector<CellAxis>& axes,
                         std::vector<CellKernel*> kernels, Settings settings)
    : axes_(axes),
      kernels_(std::move(kernels)),
      settings_(settings),
      columns_(axes.size()),
      has_absent_(axes.size(), false),
      scratch_(axes.size()) {}

void CellDensity::Add(std::span<const Cell> cells, double weight) {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const bool absent = cells[a] == kNoCell;
    if (absent) has_absent_[a] = true;
    // Absent ones look up the entry behind the last cell.
    columns_[a].push_back(absent ? static_cast<Cell>(axes_[a].cells())
                                 : cells[a]);
  }
  weights_.push_back(weight);
}

void CellDensity::Reserve(std::size_t trials) {
  for (std::vector<Cell>& column : columns_) column.reserve(trials);
  weights_.reserve(trials);
}

void CellDensity::Finish() {
  double sum = settings_.prior_weight;
  for (const double weight : weights_) sum += weight;
  separate_.Finish(axes_, columns_, weights_, settings_.prior_weight, sum);
  mass_ = sum;
  double up_to = 0.0;
  for (double& weight : weights_) {
    weight /= sum;
    up_to_.push_back(up_to += weight);
  }
}

double CellDensity::LogSeparate(std::size_t axis, Cell x) {
  return separate_.LogRatio(axis, x, *kernels_[axis]);
}

Cell CellDensity::At(std::size_t axis, std::size_t kernel) const {
  const Cell cell = columns_[axis][kernel];
  return cell == axes_[axis].cells() ? kNoCell : cell;
}

std::span<const double> CellDensity::Row(std::size_t axis, Cell x) {
  const CellKernel::Row& row = kernels_[axis]->RowOf(x);
  if (!has_absent_[axis]) return row.ratio;
  std::vector<double>& copy = scratch_[axis];
  copy.assign(row.ratio.begin(), row.ratio.end());
  copy.push_back(std::exp(LogSeparate(axis, x) - row.log_scale));
  return copy;
}

double CellDensity::Mix(double log_together, double log_separate) const {
  const double a = settings_.separate_share;
  const double prior =
      up_to_.empty() ? 1.0 : std::max(0.0, 1.0 - up_to_.back());
  return LogAdd(LogOf(1.0 - a) + LogAdd(log_together, LogOf(prior)),
                LogOf(a) + log_separate);
}

double CellDensity::LogRatio(const CellRow& x) {
  products_ = weights_;
  log_scale_ = 0.0;
  log_separate_ = 0.0;
  std::array<AxisFactor, kFactors> factors;
  std::size_t waiting = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (x[a] == kNoCell) continue;
    factors[waiting++] = {Row(a, x[a]).data(), columns_[a].data()};
    if (waiting == kFactors) {
      MultiplyBy(factors, products_);
      waiting = 0;
    }
    log_scale_ += kernels_[a]->RowOf(x[a]).log_scale;
    log_separate_ += LogSeparate(a, x[a]);
  }
  for (std::size_t f = 0; f < waiting; ++f) MultiplyBy(factors[f], products_);
  double sum = 0.0;
  for (const double product : products_) sum += product;
  return Mix(LogOf(sum) + log_scale_, log_separate_);
}

void CellDensity::LogRatiosOfMoves(const CellRow& x, std::size_t axis,
                                   std::vector<double>& out) {
  const std::size_t cells = axes_[axis].cells();
  // What every center would contribute if the axis did not count.
  std::vector<double> others(cells + 1, 0.0);
  const std::span<const double> row = Row(axis, x[axis]);
  std::vector<double> inverse(row.begin(), row.end());
  for (double& ratio : inverse) ratio = 1.0 / ratio;
  for (std::size_t k = 0; k < products_.size(); ++k) {
    const Cell center = columns_[axis][k];
    others[center] += products_[k] * inverse[center];
  }
  const double scale = log_scale_ - kernels_[axis]->RowOf(x[axis]).log_scale;
  const double separate = log_separate_ - LogSeparate(axis, x[axis]);
  out.resize(cells);
  for (std::size_t v = 0; v < cells; ++v) {
    const auto cell = static_cast<Cell>(v);
    const std::span<const double> moved = Row(axis, cell);
    double sum = 0.0;
    for (std::size_t c = 0; c < moved.size(); ++c) sum += others[c] * moved[c];
    out[v] = Mix(LogOf(sum) + scale + kernels_[axis]->RowOf(cell).log_scale,
                 separate + LogSeparate(axis, cell));
  }
}

std::size_t CellDensity::DrawKernel(Rng& rng) const {
  const auto found =
      std::upper_bound(up_to_.begin(), up_to_.end(), rng.Uniform());
  return static_cast<std::size_t>(found - up_to_.begin());
}

}  // namespace frostline::sampler
