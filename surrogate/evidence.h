// SPDX-License-Identifier: Apache-2.0
//
// File: evidence.h
//
// Rows say of one set of scales the log marginal likelihood of their values
// (Rasmussen and Williams, 2006, eq. 5.8), its gradient (eq. 5.9), and the
// expected curvature F_gh = tr(A⁻¹ ∂_g A A⁻¹ ∂_h A) / 2, by random probes
// (Hutchinson, 1990).
#ifndef FROSTLINE_SURROGATE_EVIDENCE_H_
#define FROSTLINE_SURROGATE_EVIDENCE_H_

#include <Eigen/Cholesky>
#include <cstddef>
#include <vector>

#include "surrogate/gram.h"
#include "surrogate/rows.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

struct StandardRows {
  std::vector<Axis> axes;
  Terms terms;
  std::vector<Cells> cells;
  VectorXd values;  // of mean 0 and variance 1
  // The noise of row i is (noise + doubt_i) * spread_i.
  VectorXd doubt;
  VectorXd spread;
};

class Evidence {
 public:
  // Keeps a reference to the rows.
  Evidence(const StandardRows& rows, VectorXd scales);

  // Is false where rounding left no positive covariance: nothing else may be
  // asked.
  bool ok() const { return ok_; }
  double value() const { return value_; }
  const VectorXd& scales() const { return scales_; }
  const AxisKernels& kernels() const { return kernels_; }
  const GramParts& parts() const { return parts_; }
  // A = L Lᵀ is the covariance of the values.
  const Eigen::LLT<MatrixXd>& factor() const { return factor_; }
  const VectorXd& weights() const { return weights_; }  // A⁻¹ y
  VectorXd NoiseOfRows() const;

  struct Slopes {
    VectorXd gradient;
    MatrixXd curvature;
  };
  // `probes` are rows x probes, of independent signs or normals.
  Slopes SlopesWith(const MatrixXd& probes) const;
  // Go by the logarithm of a factor before each pair of axes, in the order (0,
  // 1), (0, 2), ….
  std::vector<double> PairGradients() const;

 private:
  MatrixXd ValueSlopes() const;
  MatrixXd SlopeOf(Index scale) const;
  MatrixXd PairPart(const AxisPair& pair) const;

  const StandardRows& rows_;
  VectorXd scales_;
  AxisKernels kernels_;
  GramParts parts_;
  Eigen::LLT<MatrixXd> factor_;
  VectorXd weights_;
  bool ok_ = false;
  double value_ = 0.0;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_EVIDENCE_H_
