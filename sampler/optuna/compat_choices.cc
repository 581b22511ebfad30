// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_choices.h"

#include <cmath>

#include "sampler/optuna/numpy_sum.h"

namespace frostline::sampler {

CompatChoices::CompatChoices(std::size_t choices,
                             const std::vector<double>& observed) {
  if (observed.empty()) {
    rows_.assign(
        1, std::vector<double>(choices, 1.0 / static_cast<double>(choices)));
    row_of_ = {0};
    return;
  }
  const double floor = 1.0 / static_cast<double>(observed.size() + 1);
  rows_.assign(choices + 1, std::vector<double>(choices, floor));
  for (std::size_t c = 0; c < choices; ++c) rows_[c][c] += 1.0;
  for (std::vector<double>& row : rows_) {
    const double sum = NumpySum(row);
    for (double& probability : row) probability /= sum;
  }
  row_of_.reserve(observed.size() + 1);
  for (const double choice : observed) {
    row_of_.push_back(static_cast<std::size_t>(choice));
  }
  row_of_.push_back(choices);
}

double CompatChoices::Draw(std::size_t kernel, double u) const {
  const std::vector<double>& row = rows_[row_of_[kernel]];
  double up_to = 0.0;
  for (std::size_t c = 0; c + 1 < row.size(); ++c) {
    up_to += row[c];
    if (up_to >= u) return static_cast<double>(c);
  }
  return static_cast<double>(row.size() - 1);
}

void CompatChoices::AddLogDensity(double choice, std::span<double> sums) const {
  const auto c = static_cast<std::size_t>(choice);
  std::vector<double> logs;
  logs.reserve(rows_.size());
  for (const std::vector<double>& row : rows_) logs.push_back(std::log(row[c]));
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += logs[row_of_[k]];
}

}  // namespace frostline::sampler
