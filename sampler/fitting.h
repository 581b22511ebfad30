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
//   - `grid` and `brute` pass over what is known not to fit, and `qmc` goes on
//     in its sequence whatever became of a wish.
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

// What a sampler looks for in the history.
enum class LooksFor {
  kResults,
  kItsPoints,   // proposes each once, and finds there which are left
  kItsSequence  // goes by the number; finds there which trials are not its own
};

// Fails with SPACE_TOO_LARGE where not even the least point fits. `limit` is in
// mebibytes; infinity: none is given. `another` makes a sampler like `wrapped`;
// only one that looks for its points needs it.
std::unique_ptr<Sampler> MakeFittingSampler(const Space& space, double limit,
                                            std::unique_ptr<Sampler> wrapped,
                                            LooksFor looks_for,
                                            SamplerMaker another = {});

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_FITTING_H_
