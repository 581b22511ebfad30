// SPDX-License-Identifier: Apache-2.0
//
// File: parzen.h
//
// A Parzen estimator: how the parameters of one block are distributed among a
// set of trials, as a weighted mixture with one kernel per trial and a prior.
// A kernel is the product of its axes, so parameters that were good together
// are drawn together (multivariate TPE, Falkner et al., 2018).
#ifndef FROSTLINE_SAMPLER_TPE_PARZEN_H_
#define FROSTLINE_SAMPLER_TPE_PARZEN_H_

#include <memory>
#include <vector>

#include "base/rng.h"
#include "sampler/tpe/kernel_axis.h"
#include "study/domain.h"

namespace frostline {

// Values by parameter, then by trial or candidate: columns[d][i].
using Columns = std::vector<std::vector<double>>;

enum class Recency {
  kEqual,   // every trial weighs the same
  kForget,  // the newest 25 weigh 1, older ones less, down to 1/n
};

// Of `observations` trials, oldest first, and the prior; they sum to 1.
std::vector<double> FitWeights(std::size_t observations, Recency recency);

class ParzenMixture {
 public:
  // `observed` has a column for each domain, oldest trial first, all values
  // in their domain. Keeps no reference.
  ParzenMixture(const std::vector<const Domain*>& domains,
                const Columns& observed, Recency recency, double frozen_share);
  // Every axis has as many kernels as there are weights.
  ParzenMixture(std::vector<std::unique_ptr<KernelAxis>> axes,
                std::vector<double> weights);

  Columns Draw(int count, Rng& rng) const;
  // ln of the mixture's density at every candidate.
  std::vector<double> LogDensity(const Columns& candidates);

 private:
  std::vector<std::unique_ptr<KernelAxis>> axes_;
  std::vector<double> weights_;
  std::vector<double> log_weights_;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_PARZEN_H_
