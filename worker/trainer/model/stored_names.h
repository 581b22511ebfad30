// SPDX-License-Identifier: Apache-2.0
//
// File: stored_names.h
//
// The names that weight files really use: with the encoder's prefix or without,
// "gamma" and "beta" as TensorFlow had them, remains of pretraining. Pure
// functions.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_

#include <string>
#include <string_view>

#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {

// The name that ParametersOf has for `stored`.
std::string CurrentName(std::string_view stored, const ModelConfig& config);

// Heads of pretraining and buffers: nothing to warn of. `name` is current.
bool IsLeftover(std::string_view name, const ModelConfig& config);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_
