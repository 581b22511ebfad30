// SPDX-License-Identifier: Apache-2.0
//
// File: compat_cells.h
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_CELLS_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_CELLS_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sampler/optuna/compat_kernels.h"

namespace frostline::sampler {

// A value has the mass of its cell.
class CompatCells {
 public:
  // REQUIRES: range.step > 0.
  CompatCells(const NumericRange& range,
              const std::vector<NumericKernel>& kernels);

  // Adds ln p_k(value) to sums[k].
  void AddLogDensity(double value, std::span<double> sums);

 private:
  const std::vector<double>& LogMasses(double value);

  NumericRange range_;
  std::vector<NumericKernel> shapes_;
  std::vector<double> log_box_;                       // by shape
  std::vector<std::uint32_t> shape_of_;               // by kernel
  std::map<double, std::vector<double>> log_masses_;  // by value, then shape
};

class CompatLine {
 public:
  CompatLine(const NumericRange& range,
             const std::vector<NumericKernel>& kernels);

  void AddLogDensity(double value, std::span<double> sums) const;

 private:
  struct Kernel {
    NumericKernel shape;
    double log_box = 0.0;
    double log_sigma = 0.0;
  };

  NumericRange range_;
  std::vector<Kernel> kernels_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_CELLS_H_
