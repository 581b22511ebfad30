// SPDX-License-Identifier: Apache-2.0
//
// File: thaw.h
//
// Gradual unfreezing (Howard and Ruder, 2018, section 3.3) trains head and
// pooler from the first step, then thaws one more layer from the top each so
// many steps or epochs, the embeddings last. A frozen module never thaws.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_THAW_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_THAW_H_

#include <cstdint>

#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {

// Counts blocks from the top that train after `done` steps or epochs: layers +
// 1 when all do, the embeddings too. `every` 0 thaws all from the beginning.
std::int64_t ThawedBlocks(std::int64_t done, std::int64_t every,
                          std::int64_t layers);

// Returns `rates` with 0 for what has not thawed; parts of a layer go with it.
ModuleRates ThawedRates(const ModuleRates& rates, std::int64_t thawed,
                        std::int64_t layers);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_THAW_H_
