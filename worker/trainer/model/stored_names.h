// SPDX-License-Identifier: Apache-2.0
//
// File: stored_names.h
//
// Weight files have the encoder's prefix or not, "gamma" and "beta" as
// TensorFlow had them, and remains of pretraining.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_

#include <string>
#include <string_view>

#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {

// Returns the name that ParametersOf has for `stored`.
std::string CurrentName(std::string_view stored, const ModelConfig& config);

// Heads of pretraining and buffers need no warning. `name` is current.
bool IsLeftover(std::string_view name, const ModelConfig& config);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_STORED_NAMES_H_
