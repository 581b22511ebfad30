// SPDX-License-Identifier: Apache-2.0
//
// File: compat_blocks.h
//
// Optuna's multivariate TPE draws together one block of those that every ended
// trial has or, with `group`, the coarsest partition of which no trial has a
// part only, so that branches of a conditional space have blocks of their own.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_BLOCKS_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_BLOCKS_H_

#include <vector>

#include "sampler/optuna/compat_space.h"

namespace frostline::sampler {

using CompatBlock = std::vector<std::size_t>;  // parameters, by name

// `trials` are the ended ones, by number. Parameters with one value are left
// out; no block is empty.
std::vector<CompatBlock> CommonBlock(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials);
std::vector<CompatBlock> GroupedBlocks(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_BLOCKS_H_
