// SPDX-License-Identifier: Apache-2.0
//
// File: load.h
//
// Reads a folder as transformers saves a model (config.json,
// model.safetensors): its encoder once, and any number of heads after it.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LOAD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::trainer {

// Names are those of the model; of `unexpected`, those of the file.
struct LoadReport {
  std::vector<std::string> missing;      // of the head or pooler
  std::vector<std::string> reshaped;     // of the head: for another task
  std::vector<std::string> initialized;  // both of these, drawn anew
  std::vector<std::string> unused;  // known heads and buffers of other tasks
  std::vector<std::string> unexpected;  // anything else that has no place
};

struct LoadedHead {
  ModelHead head;
  LoadReport report;  // on the whole folder
};

// It moves. One thread at a time uses it.
class ModelFolder {
 public:
  // An encoder's weight that is missing, of another shape or of a dtype that is
  // not read is a fault, before any memory is taken.
  static Expected<ModelFolder> Open(
      const std::string& folder,
      SavedAdapters adapters = SavedAdapters::kRefuse);

  const ModelConfig& config() const { return config_; }
  const std::string& config_json() const { return config_json_; }

  // Weights become fp32. Both throw only for want of memory. It asks `stop`
  // before each tensor.
  Expected<TransformerEncoder> ReadEncoder(const StopSign& stop = {}) const;
  // Draws what is missing, or in the head of another shape, from `seed`, as
  // transformers draws it.
  Expected<LoadedHead> ReadHead(const HeadSpec& spec, std::uint64_t seed) const;

 private:
  using Place = WeightFiles::Place;

  explicit ModelFolder(WeightFiles files) : files_(std::move(files)) {}

  Expected<Done> FindPlaces();
  // Finds nothing when the weight must be drawn anew; a fault forbids that.
  Expected<std::optional<Place>> PlaceOf(const ParameterSpec& spec,
                                         LoadReport& report) const;
  void ReportTheRest(const HeadSpec& spec, LoadReport& report) const;

  WeightFiles files_;
  ModelConfig config_;
  std::string config_json_;
  std::map<std::string, Place> places_;  // by current names
};

// Reads floats as fp32, others as they are, into memory of its own.
Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& tensor);

struct LoadedModel {
  Model model;
  LoadReport report;
  std::string config_json;  // as it was read
};

// Weights become fp32, and those that the head lacks are drawn from `seed`
//. Throws only for want of memory.
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
