// SPDX-License-Identifier: Apache-2.0
#include "surrogate/growing_surrogate.h"

#include <algorithm>
#include <utility>

#include "surrogate/surrogate_parts.h"

namespace frostline::surrogate {
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

}  // namespace frostline::surrogate
