// SPDX-License-Identifier: Apache-2.0
#include "surrogate/rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "surrogate/scales.h"

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

namespace {

// In parts of the variance of the values.
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

Cells RowColumns::At(std::size_t row) const {
  Cells at;
  for (const auto& column : cells) at.push_back(column[row]);
  return at;
}

void RowColumns::Append(const Cells& at, double with_doubt) {
  cells.resize(at.size());
  for (std::size_t d = 0; d < at.size(); ++d) cells[d].push_back(at[d]);
  doubt.push_back(with_doubt);
}

PointKernel PointKernelOf(const Evidence& evidence, const Terms& terms) {
  const VectorXd& scales = evidence.scales();
  PointKernel kernel;
  kernel.noise = std::exp(scales[kNoise]);
  kernel.constant = kMeanVariance;
  kernel.triples = std::exp(scales[kTriples]);
  for (std::size_t a = 0; a < terms.axes; ++a) {
    kernel.main.push_back(std::exp(scales[MainScale(a)]));
    kernel.joint.push_back(std::exp(scales[JointScale(a, terms.axes)]));
    const MatrixXd& table = evidence.kernels().table(a);
    kernel.cells.push_back(static_cast<std::size_t>(table.cols()));
    kernel.tables.emplace_back(table.data(), table.data() + table.size());
  }
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    const auto [first, second] = terms.pairs[p];
    kernel.pairs.push_back(
        {first, second, std::expm1(scales[PairScale(p, terms.axes)])});
  }
  return kernel;
}

double VarianceAt(const PointKernel& kernel, const Cells& at) {
  std::vector<double> z(kernel.axes());
  double main = kernel.constant, e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (std::size_t a = 0; a < kernel.axes(); ++a) {
    const double k = kernel.Row(a, at)[at[a]];
    z[a] = kernel.joint[a] * k;
    main += kernel.main[a] * k;
    e3 += z[a] * e2;
    e2 += z[a] * e1;
    e1 += z[a];
  }
  for (const PointKernel::PairTerm& pair : kernel.pairs) {
    e2 += pair.more * z[pair.first] * z[pair.second];
  }
  return main + e2 + kernel.triples * e3;
}

PointSums::PointSums(const PointKernel& kernel, const RowColumns& rows,
                     const Cells& at, std::size_t count)
    : covariance(count, kernel.constant), e1(count, 0.0), e2(count, 0.0) {
  std::vector<double> e3(count, 0.0);
  for (std::size_t a = 0; a < kernel.axes(); ++a) {
    const double* const table = kernel.Row(a, at);
    const std::uint8_t* const cells = rows.cells[a].data();
    const double main = kernel.main[a], joint = kernel.joint[a];
    for (std::size_t i = 0; i < count; ++i) {
      const double k = table[cells[i]];
      const double z = joint * k;
      covariance[i] += main * k;
      e3[i] += z * e2[i];
      e2[i] += z * e1[i];
      e1[i] += z;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    covariance[i] += e2[i] + kernel.triples * e3[i];
  }
  for (const PointKernel::PairTerm& pair : kernel.pairs) {
    const double* const first = kernel.Row(pair.first, at);
    const double* const second = kernel.Row(pair.second, at);
    const double more =
        pair.more * kernel.joint[pair.first] * kernel.joint[pair.second];
    for (std::size_t i = 0; i < count; ++i) {
      covariance[i] += more * first[rows.cells[pair.first][i]] *
                       second[rows.cells[pair.second][i]];
    }
  }
}

}  // namespace frostline::surrogate
