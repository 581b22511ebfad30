// SPDX-License-Identifier: Apache-2.0
//
// File: gram.h
//
// The covariance of rows with each other and with other points, for one set of
// scales.
#ifndef FROSTLINE_SURROGATE_GRAM_H_
#define FROSTLINE_SURROGATE_GRAM_H_

#include <vector>

#include "surrogate/axis.h"
#include "surrogate/rows.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

// The mean of a study is known to so much, in variances of its values.
inline constexpr double kMeanVariance = 10.0;

// The kernels of the axes under a length and a gap.
class AxisKernels {
 public:
  AxisKernels(const std::vector<Axis>& axes, double length, double gap);

  const MatrixXd& table(std::size_t axis) const { return tables_[axis]; }
  // K(a_i, b_j) of one axis.
  MatrixXd Between(std::size_t axis, const std::vector<Cells>& a,
                   const std::vector<Cells>& b) const;

 private:
  std::vector<MatrixXd> tables_;
};

// The terms that there are.
struct Terms {
  std::size_t axes = 0;
  std::vector<AxisPair> pairs;  // with a factor of their own
};

// By order of the term: main effects added up, and e1, e2, e3 of the joint
// ones; what the factors of single pairs add to e2.
struct GramParts {
  MatrixXd main;
  MatrixXd e1;
  MatrixXd e2;
  MatrixXd e3;
  MatrixXd more;

  // The function without its mean and noise.
  MatrixXd Sum(double triples) const { return main + e2 + more + triples * e3; }
};

GramParts PartsOf(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const std::vector<Cells>& a,
                  const std::vector<Cells>& b);

// Of the function at one point, its mean and noise apart.
double VarianceAt(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const Cells& at);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_GRAM_H_
