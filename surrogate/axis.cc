// SPDX-License-Identifier: Apache-2.0
#include "surrogate/axis.h"

#include <cmath>

namespace frostline::surrogate {
namespace {

double PlaceOf(const Axis& axis, std::size_t cell, double gap) {
  return axis.kinds[cell] == CellKind::kFrozen ? -gap : axis.places[cell];
}

double Likeness(const Axis& axis, std::size_t a, std::size_t b, double length,
                double gap) {
  if (a == b) return 1.0;
  if (axis.kinds[a] == CellKind::kAlone || axis.kinds[b] == CellKind::kAlone) {
    return 0.0;
  }
  const double way = PlaceOf(axis, a, gap) - PlaceOf(axis, b, gap);
  if (!axis.smooth) return std::exp(-std::abs(way) / length);
  const double u = std::sqrt(5.0) * std::abs(way) / length;
  return std::exp(-u) * (1.0 + u + u * u / 3.0);
}

// Takes the mean over each argument off, under the masses.
void Centre(const Axis& axis, CellTable& table) {
  const std::size_t n = axis.cells();
  std::vector<double> means(n, 0.0);
  double mean = 0.0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      means[a] += axis.masses[b] * table[a * n + b];
    }
    mean += axis.masses[a] * means[a];
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      table[a * n + b] += mean - means[a] - means[b];
    }
  }
}

}  // namespace

CellTable KernelOf(const Axis& axis, double length, double gap) {
  const std::size_t n = axis.cells();
  CellTable table(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      table[a * n + b] = Likeness(axis, a, b, length, gap);
    }
  }
  Centre(axis, table);
  double trace = 0.0;
  for (std::size_t a = 0; a < n; ++a) {
    trace += axis.masses[a] * table[a * (n + 1)];
  }
  for (double& one : table) one = trace > 1e-12 ? one / trace : 0.0;
  return table;
}

}  // namespace frostline::surrogate
