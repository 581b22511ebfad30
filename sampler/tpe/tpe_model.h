// SPDX-License-Identifier: Apache-2.0
//
// File: tpe_model.h
//
// l is the density of the good trials, g of all others (Bergstra et al., 2011,
// section 4.1), failed and running ones among them. With one objective the
// first 0.4 sqrt(n) are good, at least two and at most 25, in the order of
// split.h; better ones weigh more.
#ifndef FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_
#define FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_

#include <cstddef>
#include <vector>

#include "sampler/tpe/cell_density.h"
#include "sampler/tpe/kernel_widths.h"
#include "sampler/tpe/tpe_options.h"

namespace frostline::sampler {

std::size_t CountGood(std::size_t n);

// The good trial of rank i of m weighs ln(m + 1/2) - ln(i + 1), scaled to a
// mean of 1 (Hansen, 2016, eq. 49).
std::vector<double> RankWeights(std::size_t m);

struct TpeModel {
  CellDensity good;
  CellDensity rest;
  CellDensity failed;  // those of the rest that failed
};

// Returns ln of the chance that a trial does not fail, given the three
// densities' logs at its point: it is the part near there that did not
// (Watanabe and Hutter, IJCAI 2023, section 3.2, without a threshold).
double LogChanceOfSuccess(const TpeModel& model, double log_good,
                          double log_rest, double log_failed);

TpeModel FitModel(const std::vector<CellAxis>& axes, KernelCache& kernels,
                  const std::vector<WeightedCells>& good,
                  const std::vector<WeightedCells>& rest,
                  const TpeOptions& options);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_
