// SPDX-License-Identifier: Apache-2.0
//
// File: model_folder.h
//
// A folder as transformers saves a model (config.json, model.safetensors): its
// encoder can be read once, and any number of heads after it.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_FOLDER_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_FOLDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/encoder.h"
#include "worker/trainer/model/head.h"
#include "worker/trainer/model/weight_files.h"

namespace frostline::trainer {

// Names as they are in the model; of `unexpected`, as in the file.
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

// Moves. Not for several threads at once.
class ModelFolder {
 public:
  // A fault for a weight of the encoder that is missing, of another shape or of
  // a dtype that is not read, before any memory is taken.
  static Expected<ModelFolder> Open(const std::string& folder);

  const ModelConfig& config() const { return config_; }
  const std::string& config_json() const { return config_json_; }

  // Weights become fp32. Neither throws but for want of memory.
  Expected<TransformerEncoder> ReadEncoder() const;
  // A weight of the head that is missing or of another shape is drawn anew from
  // `seed`, as transformers draws it.
  Expected<LoadedHead> ReadHead(const HeadSpec& spec, std::uint64_t seed) const;

 private:
  using Place = WeightFiles::Place;

  explicit ModelFolder(WeightFiles files) : files_(std::move(files)) {}

  Expected<Done> FindPlaces();
  // Nothing when the weight must be drawn anew; a fault when it may not be.
  Expected<std::optional<Place>> PlaceOf(const ParameterSpec& spec,
                                         LoadReport& report) const;
  void ReportTheRest(const HeadSpec& spec, LoadReport& report) const;

  WeightFiles files_;
  ModelConfig config_;
  std::string config_json_;
  std::map<std::string, Place> places_;  // by current names
};

// A tensor of floats as fp32, others as they are; in memory of its own.
Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& tensor);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_FOLDER_H_
