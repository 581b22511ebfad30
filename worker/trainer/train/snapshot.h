// SPDX-License-Identifier: Apache-2.0
//
// File: snapshot.h
//
// Copies of the weights that a trial trains, to hand over later as they were.
// They lie in main memory: a GPU's is for training.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_SNAPSHOT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_SNAPSHOT_H_

#include <map>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

using WeightCopies = std::map<std::string, at::Tensor>;  // by their names

// Copies the weights that `trains` marks, by their place in weights(). Throws
// what LibTorch throws.
WeightCopies CopyWeights(const Model& model, const std::vector<bool>& trains);

// Returns kInconsistent, and changes nothing, where `copies` are not of just
// these weights. Throws what LibTorch throws.
Expected<Done> PutBack(const WeightCopies& copies,
                       const std::vector<bool>& trains, Model& model);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_SNAPSHOT_H_
