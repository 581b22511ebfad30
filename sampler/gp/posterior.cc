// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/posterior.h"

#include <algorithm>
#include <utility>

namespace frostline {
namespace {

// How many leading rows are the same.
std::size_t CommonRows(const KernelRows& a, const KernelRows& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t common = 0;
  for (; common < most; ++common) {
    if (a.study[common] != b.study[common] ||
        a.doubt[common] != b.doubt[common]) {
      break;
    }
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

void LevelPosterior::Update(const KernelParameters& parameters, KernelRows rows,
                            std::span<const double> targets) {
  if (parameters != parameters_) {
    parameters_ = parameters;
    kernel_.emplace(axes_, parameters);
    factor_.Truncate(0);
  }
  factor_.Truncate(std::min(factor_.size(), CommonRows(rows, rows_)));
  rows_ = std::move(rows);
  for (std::size_t i = factor_.size(); i < rows_.size(); ++i) {
    factor_.Append(
        kernel_->CovarianceWith(rows_.At(i), rows_.study[i], rows_, i),
        kernel_->variance() + kernel_->noise() + rows_.doubt[i]);
  }
  weights_ = factor_.MultiplyTransposed(factor_.Multiply(targets));
}

double LevelPosterior::MeanAt(const Cells& at) const {
  return Dot(weights_, kernel_->CovarianceWith(at, 0, rows_, weights_.size()));
}

PosteriorWalk::PosteriorWalk(const LevelPosterior& posterior,
                             bool with_variance)
    : posterior_(posterior), with_variance_(with_variance) {}

void PosteriorWalk::Place(const Cells& at) {
  at_ = at;
  const LevelKernel& kernel = posterior_.kernel();
  const KernelRows& rows = posterior_.rows();
  KernelParts parts = kernel.PartsWith(at, rows, rows.size());
  products_ = std::move(parts.products);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts.sums[i] = kernel.TieOf(0, rows.study[i]) *
                    (parts.sums[i] + kernel.joint() * products_[i]);
  }
  const std::size_t told = posterior_.weights().size();
  mean_ = Dot(posterior_.weights(), std::span(parts.sums).first(told));
  if (with_variance_) whitened_ = posterior_.factor().Multiply(parts.sums);
}

Belief PosteriorWalk::Here() const {
  return {mean_, posterior_.kernel().variance() - Dot(whitened_, whitened_)};
}

void PosteriorWalk::GroupRows(std::size_t axis) {
  const LevelKernel& kernel = posterior_.kernel();
  const KernelRows& rows = posterior_.rows();
  const AxisTable& table = kernel.table(axis);
  const double* const factor = &table.factor[at_[axis] * table.cells];
  const std::vector<std::uint8_t>& cells = rows.cells[axis];
  const std::size_t n = rows.size();
  axis_ = axis;
  slopes_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    slopes_[i] = kernel.TieOf(0, rows.study[i]) *
                 (table.additive + kernel.joint() * table.strength *
                                       products_[i] / factor[cells[i]]);
  }
  mean_groups_.assign(table.cells, 0.0);
  for (std::size_t i = 0; i < posterior_.weights().size(); ++i) {
    mean_groups_[cells[i]] += posterior_.weights()[i] * slopes_[i];
  }
  if (!with_variance_) return;
  groups_.assign(n * table.cells, 0.0);
  for (std::size_t m = 0; m < n; ++m) {
    const double* const w = posterior_.factor().row(m).data();
    double* const sums = &groups_[m * table.cells];
    for (std::size_t i = 0; i <= m; ++i) sums[cells[i]] += w[i] * slopes_[i];
  }
}

std::vector<Belief> PosteriorWalk::Look(std::size_t axis,
                                        std::span<const int> cells) {
  GroupRows(axis);
  const AxisTable& table = posterior_.kernel().table(axis);
  const double* const now = &table.base[at_[axis] * table.cells];
  std::vector<Belief> beliefs;
  std::vector<double> change(table.cells);
  for (const int cell : cells) {
    const double* const then =
        &table.base[static_cast<std::size_t>(cell) * table.cells];
    for (std::size_t c = 0; c < table.cells; ++c) change[c] = then[c] - now[c];
    Belief belief{mean_ + Dot(change, mean_groups_),
                  posterior_.kernel().variance()};
    for (std::size_t m = 0; m < whitened_.size(); ++m) {
      const double* const sums = &groups_[m * table.cells];
      double whitened = whitened_[m];
      for (std::size_t c = 0; c < table.cells; ++c) {
        whitened += change[c] * sums[c];
      }
      belief.variance -= whitened * whitened;
    }
    beliefs.push_back(belief);
  }
  return beliefs;
}

void PosteriorWalk::Step(int cell) {
  const AxisTable& table = posterior_.kernel().table(axis_);
  const std::size_t from = at_[axis_] * table.cells;
  const std::size_t to = static_cast<std::size_t>(cell) * table.cells;
  const std::vector<std::uint8_t>& cells = posterior_.rows().cells[axis_];
  for (std::size_t c = 0; c < table.cells; ++c) {
    const double change = table.base[to + c] - table.base[from + c];
    mean_ += change * mean_groups_[c];
    for (std::size_t m = 0; m < whitened_.size(); ++m) {
      whitened_[m] += change * groups_[m * table.cells + c];
    }
  }
  for (std::size_t i = 0; i < products_.size(); ++i) {
    products_[i] *= table.factor[to + cells[i]] / table.factor[from + cells[i]];
  }
  at_[axis_] = static_cast<std::uint8_t>(cell);
}

}  // namespace frostline
