// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint.h
//
// Where a trial can go on: one safetensors file, written whole or not at all.
// It holds what training changed and nothing else (the weights that train,
// their moments, the generator of dropout), so that with a frozen prefix it is
// as small as the rest; the pretrained weights are named by the folder they
// came from. On one machine and CPU, training on from it gives the same bits as
// never having stopped. What a GPU wrote goes on on a GPU, on any of them.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/plain/result.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

// Where the reading of the data stood, and what else the caller must know
// again: kept as it is. Keys and values are UTF-8.
using Notes = std::map<std::string, std::string>;

// kUnreadable when the disk says no; then an earlier file is still there.
Expected<Done> SaveCheckpoint(const std::string& path, const Stepper& stepper,
                              const Notes& notes);

// `stepper` was made from the same model, plan and options. kInconsistent when
// the file is of another trial or a bit of it has changed: then nothing was
// taken over.
Expected<Notes> LoadCheckpoint(const std::string& path, Stepper& stepper);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
