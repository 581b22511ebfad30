// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint.h
//
// A trial can go on from one safetensors file, written whole or not at all, of
// what training changed (the weights that train and their moments) and the name
// of the pretrained folder; noise has no state. On one machine and CPU, going
// on gives the same bits as never having stopped.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/plain/result.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

// Callers keep UTF-8 here, such as where reading stood.
using Notes = std::map<std::string, std::string>;

// All that such a file holds, in memory of its own: training may go on.
struct CheckpointCopy {
  std::map<std::string, at::Tensor> tensors;  // in main memory
  std::map<std::string, std::string> metadata;
};

Expected<CheckpointCopy> CopyForCheckpoint(const Stepper& stepper,
                                           const Notes& notes);

// Returns kUnreadable when the disk says no; then an earlier file is still
// there. Any thread may call it.
Expected<Done> WriteCheckpoint(const std::string& path, CheckpointCopy copy);

// Without a copy.
Expected<Done> SaveCheckpoint(const std::string& path, const Stepper& stepper,
                              const Notes& notes);

// `stepper` has the same model, plan and options. Returns kInconsistent when
// the file is of another trial or damaged: then nothing was taken over.
Expected<Notes> LoadCheckpoint(const std::string& path, Stepper& stepper);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
