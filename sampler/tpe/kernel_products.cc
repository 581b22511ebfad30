// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/kernel_products.h"

#include <cmath>
#include <limits>
#include <utility>

namespace frostline::sampler {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

double LogOf(double x) { return x > 0.0 ? std::log(x) : kNever; }

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

void MultiplyBy(const AxisFactor& f, std::vector<double>& products) {
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= f.row[f.centers[k]];
  }
}

// Four axes in one pass: the products are read and written once, not four
// times, which is most of the work of a proposal.
void MultiplyBy(const std::array<AxisFactor, kFactors>& f,
                std::vector<double>& products) {
  const auto [a, b, c, d] = f;
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= (a.row[a.centers[k]] * b.row[b.centers[k]]) *
                   (c.row[c.centers[k]] * d.row[d.centers[k]]);
  }
}

// Four sums side by side: additions need not wait for each other.
double SumOfProducts(const double* a, const double* b, std::size_t size) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace frostline::sampler
