// SPDX-License-Identifier: Apache-2.0
//
// File: fitting.h
//
// Keeps a sampler to points that fit the memory of a device (memory.h):
//
//   - a point that fits goes as it is;
//   - of one that does not, something trains less: a module is frozen, a rank
//     falls, the depth rises, a batch is smaller, drawn by lot until it fits.
//     Then what can come back does, so that little of the wish is lost;
//   - while nobody can predict, the first trial takes as little as any can, and
//     a later one no more than what has fitted and what its modules weigh and
//     keep besides, as the audits say; without audits, one module more. Memory
//     goes before variety;
//   - `grid` and `brute` pass over what is known not to fit.
//
// So no trial is spent on what cannot run. A trial that ran out of memory all
// the same teaches the model, whether there is a limit or not.
#ifndef FROSTLINE_SAMPLER_FITTING_H_
#define FROSTLINE_SAMPLER_FITTING_H_

#include <functional>
#include <memory>

#include "sampler/sampler.h"
#include "study/space.h"

namespace frostline::sampler {

using SamplerMaker = std::function<std::unique_ptr<Sampler>()>;

// Fails with SPACE_TOO_LARGE where not even the least point fits. `limit` is in
// mebibytes; infinity: none is given. `list` makes a sampler like `wrapped`, if
// that one proposes each point once; else it is empty.
std::unique_ptr<Sampler> MakeFittingSampler(const Space& space, double limit,
                                            std::unique_ptr<Sampler> wrapped,
                                            SamplerMaker list = {});

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_FITTING_H_
