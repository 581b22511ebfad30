// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_widths.h
//
// A good kernel is as wide as the good trials are spread out on its axis, times
// 0.8 m^(-1/5) for m of them (Silverman, 1986, eq. 3.28 in its scaling); a bad
// one is a tenth of the box. Neither is narrower than 0.4 steps of an axis of
// single values, or 1% of the box.
#ifndef FROSTLINE_SAMPLER_TPE_KERNEL_WIDTHS_H_
#define FROSTLINE_SAMPLER_TPE_KERNEL_WIDTHS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "sampler/tpe/cell_kernel.h"

namespace frostline::sampler {

// Somebody else owns the cells of the trial.
struct WeightedCells {
  std::span<const Cell> cells;
  double weight = 1.0;
  bool failed = false;
};

double GoodWidth(const CellAxis& axis, std::size_t index,
                 const std::vector<WeightedCells>& good);
double RestWidth(const CellAxis& axis);

// Returns how many steps frozen is from the lowest rate: the one of 1/2, 1, 2,
// 4, 8 under which each good trial is likeliest given the others (leave-one-out
// likelihood: Habbema et al., 1974), with 2 likeliest beforehand.
double LearnFrozenSteps(const std::vector<CellAxis>& axes, KernelCache& kernels,
                        const std::vector<WeightedCells>& good,
                        const std::vector<double>& widths);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_KERNEL_WIDTHS_H_
