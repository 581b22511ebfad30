// SPDX-License-Identifier: Apache-2.0
#include "surrogate/scales.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace frostline::surrogate {

ScalePrior UsualScales(std::size_t axes, std::size_t pairs,
                       const Usual& usual) {
  ScalePrior prior;
  prior.mean.resize(ScaleCount(axes, pairs));
  prior.deviation.resize(ScaleCount(axes, pairs));
  const auto set = [&prior](Index at, double mean, double deviation) {
    prior.mean[at] = mean;
    prior.deviation[at] = deviation;
  };
  const double n = static_cast<double>(axes);
  set(kNoise, std::log(usual.noise), 1.5);
  set(kLength, std::log(usual.length), usual.length_deviation);
  set(kGap, 0.0, 0.8);
  set(kTriples, std::log(0.5), 1.0);
  for (std::size_t a = 0; a < axes; ++a) {
    set(MainScale(a), std::log(usual.main / n), usual.main_deviation);
    set(JointScale(a, axes), std::log(usual.joint / n), 1.2);
  }
  for (std::size_t p = 0; p < pairs; ++p) set(PairScale(p, axes), 0.0, 1.5);
  return prior;
}

AxisKernels::AxisKernels(const std::vector<Axis>& axes, double length,
                         double gap) {
  tables_.reserve(axes.size());
  for (const Axis& axis : axes) {
    const auto n = static_cast<Index>(axis.cells());
    const CellTable table = KernelOf(axis, length, gap);
    tables_.emplace_back(Eigen::Map<const MatrixXd>(table.data(), n, n));
  }
}

MatrixXd AxisKernels::Beside(std::size_t axis,
                             const std::vector<Cells>& a) const {
  const MatrixXd& table = tables_[axis];
  MatrixXd rows(static_cast<Index>(a.size()), table.cols());
  for (std::size_t i = 0; i < a.size(); ++i) {
    rows.row(static_cast<Index>(i)) = table.row(a[i][axis]);
  }
  return rows;
}

MatrixXd AxisKernels::Between(std::size_t axis, const std::vector<Cells>& a,
                              const std::vector<Cells>& b) const {
  const MatrixXd rows = Beside(axis, a);
  MatrixXd between(rows.rows(), static_cast<Index>(b.size()));
  for (std::size_t j = 0; j < b.size(); ++j) {
    between.col(static_cast<Index>(j)) = rows.col(b[j][axis]);
  }
  return between;
}

namespace {

// Two numbers at a time, which every processor of today can.
using Lanes [[gnu::vector_size(16)]] = double;
constexpr std::size_t kLanes = 2;
constexpr std::size_t kRows = 2 * kLanes;  // so that no sum waits for itself

Lanes Load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

}  // namespace

// Columns of an axis' kernel, between all points of a and one cell, times its
// two scales. The points of b share these few columns.
class AxisColumns {
 public:
  AxisColumns(const MatrixXd& table, double main, double joint)
      : table_(table),
        main_(main),
        joint_(joint),
        columns_(static_cast<std::size_t>(table.cols())) {}

  // First main[i] of all rows, then joint[i], each filled up to whole kRows.
  const double* Column(std::size_t axis, std::size_t cell,
                       const std::vector<Cells>& a) {
    std::vector<double>& column = columns_[cell];
    if (!column.empty()) return column.data();
    const std::size_t rows = PaddedRows(a.size());
    column.resize(2 * rows, 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double k = table_(a[i][axis], static_cast<Index>(cell));
      column[i] = main_ * k;
      column[rows + i] = joint_ * k;
    }
    return column.data();
  }
  static std::size_t PaddedRows(std::size_t rows) {
    return (rows + kRows - 1) / kRows * kRows;
  }

 private:
  const MatrixXd& table_;
  const double main_;
  const double joint_;
  std::vector<std::vector<double>> columns_;  // by cell
};

namespace {

struct RowSums {
  Lanes main = {}, e1 = {}, e2 = {}, e3 = {};

  // One axis more: each sum takes what the one below it was without it.
  void Add(Lanes of_main, Lanes of_joint) {
    e3 += of_joint * e2;
    e2 += of_joint * e1;
    e1 += of_joint;
    main += of_main;
  }
  // Adds up as GramParts::Sum does; `at` has what pairs add.
  void StoreAll(Lanes triples, double* at) const {
    const Lanes all = main + e2 + Load(at) + triples * e3;
    std::memcpy(at, &all, sizeof(all));
  }
  void Store(Index row, Index column, GramParts& parts) const {
    for (std::size_t k = 0; k < kLanes; ++k, ++row) {
      if (row >= parts.main.rows()) return;
      parts.main(row, column) = main[k];
      parts.e1(row, column) = e1[k];
      parts.e2(row, column) = e2[k];
      parts.e3(row, column) = e3[k];
    }
  }
};

// Sums all axes of one column, a few rows at a time, so the sums never leave
// the processor.
void SumAxes(const std::vector<const double*>& axes, std::size_t padded,
             Index column, GramParts& parts) {
  for (std::size_t row = 0; row < padded; row += kRows) {
    RowSums first, second;
    for (const double* const axis : axes) {
      const double* const main = axis + row;
      const double* const joint = main + padded;
      first.Add(Load(main), Load(joint));
      second.Add(Load(main + kLanes), Load(joint + kLanes));
    }
    first.Store(static_cast<Index>(row), column, parts);
    second.Store(static_cast<Index>(row + kLanes), column, parts);
  }
}

std::vector<AxisColumns> ColumnsOf(const AxisKernels& kernels,
                                   const Terms& terms, const VectorXd& scales) {
  std::vector<AxisColumns> columns;
  columns.reserve(terms.axes);
  for (std::size_t axis = 0; axis < terms.axes; ++axis) {
    columns.emplace_back(kernels.table(axis), std::exp(scales[MainScale(axis)]),
                         std::exp(scales[JointScale(axis, terms.axes)]));
  }
  return columns;
}

// What a pair's own factor adds, before both kernels.
double PairFactor(const Terms& terms, const VectorXd& scales,
                  std::size_t pair) {
  const auto [first, second] = terms.pairs[pair];
  return std::expm1(scales[PairScale(pair, terms.axes)]) *
         std::exp(scales[JointScale(first, terms.axes)] +
                  scales[JointScale(second, terms.axes)]);
}

}  // namespace

GramParts PartsOf(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const std::vector<Cells>& a,
                  const std::vector<Cells>& b) {
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  GramParts parts{MatrixXd(n, m), MatrixXd(n, m), MatrixXd(n, m),
                  MatrixXd(n, m), MatrixXd::Zero(n, m)};
  std::vector<AxisColumns> columns = ColumnsOf(kernels, terms, scales);
  std::vector<const double*> at(terms.axes);
  for (std::size_t j = 0; j < b.size(); ++j) {
    for (std::size_t axis = 0; axis < terms.axes; ++axis) {
      at[axis] = columns[axis].Column(axis, b[j][axis], a);
    }
    SumAxes(at, AxisColumns::PaddedRows(a.size()), static_cast<Index>(j),
            parts);
  }
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    const auto [first, second] = terms.pairs[p];
    const double factor = PairFactor(terms, scales, p);
    // There are few cells, so no product of all points is made in between.
    const MatrixXd of_first = kernels.Beside(first, a);
    const MatrixXd of_second = kernels.Beside(second, a);
    for (std::size_t j = 0; j < b.size(); ++j) {
      parts.more.col(static_cast<Index>(j)) +=
          factor *
          of_first.col(b[j][first]).cwiseProduct(of_second.col(b[j][second]));
    }
  }
  return parts;
}

struct TermSums::Columns {
  struct Pair {
    AxisPair axes;
    double factor = 0.0;
    MatrixXd first;  // points x cells
    MatrixXd second;
  };

  double triples = 0.0;
  const std::vector<Cells>& points;
  std::vector<AxisColumns> of_axes;
  std::vector<const double*> at = {};  // of the point at hand, by axis
  std::vector<Pair> pairs = {};
  VectorXd more = {};
};

TermSums::TermSums(const AxisKernels& kernels, const Terms& terms,
                   const VectorXd& scales, const std::vector<Cells>& points)
    : columns_(std::make_unique<Columns>(
          Columns{.triples = std::exp(scales[kTriples]),
                  .points = points,
                  .of_axes = ColumnsOf(kernels, terms, scales)})) {
  columns_->at.resize(terms.axes);
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    const AxisPair& axes = terms.pairs[p];
    columns_->pairs.push_back({axes, PairFactor(terms, scales, p),
                               kernels.Beside(axes.first, points),
                               kernels.Beside(axes.second, points)});
  }
}

TermSums::~TermSums() = default;

void TermSums::With(const Cells& other, Eigen::Ref<VectorXd> sums) {
  Columns& of = *columns_;
  for (std::size_t axis = 0; axis < of.at.size(); ++axis) {
    of.at[axis] = of.of_axes[axis].Column(axis, other[axis], of.points);
  }
  const std::size_t padded = AxisColumns::PaddedRows(of.points.size());
  of.more.setZero(static_cast<Index>(padded));
  for (const Columns::Pair& pair : of.pairs) {
    of.more.head(sums.size()) +=
        pair.factor *
        pair.first.col(other[pair.axes.first])
            .cwiseProduct(pair.second.col(other[pair.axes.second]));
  }
  const Lanes triples = {of.triples, of.triples};
  // Sums take the place of what they are made of.
  double* const all = of.more.data();
  for (std::size_t row = 0; row < padded; row += kRows) {
    RowSums first, second;
    for (const double* const axis : of.at) {
      const double* const main = axis + row;
      const double* const joint = main + padded;
      first.Add(Load(main), Load(joint));
      second.Add(Load(main + kLanes), Load(joint + kLanes));
    }
    first.StoreAll(triples, all + row);
    second.StoreAll(triples, all + row + kLanes);
  }
  sums = of.more.head(sums.size());
}

double VarianceAt(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const Cells& at) {
  std::vector<double> joint(terms.axes);
  double main = 0.0, e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (std::size_t axis = 0; axis < terms.axes; ++axis) {
    const double k = kernels.table(axis)(at[axis], at[axis]);
    joint[axis] = k * std::exp(scales[JointScale(axis, terms.axes)]);
    e3 += joint[axis] * e2;
    e2 += joint[axis] * e1;
    e1 += joint[axis];
    main += k * std::exp(scales[MainScale(axis)]);
  }
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    e2 += std::expm1(scales[PairScale(p, terms.axes)]) *
          joint[terms.pairs[p].first] * joint[terms.pairs[p].second];
  }
  return main + e2 + std::exp(scales[kTriples]) * e3;
}

namespace {

constexpr double kStep = 1e-4;  // of differences along length and gap
// In parts of the variance of all terms. It keeps A positive despite rounding.
constexpr double kJitter = 1e-8;

}  // namespace

Evidence::Evidence(const StandardRows& rows, VectorXd scales)
    : rows_(rows),
      scales_(std::move(scales)),
      kernels_(rows.axes, std::exp(scales_[kLength]), std::exp(scales_[kGap])),
      parts_(PartsOf(kernels_, rows.terms, scales_, rows.cells, rows.cells)) {
  MatrixXd covariance = parts_.Sum(std::exp(scales_[kTriples]));
  const double jitter = kJitter * (1.0 + covariance.diagonal().mean());
  covariance.array() += kMeanVariance;
  covariance.diagonal() += NoiseOfRows();
  covariance.diagonal().array() += jitter;
  factor_.compute(covariance);
  if (factor_.info() != Eigen::Success) return;
  weights_ = factor_.solve(rows_.values);
  value_ = -0.5 * rows_.values.dot(weights_) -
           factor_.matrixLLT().diagonal().array().log().sum();
  ok_ = std::isfinite(value_);
}

VectorXd Evidence::NoiseOfRows() const {
  return ((rows_.doubt.array() + std::exp(scales_[kNoise])) *
          rows_.spread.array())
      .matrix();
}

// ∂A by the logarithm of a scale.
MatrixXd Evidence::SlopeOf(Index scale) const {
  const std::size_t axes = rows_.axes.size();
  const double triples = std::exp(scales_[kTriples]);
  if (scale == kTriples) return triples * parts_.e3;
  if (scale == kLength || scale == kGap) {
    VectorXd moved = scales_;
    moved[scale] += kStep;
    const AxisKernels kernels(rows_.axes, std::exp(moved[kLength]),
                              std::exp(moved[kGap]));
    const GramParts parts =
        PartsOf(kernels, rows_.terms, moved, rows_.cells, rows_.cells);
    return (parts.Sum(triples) - parts_.Sum(triples)) / kStep;
  }
  const auto place = static_cast<std::size_t>(scale - kSharedScales);
  if (place >= 2 * axes)
    return PairPart(rows_.terms.pairs[place - 2 * axes]) *
           std::exp(scales_[scale]);
  const std::size_t axis = place % axes;
  const MatrixXd k = std::exp(scales_[scale]) *
                     kernels_.Between(axis, rows_.cells, rows_.cells);
  if (place < axes) return k;
  // e2 and e3 without the axis: e1 - k, and e2 - k (e1 - k).
  const MatrixXd one = parts_.e1 - k;
  MatrixXd slope =
      (k.array() *
       (one.array() + triples * (parts_.e2.array() - k.array() * one.array())))
          .matrix();
  for (std::size_t p = 0; p < rows_.terms.pairs.size(); ++p) {
    const AxisPair& pair = rows_.terms.pairs[p];
    if (pair.first != axis && pair.second != axis) continue;
    slope += std::expm1(scales_[PairScale(p, axes)]) * PairPart(pair);
  }
  return slope;
}

// Returns the part of e2 that belongs to a pair.
MatrixXd Evidence::PairPart(const AxisPair& pair) const {
  const std::size_t axes = rows_.axes.size();
  return std::exp(scales_[JointScale(pair.first, axes)] +
                  scales_[JointScale(pair.second, axes)]) *
         kernels_.Between(pair.first, rows_.cells, rows_.cells)
             .cwiseProduct(
                 kernels_.Between(pair.second, rows_.cells, rows_.cells));
}

// α αᵀ - A⁻¹: twice the slope of the evidence by each element of A.
MatrixXd Evidence::ValueSlopes() const {
  const Index n = rows_.values.size();
  MatrixXd inverse = MatrixXd::Identity(n, n);
  factor_.solveInPlace(inverse);
  return weights_ * weights_.transpose() - inverse;
}

std::vector<double> Evidence::PairGradients() const {
  const MatrixXd slopes = ValueSlopes();
  std::vector<double> gradients;
  for (std::size_t a = 0; a < rows_.axes.size(); ++a) {
    for (std::size_t b = a + 1; b < rows_.axes.size(); ++b) {
      gradients.push_back(0.5 * slopes.cwiseProduct(PairPart({a, b})).sum());
    }
  }
  return gradients;
}

Evidence::Slopes Evidence::SlopesWith(const MatrixXd& probes,
                                      const ForEach& for_each) const {
  const Index count = scales_.size();
  const MatrixXd slopes = ValueSlopes();
  const MatrixXd lifted = factor_.matrixU().solve(probes);
  // Whoever stops the computation leaves zeros, from where no step leads up.
  Slopes found{VectorXd::Zero(count), MatrixXd(count, count)};
  MatrixXd looks = MatrixXd::Zero(probes.size(), count);
  for_each(static_cast<std::size_t>(count), [&](std::size_t scale) {
    const auto g = static_cast<Index>(scale);
    MatrixXd look;
    if (g == kNoise) {
      const VectorXd noise = std::exp(scales_[kNoise]) * rows_.spread;
      found.gradient[g] = 0.5 * slopes.diagonal().dot(noise);
      look = noise.asDiagonal() * lifted;
    } else {
      const MatrixXd slope = SlopeOf(g);
      found.gradient[g] = 0.5 * slopes.cwiseProduct(slope).sum();
      look.noalias() = slope * lifted;
    }
    factor_.matrixL().solveInPlace(look);
    looks.col(g) = Eigen::Map<const VectorXd>(look.data(), look.size());
  });
  found.curvature =
      0.5 / static_cast<double>(probes.cols()) * (looks.transpose() * looks);
  return found;
}

namespace {

constexpr double kStudentFreedom = 10.0;
constexpr double kMostSpread = 400.0;

std::vector<std::size_t> All(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::vector<std::size_t> MostTelling(const Rows& rows, std::size_t count,
                                     const std::stop_token& stop) {
  if (rows.size() <= count) return All(rows.size());
  const VectorXd scales = UsualScales(rows.axes.size(), 0).mean;
  const AxisKernels kernels(rows.axes, std::exp(scales[kLength]),
                            std::exp(scales[kGap]));
  const auto n = static_cast<Index>(rows.size());
  const auto m = static_cast<Index>(count);
  const double noise = std::exp(scales[kNoise]);
  const Terms terms{rows.axes.size(), {}};
  TermSums sums(kernels, terms, scales, rows.cells);
  VectorXd left(n);
  for (Index i = 0; i < n; ++i) {
    left[i] = VarianceAt(kernels, terms, scales,
                         rows.cells[static_cast<std::size_t>(i)]);
  }
  MatrixXd factor = MatrixXd::Zero(n, m);
  VectorXd column(n);
  std::vector<std::size_t> chosen;
  for (Index k = 0; k < m; ++k) {
    if (stop.stop_requested() && k > 0) break;
    Index at = 0;
    left.maxCoeff(&at);
    chosen.push_back(static_cast<std::size_t>(at));
    const double pivot = std::sqrt(std::max(left[at], 0.0) + noise);
    sums.With(rows.cells[static_cast<std::size_t>(at)], column);
    column.noalias() -= factor.leftCols(k) * factor.row(at).head(k).transpose();
    factor.col(k) = column / pivot;
    left.array() -= factor.col(k).array().square();
    left[at] = -1.0;
    for (const std::size_t one : chosen) left[static_cast<Index>(one)] = -1.0;
  }
  return chosen;
}

std::vector<std::size_t> FirstRising(std::vector<std::size_t> order,
                                     std::size_t count) {
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

Standardised Standardise(const Rows& rows, std::vector<std::size_t> used) {
  Standardised made;
  made.used = std::move(used);
  const auto n = static_cast<Index>(made.used.size());
  VectorXd values(n);
  VectorXd doubt = VectorXd::Zero(n);
  made.rows.axes = rows.axes;
  made.rows.terms.axes = rows.axes.size();
  for (Index i = 0; i < n; ++i) {
    const std::size_t row = made.used[static_cast<std::size_t>(i)];
    values[i] = rows.values[row];
    if (!rows.doubt.empty()) doubt[i] = rows.doubt[row];
    made.rows.cells.push_back(rows.cells[row]);
  }
  made.middle = values.mean();
  values.array() -= made.middle;
  const double variance = values.squaredNorm() / static_cast<double>(n);
  made.scale = variance > 0.0 ? std::sqrt(variance) : 1.0;
  made.rows.values = values / made.scale;
  made.rows.doubt = doubt / (made.scale * made.scale);
  made.rows.spread = VectorXd::Ones(n);
  return made;
}

VectorXd SquaresOff(const Evidence& evidence) {
  const VectorXd noise = evidence.NoiseOfRows();
  MatrixXd inverse = MatrixXd::Identity(noise.size(), noise.size());
  evidence.factor().matrixL().solveInPlace(inverse);
  const VectorXd precision = inverse.colwise().squaredNorm();
  const VectorXd residual = noise.cwiseProduct(evidence.weights());
  const VectorXd unsure = noise - noise.cwiseAbs2().cwiseProduct(precision);
  return residual.cwiseAbs2() + unsure.cwiseMax(0.0);
}

void SpreadByResiduals(const Evidence& evidence, StandardRows& rows) {
  const VectorXd squares = SquaresOff(evidence);
  const double usual = std::exp(evidence.scales()[kNoise]);
  for (Index i = 0; i < squares.size(); ++i) {
    rows.spread[i] =
        std::min((kStudentFreedom + squares[i] / (usual + rows.doubt[i])) /
                     (kStudentFreedom + 1.0),
                 kMostSpread);
  }
}

namespace {

constexpr Index kProbes = 10;
constexpr std::uint64_t kProbeSeed = 20061;
constexpr double kLongestStep = 2.0;  // of a logarithm
constexpr double kEnough = 0.02;      // of the log posterior
constexpr int kHalvings = 5;
// Draws are spread a little wider than the curvature says.
constexpr double kWider = 1.3;
// The power that tempers weights. Without it a few of dozens of scales would
// carry everything, and intervals would be those of a handful.
constexpr double kTempered = 0.3;

double LogPrior(const ScalePrior& prior, const VectorXd& at) {
  return -0.5 *
         ((at - prior.mean).array() / prior.deviation.array()).square().sum();
}

double LogPosterior(const ScalePrior& prior, const Evidence& evidence) {
  return evidence.value() + LogPrior(prior, evidence.scales());
}

// Probes are the same for every set of scales, so that steps agree.
MatrixXd MakeProbes(Index rows) {
  Rng rng(kProbeSeed);
  MatrixXd probes(rows, kProbes);
  for (Index j = 0; j < kProbes; ++j) probes.col(j) = NormalVector(rows, rng);
  return probes;
}

struct Slope {
  VectorXd gradient;
  Eigen::LLT<MatrixXd> curvature;
};

Slope SlopeAt(const ScalePrior& prior, const Evidence& evidence,
              const MatrixXd& probes, const ForEach& for_each) {
  Evidence::Slopes slopes = evidence.SlopesWith(probes, for_each);
  const VectorXd precision = prior.deviation.array().square().inverse();
  slopes.gradient -= precision.cwiseProduct(evidence.scales() - prior.mean);
  slopes.curvature.diagonal() += precision;
  return {std::move(slopes.gradient), Eigen::LLT<MatrixXd>(slopes.curvature)};
}

// One step up; nullptr when none was found.
std::unique_ptr<Evidence> Climb(const StandardRows& rows,
                                const ScalePrior& prior, const Evidence& from,
                                const MatrixXd& probes,
                                const ForEach& for_each) {
  const Slope slope = SlopeAt(prior, from, probes, for_each);
  VectorXd step = slope.curvature.solve(slope.gradient);
  if (slope.gradient.dot(step) < kEnough) return nullptr;
  step *= std::min(1.0, kLongestStep / step.cwiseAbs().maxCoeff());
  const double before = LogPosterior(prior, from);
  for (int half = 0; half < kHalvings; ++half, step *= 0.4) {
    auto next = std::make_unique<Evidence>(rows, from.scales() + step);
    if (next->ok() && LogPosterior(prior, *next) > before) return next;
  }
  return nullptr;
}

void CutWeights(std::vector<ScaleDraw>& draws,
                const std::vector<double>& log_weights) {
  const double most = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0.0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i].weight = std::exp(kTempered * (log_weights[i] - most));
    sum += draws[i].weight;
  }
  const double n = static_cast<double>(draws.size());
  const double cap = sum / n * std::sqrt(n);
  double kept = 0.0;
  for (ScaleDraw& one : draws) {
    one.weight = std::min(one.weight, cap);
    kept += one.weight;
  }
  for (ScaleDraw& one : draws) one.weight /= kept;
}

}  // namespace

VectorXd NormalVector(Index size, Rng& rng) {
  VectorXd v(size);
  for (Index i = 0; i < size; ++i) v[i] = rng.Normal();
  return v;
}

std::unique_ptr<Evidence> FindMode(const StandardRows& rows,
                                   const ScalePrior& prior,
                                   const VectorXd& start, int steps,
                                   const std::stop_token& stop,
                                   const ForEach& for_each) {
  auto at = std::make_unique<Evidence>(rows, start);
  const MatrixXd probes = MakeProbes(rows.values.size());
  for (int step = 0; step < steps && !stop.stop_requested(); ++step) {
    auto next = Climb(rows, prior, *at, probes, for_each);
    if (next == nullptr) break;
    at = std::move(next);
  }
  return at;
}

std::vector<ScaleDraw> DrawScales(const StandardRows& rows,
                                  const ScalePrior& prior,
                                  std::unique_ptr<Evidence> mode, int count,
                                  Rng& rng, const std::stop_token& stop,
                                  const ForEach& for_each) {
  std::vector<ScaleDraw> draws;
  if (count <= 1 || stop.stop_requested()) {
    draws.push_back({std::move(mode), 1.0});
    return draws;
  }
  const Slope slope =
      SlopeAt(prior, *mode, MakeProbes(rows.values.size()), for_each);
  const VectorXd middle = mode->scales();
  // Chance comes first, one draw after the other; what each draw costs does not
  // need it.
  std::vector<VectorXd> chances;
  for (int i = 1; i < count; ++i) {
    chances.push_back(NormalVector(middle.size(), rng));
  }
  std::vector<std::unique_ptr<Evidence>> found(chances.size());
  for_each(found.size(), [&](std::size_t i) {
    if (stop.stop_requested()) return;
    const VectorXd way = kWider * slope.curvature.matrixU().solve(chances[i]);
    found[i] = std::make_unique<Evidence>(rows, middle + way);
  });
  std::vector<double> log_weights;
  log_weights.push_back(LogPosterior(prior, *mode));
  draws.push_back({std::move(mode), 0.0});
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == nullptr || !found[i]->ok()) continue;
    log_weights.push_back(LogPosterior(prior, *found[i]) +
                          0.5 * chances[i].squaredNorm());
    draws.push_back({std::move(found[i]), 0.0});
  }
  CutWeights(draws, log_weights);
  return draws;
}

}  // namespace frostline::surrogate
