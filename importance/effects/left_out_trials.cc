// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "importance/effects/grouped_ridge.h"
#include "importance/measure/small_matrix.h"

namespace frostline::importance {
namespace {

// Multiplications that leaving trials out may cost; more trials are thinned.
constexpr double kLeftOutWork = 1e8;

}  // namespace

std::vector<double> GroupedRidge::LeftOutResiduals() const {
  const std::size_t n = live_.size();
  const double work = static_cast<double>(rows_) * static_cast<double>(n * n);
  const auto stride =
      static_cast<std::size_t>(std::ceil(std::max(work, 1.0) / kLeftOutWork));
  const double average = freedom_ / static_cast<double>(rows_);
  std::vector<double> left(residuals_);
  std::vector<double> at(n);
  for (std::size_t row = 0; row < rows_; ++row) {
    double leverage = average;
    if (row % stride == 0) {
      leverage = 1.0 / static_cast<double>(rows_);
      for (std::size_t a = 0; a < n; ++a) {
        at[a] = Column(live_[a])[row] * std::sqrt(live_variance_[a] / noise_);
      }
      for (std::size_t a = 0; a < n; ++a) {
        const double part = Dot(&factor_[a * n], at.data(), a + 1);
        leverage += part * part;
      }
    }
    left[row] /= std::max(1.0 - leverage, 1e-9);
  }
  return left;
}

double GroupedRidge::R2Of(const std::vector<double>& left_out) const {
  if (!(target_variance_ > 0.0) || rows_ < 2) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double others = 1.0 - 1.0 / static_cast<double>(rows_);
  double missed = 0.0;
  for (const double error : left_out) missed += error * error;
  const double whole = Dot(targets_.data(), targets_.data(), rows_);
  return 1.0 - missed * others * others / whole;
}

}  // namespace frostline::importance
