// SPDX-License-Identifier: Apache-2.0
//
// File: compat_choices.h
//
// For a parameter without order a kernel's p(c) is a floor that falls with the
// number of kernels, and 1 more where c was observed (Aitchison and Aitken,
// 1976), with Optuna's rounding.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_CHOICES_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_CHOICES_H_

#include <cstddef>
#include <span>
#include <vector>

namespace frostline::sampler {

class CompatChoices {
 public:
  CompatChoices(std::size_t choices, const std::vector<double>& observed);

  // REQUIRES: `u` is in [0, 1).
  double Draw(std::size_t kernel, double u) const;
  void AddLogDensity(double choice, std::span<double> sums) const;

 private:
  std::vector<std::vector<double>> rows_;  // by observed choice; last: prior
  std::vector<std::size_t> row_of_;        // by kernel
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_CHOICES_H_
