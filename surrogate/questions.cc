// SPDX-License-Identifier: Apache-2.0
#include "surrogate/questions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "surrogate/scale_draws.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

std::vector<double> CovarianceAt(const Surrogate& surrogate,
                                 const std::vector<Cells>& points,
                                 std::size_t draws) {
  const Surrogate::Parts& parts = surrogate.parts();
  const auto size = static_cast<Index>(points.size());
  MatrixXd sum = MatrixXd::Zero(size, size);
  double whole = 0.0;
  for (const std::size_t s : LikeliestFirst(parts.draws, draws)) {
    const ScaleDraw& draw = parts.draws[s];
    const JointBelief belief =
        BelieveAt(*draw.evidence, parts.standard.rows, points);
    sum += draw.weight * belief.covariance;
    whole += draw.weight;
  }
  sum *= parts.standard.scale * parts.standard.scale / whole;
  return {sum.data(), sum.data() + sum.size()};
}

std::vector<std::size_t> LikeliestFirst(const std::vector<ScaleDraw>& draws,
                                        std::size_t count) {
  std::vector<std::size_t> order(draws.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&draws](std::size_t a, std::size_t b) {
                     return draws[a].weight > draws[b].weight;
                   });
  order.resize(std::min(count, order.size()));
  return order;
}

AxisWalk::AxisWalk(const Surrogate& surrogate, std::size_t draws) {
  const Surrogate::Parts& parts = surrogate.parts();
  const StandardRows& rows = parts.standard.rows;
  rows_ = rows.cells;
  const std::vector<std::size_t> order = LikeliestFirst(parts.draws, draws);
  double whole = 0.0;
  for (const std::size_t s : order) whole += parts.draws[s].weight;
  for (const std::size_t s : order) {
    const Evidence& evidence = *parts.draws[s].evidence;
    const double share = parts.draws[s].weight / whole;
    Draw& draw = draws_.emplace_back();
    draw.kernel = PointKernelOf(evidence, rows.terms);
    const double unit = share * parts.standard.scale;
    draw.base = share * parts.standard.middle +
                unit * kMeanVariance * evidence.weights().sum();
    for (const double weight : evidence.weights()) {
      draw.weights.push_back(unit * weight);
    }
  }
}

std::vector<double> AxisWalk::Along(std::size_t axis,
                                    const Cells& cells) const {
  const std::size_t axes = draws_.front().kernel.axes();
  const std::size_t count = draws_.front().kernel.cells[axis];
  std::vector<double> means(count, 0.0);
  std::vector<const double*> kernel(axes);
  std::vector<double> joint(axes);  // of the row at hand
  for (const Draw& draw : draws_) {
    const PointKernel& of = draw.kernel;
    for (std::size_t a = 0; a < axes; ++a) kernel[a] = of.Row(a, cells);
    double still = draw.base;                // of the other axes alone
    std::vector<double> moving(count, 0.0);  // times the axis' own kernel
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      double main = 0.0, e1 = 0.0, e2 = 0.0, e3 = 0.0;
      for (std::size_t a = 0; a < axes; ++a) {
        if (a == axis) continue;
        const double k = kernel[a][rows_[r][a]];
        const double z = of.joint[a] * k;
        joint[a] = z;
        main += of.main[a] * k;
        e3 += z * e2;
        e2 += z * e1;
        e1 += z;
      }
      joint[axis] = 0.0;
      double more = 0.0;    // of pairs of the others
      double beside = 0.0;  // of pairs with the axis
      for (const PointKernel::PairTerm& pair : of.pairs) {
        more += pair.more * joint[pair.first] * joint[pair.second];
      }
      for (const PointKernel::PairTerm& pair : of.pairs) {
        if (pair.first == axis) beside += pair.more * joint[pair.second];
        if (pair.second == axis) beside += pair.more * joint[pair.first];
      }
      const double weight = draw.weights[r];
      still += weight * (main + e2 + more + of.triples * e3);
      moving[rows_[r][axis]] +=
          weight *
          (of.main[axis] + of.joint[axis] * (e1 + beside + of.triples * e2));
    }
    for (std::size_t c = 0; c < count; ++c) {
      const double* const own = of.tables[axis].data() + c * count;
      means[c] += std::inner_product(moving.begin(), moving.end(), own, still);
    }
  }
  return means;
}

double AxisWalk::At(const Cells& cells) const {
  return Along(0, cells)[cells[0]];
}

namespace {

StandardRows RowsWithoutValues(const std::vector<Axis>& axes,
                               const std::vector<Cells>& taken) {
  const auto n = static_cast<Index>(taken.size());
  return {.axes = axes,
          .terms = {.axes = axes.size(), .pairs = {}},
          .cells = taken,
          .values = VectorXd::Zero(n),
          .doubt = VectorXd::Zero(n),
          .spread = VectorXd::Ones(n)};
}

// Covariances of one axis' effect, at its cells, with runs.
MatrixXd EffectWith(const MatrixXd& kernel, double variance, std::size_t axis,
                    const std::vector<Cells>& runs) {
  MatrixXd with(static_cast<Index>(runs.size()), kernel.cols());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    with.row(static_cast<Index>(i)) = variance * kernel.row(runs[i][axis]);
  }
  return with;
}

}  // namespace

std::vector<double> Telling(const std::vector<Axis>& axes,
                            const std::vector<Cells>& taken,
                            const std::vector<Cells>& candidates) {
  const VectorXd scales = UsualScales(axes.size(), 0).mean;
  const double triples = std::exp(scales[kTriples]);
  const StandardRows rows = RowsWithoutValues(axes, taken);
  const Evidence evidence(rows, scales);
  const auto lower = evidence.factor().matrixL();
  MatrixXd with =
      PartsOf(evidence.kernels(), rows.terms, scales, taken, candidates)
          .Sum(triples);
  with.array() += kMeanVariance;
  lower.solveInPlace(with);
  // What a run at a candidate would show varies by so much.
  VectorXd spread(with.cols());
  for (Index c = 0; c < with.cols(); ++c) {
    const std::vector<Cells> own = {candidates[static_cast<std::size_t>(c)]};
    const GramParts at =
        PartsOf(evidence.kernels(), rows.terms, scales, own, own);
    spread[c] = std::max(kMeanVariance + at.Sum(triples)(0, 0) -
                             with.col(c).squaredNorm(),
                         0.0) +
                std::exp(scales[kNoise]);
  }
  VectorXd told = VectorXd::Zero(with.cols());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const MatrixXd& kernel = evidence.kernels().table(a);
    const double variance = std::exp(scales[MainScale(a)]);
    MatrixXd shared = EffectWith(kernel, variance, a, candidates);
    MatrixXd known = EffectWith(kernel, variance, a, taken);
    lower.solveInPlace(known);
    shared.noalias() -= with.transpose() * known;
    const Eigen::Map<const VectorXd> masses(axes[a].masses.data(),
                                            kernel.cols());
    told += shared.cwiseAbs2() * masses;
  }
  told.array() /= spread.array();
  return {told.begin(), told.end()};
}

}  // namespace frostline::surrogate
