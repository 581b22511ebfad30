// SPDX-License-Identifier: Apache-2.0
#include "surrogate/growing_surrogate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "surrogate/scales.h"

namespace frostline::surrogate {

double Dot(std::span<const double> a, std::span<const double> b) {
  // Eight sums at once, so that no addition waits for the one before it.
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
         ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

void InverseFactor::Append(std::span<const double> covariance,
                           double variance) {
  const std::vector<double> l = Multiply(covariance.first(size_));
  const double rest = variance - Dot(l, l);
  const double pivot = std::sqrt(std::max(rest, 1e-9 * variance));
  std::vector<double> below = MultiplyTransposed(l);
  inverse_.reserve(inverse_.size() + size_ + 1);
  for (const double element : below) inverse_.push_back(-element / pivot);
  inverse_.push_back(1.0 / pivot);
  pivots_.push_back(pivot);
  ++size_;
}

void InverseFactor::Truncate(std::size_t size) {
  size_ = size;
  inverse_.resize(size * (size + 1) / 2);
  pivots_.resize(size);
}

std::vector<double> InverseFactor::Multiply(std::span<const double> v) const {
  std::vector<double> product(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    product[i] = Dot(row(i), v.first(i + 1));
  }
  return product;
}

std::vector<double> InverseFactor::MultiplyTransposed(
    std::span<const double> v) const {
  std::vector<double> product(v.size(), 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double factor = v[i];
    const double* const w = row(i).data();
    double* const sums = product.data();
    for (std::size_t j = 0; j <= i; ++j) sums[j] += factor * w[j];
  }
  return product;
}

namespace {

// How many leading rows are the same.
std::size_t CommonRows(const RowColumns& a, const RowColumns& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t common = 0;
  for (; common < most && a.doubt[common] == b.doubt[common]; ++common) {
    const bool same =
        std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(),
                   [common](const auto& x, const auto& y) {
                     return x[common] == y[common];
                   });
    if (!same) break;
  }
  return common;
}

}  // namespace

bool GrowingSurrogate::Learn(Rows sample, const SurrogateOptions& options) {
  SurrogateOptions of_mode = options;
  of_mode.scale_draws = 1;
  const Surrogate learnt(std::move(sample), of_mode);
  if (options.stop.stop_requested()) return false;
  PointKernel kernel = PointKernelOf(*learnt.parts().draws.front().evidence,
                                     learnt.parts().standard.rows.terms);
  kernel_ = std::move(kernel);
  spread_ = learnt.spread_of_rows();
  factor_.Truncate(0);
  return true;
}

bool GrowingSurrogate::Condition(RowColumns rows,
                                 std::span<const double> values,
                                 const std::stop_token& stop) {
  factor_.Truncate(std::min(factor_.size(), CommonRows(rows, rows_)));
  rows_ = std::move(rows);
  for (std::size_t i = factor_.size(); i < rows_.size(); ++i) {
    if (stop.stop_requested()) return false;
    const Cells at = rows_.At(i);
    factor_.Append(PointSums(kernel_, rows_, at, i).covariance,
                   VarianceAt(kernel_, at) + NoiseOf(i));
  }
  weights_ = factor_.MultiplyTransposed(factor_.Multiply(values));
  return true;
}

double GrowingSurrogate::MeanAt(const Cells& at) const {
  return Dot(weights_,
             PointSums(kernel_, rows_, at, weights_.size()).covariance);
}

PointWalk::PointWalk(const GrowingSurrogate& surrogate, bool with_variance)
    : surrogate_(surrogate), with_variance_(with_variance) {}

void PointWalk::Place(const Cells& at) {
  at_ = at;
  at_.resize(surrogate_.kernel().axes(), 0);
  sums_ = PointSums(surrogate_.kernel(), surrogate_.rows(), at_,
                    surrogate_.rows().size());
  const std::size_t told = surrogate_.weights().size();
  mean_ = Dot(surrogate_.weights(), std::span(sums_.covariance).first(told));
  if (with_variance_) {
    whitened_ = surrogate_.factor().Multiply(sums_.covariance);
  }
}

Belief PointWalk::Here() const {
  if (!with_variance_) return {mean_, 0.0};
  return {mean_,
          VarianceAt(surrogate_.kernel(), at_) - Dot(whitened_, whitened_)};
}

void PointWalk::FindSlopes(std::size_t axis) {
  const PointKernel& kernel = surrogate_.kernel();
  const RowColumns& rows = surrogate_.rows();
  const double* const now = kernel.Row(axis, at_);
  const std::vector<std::uint8_t>& cells = rows.cells[axis];
  const double main = kernel.main[axis], joint = kernel.joint[axis];
  axis_ = axis;
  slopes_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double z = joint * now[cells[i]];
    const double e1 = sums_.e1[i] - z;
    slopes_[i] = main + joint * (e1 + kernel.triples * (sums_.e2[i] - z * e1));
  }
  for (const PointKernel::PairTerm& pair : kernel.pairs) {
    if (pair.first != axis && pair.second != axis) continue;
    const std::size_t other = pair.first == axis ? pair.second : pair.first;
    const double* const beside = kernel.Row(other, at_);
    const double more = joint * pair.more * kernel.joint[other];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      slopes_[i] += more * beside[rows.cells[other][i]];
    }
  }
}

void PointWalk::GroupRows() {
  const std::size_t count = surrogate_.kernel().cells[axis_];
  const std::vector<std::uint8_t>& cells = surrogate_.rows().cells[axis_];
  mean_groups_.assign(count, 0.0);
  for (std::size_t i = 0; i < surrogate_.weights().size(); ++i) {
    mean_groups_[cells[i]] += surrogate_.weights()[i] * slopes_[i];
  }
  if (!with_variance_) return;
  const std::size_t n = slopes_.size();
  groups_.assign(n * count, 0.0);
  for (std::size_t m = 0; m < n; ++m) {
    const double* const w = surrogate_.factor().row(m).data();
    double* const sums = &groups_[m * count];
    for (std::size_t i = 0; i <= m; ++i) sums[cells[i]] += w[i] * slopes_[i];
  }
}

double PointWalk::PriorWith(int cell) const {
  Cells at = at_;
  at[axis_] = static_cast<std::uint8_t>(cell);
  return VarianceAt(surrogate_.kernel(), at);
}

std::vector<Belief> PointWalk::Look(std::size_t axis,
                                    std::span<const int> cells) {
  FindSlopes(axis);
  GroupRows();
  const PointKernel& kernel = surrogate_.kernel();
  const std::size_t count = kernel.cells[axis];
  const double* const now = kernel.Row(axis, at_);
  std::vector<Belief> beliefs;
  std::vector<double> change(count);
  for (const int cell : cells) {
    const double* const then =
        kernel.tables[axis].data() + static_cast<std::size_t>(cell) * count;
    for (std::size_t c = 0; c < count; ++c) change[c] = then[c] - now[c];
    Belief belief{mean_ + Dot(change, mean_groups_), 0.0};
    if (with_variance_) belief.variance = PriorWith(cell);
    for (std::size_t m = 0; m < whitened_.size(); ++m) {
      const double* const sums = &groups_[m * count];
      double whitened = whitened_[m];
      for (std::size_t c = 0; c < count; ++c) whitened += change[c] * sums[c];
      belief.variance -= whitened * whitened;
    }
    beliefs.push_back(belief);
  }
  return beliefs;
}

void PointWalk::Step(int cell) {
  const PointKernel& kernel = surrogate_.kernel();
  const std::size_t count = kernel.cells[axis_];
  const double* const from = kernel.Row(axis_, at_);
  const double* const to =
      kernel.tables[axis_].data() + static_cast<std::size_t>(cell) * count;
  const double joint = kernel.joint[axis_];
  for (std::size_t c = 0; c < count; ++c) {
    const double change = to[c] - from[c];
    mean_ += change * mean_groups_[c];
    for (std::size_t m = 0; m < whitened_.size(); ++m) {
      whitened_[m] += change * groups_[m * count + c];
    }
  }
  const std::vector<std::uint8_t>& cells = surrogate_.rows().cells[axis_];
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double change = joint * (to[cells[i]] - from[cells[i]]);
    const double others = sums_.e1[i] - joint * from[cells[i]];
    sums_.e2[i] += change * others;
    sums_.e1[i] += change;
  }
  at_[axis_] = static_cast<std::uint8_t>(cell);
}

}  // namespace frostline::surrogate
