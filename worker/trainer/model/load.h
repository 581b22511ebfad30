// SPDX-License-Identifier: Apache-2.0
//
// File: load.h
//
// From a folder as transformers saves it (config.json, model.safetensors) to a
// Model, and a word about every tensor that was not simply taken over.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/weight_files.h"

namespace frostline {

// Names as they are in the model; of `unexpected`, as they are in the file.
struct LoadReport {
  std::vector<std::string> missing;   // of the head or pooler, not in the file
  std::vector<std::string> reshaped;  // of the head: for another task
  std::vector<std::string> initialized;  // both of these, drawn anew
  std::vector<std::string> unused;  // known heads and buffers of other tasks
  std::vector<std::string> unexpected;  // anything else that has no place
};

struct LoadedModel {
  Model model;
  LoadReport report;
  std::string config_json;  // as it was read
};

// Weights become fp32. A weight of the encoder that is missing or of another
// shape is a fault, one of the head is drawn anew from `seed`, as transformers
// draws it. Never throws but for want of memory.
Expected<LoadedModel> LoadModel(const std::string& folder, const HeadSpec& head,
                                std::uint64_t seed);

// A model to train once: weights that `trains` marks (by their place in
// ParametersOf) are copies, the others are shared with `loaded` and must not be
// changed. What was drawn for `loaded` is drawn anew from `seed`, and so are
// adapters. `config` is that of `loaded`, but for dropout and lora. Throws what
// LibTorch throws.
Model TrainableCopy(const LoadedModel& loaded, const ModelConfig& config,
                    const std::vector<bool>& trains, std::uint64_t seed);

// A stored tensor as fp32 (or as it is, when it is not of floats), in memory of
// its own.
Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& tensor);

}  // namespace frostline

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_
