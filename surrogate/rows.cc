// SPDX-License-Identifier: Apache-2.0
#include "surrogate/rows.h"

#include <algorithm>
#include <numeric>

namespace frostline::surrogate {
namespace {

// Of the values' variance.
constexpr double kHopelessDoubt = 0.25;

}  // namespace

double DoubtOfHopeless(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return kHopelessDoubt * sum / n;
}

void AddHopeless(const std::vector<Cells>& cells, Rows& rows) {
  if (cells.empty()) return;
  const double worst =
      *std::max_element(rows.values.begin(), rows.values.end());
  const double doubt = DoubtOfHopeless(rows.values);
  rows.doubt.resize(rows.size(), 0.0);
  rows.cells.insert(rows.cells.end(), cells.begin(), cells.end());
  rows.values.resize(rows.cells.size(), worst);
  rows.doubt.resize(rows.cells.size(), doubt);
}

}  // namespace frostline::surrogate
