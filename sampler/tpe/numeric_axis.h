// SPDX-License-Identifier: Apache-2.0
//
// File: numeric_axis.h
//
// Kernels over an ordered domain: normals cut to the domain's box, each as
// wide as the gap to its farther neighbour (Bergstra et al., 2011, §4; limits
// on the width as in Optuna 5, whose recorded densities are equal). Levels are
// ordered by index. A value with a step has the mass of its cell.
#ifndef FROSTLINE_SAMPLER_TPE_NUMERIC_AXIS_H_
#define FROSTLINE_SAMPLER_TPE_NUMERIC_AXIS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sampler/numeric_range.h"
#include "sampler/tpe/kernel_axis.h"

namespace frostline {

// A normal on the line of NumericRange, before it is cut to the box.
struct NumericKernel {
  double mu = 0.0;
  double sigma = 0.0;
};

// One for each observed value, in their order, and the prior. Among equal
// values the older ones count as further left.
std::vector<NumericKernel> FitKernels(const NumericRange& range,
                                      const std::vector<double>& observed);

// The same with equal values in an order of one's own: `places` are the
// observed values on the range's line, `order` their indices from low to high.
std::vector<NumericKernel> FitKernelsInOrder(
    const NumericRange& range, const std::vector<double>& places,
    const std::vector<std::size_t>& order);

class NumericAxis final : public KernelAxis {
 public:
  // The last kernel is the prior.
  NumericAxis(const NumericRange& range,
              const std::vector<NumericKernel>& kernels);

  double Draw(std::size_t kernel, Rng& rng) const override;
  void AddLogDensity(double value, std::span<double> sums) override;

 private:
  // Observations of few distinct values share a shape, and with it the work.
  struct Shape {
    double mu = 0.0;
    double sigma = 0.0;
    double log_mass = 0.0;  // of the box
  };

  void AddShape(const NumericKernel& kernel);
  double LogDensity(const Shape& shape, double value) const;

  NumericRange range_;
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> shape_of_;  // by kernel
  // ln p at a value for every shape; for stepped values, which come back.
  std::unordered_map<double, std::vector<double>> row_of_value_;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_NUMERIC_AXIS_H_
