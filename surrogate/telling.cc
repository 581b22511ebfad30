// SPDX-License-Identifier: Apache-2.0
#include "surrogate/telling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "surrogate/evidence.h"

namespace frostline::surrogate {
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
