// SPDX-License-Identifier: Apache-2.0
//
// File: tpe_model.h
//
// The two densities of one proposal: l of the good trials, g of all others
// (Bergstra et al., 2011, section 4.1), over the cells of cell_density.h.
//
// Good are the first 0.4 sqrt(n), at least two and at most 25, in the order of
// split.h; better ones weigh more. Bad are the rest, failed trials and those
// that still run.
//
// A good kernel is as wide as the good trials are spread out on its axis, times
// 0.8 m^(-1/5) for m of them (Silverman, "Density Estimation", 1986, eq. 3.28
// in its scaling); a bad one is a tenth of the box.
#ifndef FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_
#define FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_

#include <optional>
#include <vector>

#include "sampler/tpe/cell_density.h"
#include "sampler/tpe/cell_table.h"
#include "sampler/tpe/tpe_options.h"

namespace frostline {

// Cells of a trial, which somebody else owns, and how much it counts.
struct WeightedCells {
  std::span<const Cell> cells;
  double weight = 1.0;
  bool failed = false;
};

// How many of n trials are good.
std::size_t CountGood(std::size_t n);

// The weight of the good trial of rank i of m: ln(m + 1/2) - ln(i + 1), as
// scaled to a mean of 1 (Hansen, "The CMA Evolution Strategy", 2016, eq. 49).
std::vector<double> RankWeights(std::size_t m);

struct TpeModel {
  CellDensity good;
  CellDensity rest;
  CellDensity failed;  // those of the rest that failed
  double frozen_steps = 1.0;
};

// ln of the chance that a trial does not fail, given the three densities' logs
// at its point: what is not failed of all that was tried near there. (Without a
// threshold to learn, the factor of Watanabe and Hutter, "c-TPE", IJCAI 2023,
// section 3.2.)
double LogChanceOfSuccess(const TpeModel& model, double log_good,
                          double log_rest, double log_failed);

TpeModel FitModel(const std::vector<CellAxis>& axes, KernelCache& kernels,
                  const std::vector<WeightedCells>& good,
                  const std::vector<WeightedCells>& rest,
                  const TpeOptions& options);

// How many steps frozen is from the lowest rate: the one of 1/2, 1, 2, 4, 8
// under which each good trial is likeliest given the others (leave-one-out
// likelihood: Habbema, Hermans and van den Broek, 1974), 2 being likeliest
// beforehand.
double LearnFrozenSteps(const std::vector<CellAxis>& axes, KernelCache& kernels,
                        const std::vector<WeightedCells>& good,
                        const std::vector<double>& widths);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_
