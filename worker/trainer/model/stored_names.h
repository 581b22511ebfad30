// SPDX-License-Identifier: Apache-2.0
//
// File: stored_names.h
//
// The names that weight files really use: with the encoder's prefix or
// without, "gamma" and "beta" as TensorFlow had them, and the remains of what
// a model was pretrained on. Pure functions.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_

#include <string>
#include <string_view>

#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {

// The name by which ParametersOf knows what a file calls `stored`.
std::string CurrentName(std::string_view stored, const ModelConfig& config);

// Heads of pretraining and buffers, which every checkpoint may carry: of no
// use to us, and nothing to warn of. `name` is current.
bool IsLeftover(std::string_view name, const ModelConfig& config);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_
