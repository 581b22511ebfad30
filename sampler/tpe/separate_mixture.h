// SPDX-License-Identifier: Apache-2.0
//
// File: separate_mixture.h
//
// This is the mixture of cell_density.h that takes parameters one by one.
#ifndef FROSTLINE_SAMPLER_TPE_SEPARATE_MIXTURE_H_
#define FROSTLINE_SAMPLER_TPE_SEPARATE_MIXTURE_H_

#include <cstddef>
#include <vector>

#include "sampler/tpe/cell_kernel.h"

namespace frostline::sampler {

class SeparateMixture {
 public:
  // `columns` has the centers by axis, then trial; an absent one is in the cell
  // behind the last. `sum` is that of `prior` and `weights`.
  void Finish(const std::vector<CellAxis>& axes,
              const std::vector<std::vector<Cell>>& columns,
              const std::vector<double>& weights, double prior, double sum);

  // Returns ln q_d(x).
  double LogRatio(std::size_t axis, Cell x, CellKernel& kernel);

 private:
  std::vector<std::vector<double>> centers_;     // weight by axis and cell
  std::vector<std::vector<double>> log_ratios_;  // NaN: not asked for yet
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_SEPARATE_MIXTURE_H_
