// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_fit.h
//
// Learns the kernel's parameters: the largest marginal likelihood (Rasmussen
// and Williams, 2006, eq. 5.8, gradient eq. 5.9) times a prior that holds what
// few trials cannot tell near what is usual. The climb is Rprop (Riedmiller and
// Braun, 1993; for Gaussian processes Blum and Riedmiller, 2013): as many steps
// as it is told to, each by the sign of the gradient, no line search. It always
// starts from the prior, so that the answer is a function of the trials alone.
#ifndef FROSTLINE_SAMPLER_GP_KERNEL_FIT_H_
#define FROSTLINE_SAMPLER_GP_KERNEL_FIT_H_

#include <span>
#include <vector>

#include "sampler/gp/level_axis.h"
#include "sampler/gp/level_kernel.h"

namespace frostline {

// Normal, independent; one entry for each parameter.
struct KernelPrior {
  KernelParameters mean;
  KernelParameters deviation;  // 0: not learnt
};

// For targets of mean 0 and variance 1.
KernelPrior UsualKernel(std::size_t axes);

// ln p(targets | parameters) + ln p(parameters) but for a constant, and its
// gradient.
double LogPosterior(const std::vector<LevelAxis>& axes, const KernelRows& rows,
                    std::span<const double> targets, const KernelPrior& prior,
                    const KernelParameters& parameters,
                    KernelParameters& gradient);

KernelParameters FitKernel(const std::vector<LevelAxis>& axes,
                           const KernelRows& rows,
                           std::span<const double> targets,
                           const KernelPrior& prior, int steps);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_KERNEL_FIT_H_
