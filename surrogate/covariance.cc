// SPDX-License-Identifier: Apache-2.0
#include "surrogate/covariance.h"

#include "surrogate/surrogate_parts.h"

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

}  // namespace frostline::surrogate
