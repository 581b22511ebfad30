// SPDX-License-Identifier: Apache-2.0
//
// File: gram.h
#ifndef FROSTLINE_SURROGATE_GRAM_H_
#define FROSTLINE_SURROGATE_GRAM_H_

#include <vector>

#include "surrogate/axis.h"
#include "surrogate/rows.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

// A study's mean is this uncertain, in variances of values.
inline constexpr double kMeanVariance = 10.0;

class AxisKernels {
 public:
  AxisKernels(const std::vector<Axis>& axes, double length, double gap);

  const MatrixXd& table(std::size_t axis) const { return tables_[axis]; }
  // Is K(a_i, b_j) of one axis.
  MatrixXd Between(std::size_t axis, const std::vector<Cells>& a,
                   const std::vector<Cells>& b) const;

 private:
  std::vector<MatrixXd> tables_;
};

struct Terms {
  std::size_t axes = 0;
  std::vector<AxisPair> pairs;  // with a factor of their own
};

// Parts stand by order: main effects; e1, e2, e3 of joint scales; what pairs'
// own factors add.
struct GramParts {
  MatrixXd main;
  MatrixXd e1;
  MatrixXd e2;
  MatrixXd e3;
  MatrixXd more;

  // Leaves mean and noise out.
  MatrixXd Sum(double triples) const { return main + e2 + more + triples * e3; }
};

GramParts PartsOf(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const std::vector<Cells>& a,
                  const std::vector<Cells>& b);

double VarianceAt(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const Cells& at);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_GRAM_H_
