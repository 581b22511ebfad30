// SPDX-License-Identifier: Apache-2.0
//
// File: load.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/model_folder.h"

namespace frostline::trainer {

struct LoadedModel {
  Model model;
  LoadReport report;
  std::string config_json;  // as it was read
};

// Weights become fp32, and those that the head lacks are drawn from `seed`
// (model_folder.h). Throws only for want of memory.
Expected<LoadedModel> LoadModel(const std::string& folder, const HeadSpec& head,
                                std::uint64_t seed);

// Makes a model to train once: weights that `trains` marks (by their place in
// ParametersOf) are copies, the others are shared with `loaded` and must not be
// changed. What was drawn for `loaded` and adapters are drawn from `seed`.
// `config` is that of `loaded`, but for dropout and lora. Throws what LibTorch
// throws.
Model TrainableCopy(const LoadedModel& loaded, const ModelConfig& config,
                    const std::vector<bool>& trains, std::uint64_t seed);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_
