// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_products.h
//
// A proposal spends its time on this arithmetic.
#ifndef FROSTLINE_SAMPLER_TPE_KERNEL_PRODUCTS_H_
#define FROSTLINE_SAMPLER_TPE_KERNEL_PRODUCTS_H_

#include <array>
#include <cstddef>
#include <vector>

#include "sampler/tpe/cell_axis.h"

namespace frostline::sampler {

// Answers minus infinity for 0.
double LogOf(double x);
// Returns ln(exp(a) + exp(b)).
double LogAdd(double a, double b);

struct AxisFactor {
  const double* row = nullptr;    // by center
  const Cell* centers = nullptr;  // by kernel
};
inline constexpr std::size_t kFactors = 4;

// Multiplies products[k] by the factors of kernel k.
void MultiplyBy(const AxisFactor& factor, std::vector<double>& products);
void MultiplyBy(const std::array<AxisFactor, kFactors>& factors,
                std::vector<double>& products);

double SumOfProducts(const double* a, const double* b, std::size_t size);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_KERNEL_PRODUCTS_H_
