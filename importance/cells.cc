// SPDX-License-Identifier: Apache-2.0
#include "importance/cells.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "importance/measure/small_matrix.h"
#include "importance/measure/symmetric_eigen.h"

namespace frostline::importance {
namespace {

// Levels are taken for unrelated; neighbouring stretches of a range are mostly
// alike, over about this part of it.
constexpr double kSmoothShare = 0.8;
constexpr double kSmoothLength = 0.25;
// Graded levels are alike over this part of their list; the first one, which is
// frozen where there is that, moves by so much on its own, and each by a
// little.
constexpr double kGradedLength = 0.5;
constexpr double kFreeFirst = 0.5;
constexpr double kUngraded = 0.02;
constexpr std::size_t kLeastGraded = 4;
constexpr double kNothing = 1e-9;

// Made orthogonal to the constant and weighted by the roots of the masses.
std::vector<double> Centred(std::vector<double> prior, const EffectAxis& axis) {
  const std::size_t n = axis.cells();
  for (int side = 0; side < 2; ++side) {
    for (std::size_t a = 0; a < n; ++a) {
      double mean = 0.0;
      for (std::size_t b = 0; b < n; ++b) {
        mean += axis.masses[b] * prior[side == 0 ? a * n + b : b * n + a];
      }
      for (std::size_t b = 0; b < n; ++b) {
        prior[side == 0 ? a * n + b : b * n + a] -= mean;
      }
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      prior[a * n + b] *= std::sqrt(axis.masses[a] * axis.masses[b]);
    }
  }
  return prior;
}

// What cells have in common before anything is known.
std::vector<double> PriorOverCells(const EffectAxis& axis, bool smooth) {
  const std::size_t n = axis.cells();
  std::vector<double> prior(n * n, 0.0);
  const std::size_t range = smooth ? n - kEffectStretches : n;
  for (std::size_t a = 0; a < n; ++a) {
    prior[a * n + a] = 1.0;
    for (std::size_t b = range; b < n && a >= range; ++b) {
      const double gap =
          (static_cast<double>(a) - static_cast<double>(b)) /
          (kSmoothLength * static_cast<double>(kEffectStretches));
      prior[a * n + b] = kSmoothShare * std::exp(-0.5 * gap * gap) +
                         (a == b ? 1.0 - kSmoothShare : 0.0);
    }
  }
  return Centred(std::move(prior), axis);
}

// Levels that count alike, in an order.
bool CanBeGraded(const EffectAxis& axis) {
  return axis.is_ordered && axis.cells() >= kLeastGraded &&
         std::all_of(axis.masses.begin(), axis.masses.end(), [&](double mass) {
           return std::abs(mass - axis.masses[0]) < kNothing;
         });
}

// Where all levels count alike any orthonormal functions will do. Those of a
// graded prior let the model weigh it against unrelated levels.
Eigen GradedFunctions(const EffectAxis& axis) {
  const std::size_t n = axis.cells();
  std::vector<double> prior(n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      const double gap = (static_cast<double>(a) - static_cast<double>(b)) /
                         (kGradedLength * static_cast<double>(n - 1));
      prior[a * n + b] =
          std::exp(-0.5 * gap * gap) + (a == b ? kUngraded : 0.0);
    }
  }
  prior[0] += kFreeFirst;
  return SymmetricEigen(Centred(std::move(prior), axis), n);
}

}  // namespace

void MakeEffectBasis(EffectAxis& axis, bool smooth) {
  const std::size_t n = axis.cells();
  const bool graded = !smooth && CanBeGraded(axis);
  Eigen eigen = graded ? GradedFunctions(axis)
                       : SymmetricEigen(PriorOverCells(axis, smooth), n);
  double sum = 0.0;
  for (const double value : eigen.values) sum += std::max(value, 0.0);
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < n; ++k) {
    // A hundredth of what the first functions have is not worth a column.
    const double least = smooth ? 0.005 : kNothing;
    if (eigen.values[k] > least * sum && sum > kNothing) kept.push_back(k);
  }
  double whole = 0.0;
  for (const std::size_t k : kept) whole += eigen.values[k];
  const double count = static_cast<double>(kept.size());
  for (const std::size_t k : kept) {
    if (!graded) break;
    axis.graded.push_back(eigen.values[k] / whole * count);
    eigen.values[k] = whole / count;
  }
  axis.functions = kept.size();
  axis.basis.assign(n * kept.size(), 0.0);
  axis.kernel.assign(n * n, 0.0);
  for (std::size_t f = 0; f < kept.size(); ++f) {
    axis.prior.push_back(eigen.values[kept[f]] / whole);
    for (std::size_t a = 0; a < n; ++a) {
      if (axis.masses[a] <= kNothing) continue;
      axis.basis[a * kept.size() + f] =
          eigen.vectors[kept[f] * n + a] *
          std::sqrt(axis.prior[f] / axis.masses[a]);
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      axis.kernel[a * n + b] =
          Dot(axis.basis.data() + a * kept.size(),
              axis.basis.data() + b * kept.size(), kept.size());
    }
  }
}

}  // namespace frostline::importance
