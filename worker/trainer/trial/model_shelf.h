// SPDX-License-Identifier: Apache-2.0
//
// File: model_shelf.h
//
// Keeps the models of the operator's registry, loaded when first asked for. An
// encoder is kept once for all heads that studies put on it.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_MODEL_SHELF_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_MODEL_SHELF_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/verified_files.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/load.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/trial/shelf.h"
#include "worker/trainer/trial/trial_message.h"

namespace frostline::trainer {

// It is on the device. Nobody changes it.
struct Pretrained {
  LoadedModel loaded;
  std::string folder;
  std::string sha256;  // of the weights
};

// One thread uses it. The device outlives it.
class ModelShelf {
 public:
  // Reads models.yaml once.
  static Expected<ModelShelf> Open(VerifiedFiles& files, const Device& device);

  // Compares sums each time. What was missing, unexpected or drawn anew goes to
  // `log` when a head is loaded. It asks `stop` while sums are computed and
  // weights read.
  Expected<std::shared_ptr<const Pretrained>> Weights(
      VerifiedFiles& files, const ModelRequest& request, const Heads& heads,
      const StopSign& stop, std::vector<std::string>& log);
  Expected<std::shared_ptr<const Tokenizer>> TokenizerOf(
      const Pretrained& pretrained);

 private:
  ModelShelf(ModelEntries models, const Device& device)
      : models_(std::move(models)), device_(&device) {}

  // Returns the model's folder.
  static Expected<std::string> Verify(VerifiedFiles& files,
                                      const ModelEntry& entry,
                                      const ModelRequest& request,
                                      const StopSign& stop);
  struct ShelvedEncoder {
    TransformerEncoder encoder;
    std::string config_json;
  };
  struct Parts {
    std::shared_ptr<const ShelvedEncoder> encoder;
    std::vector<std::shared_ptr<const LoadedHead>> heads;
  };
  // Reads those of `parts` that are null.
  Expected<Done> Load(const std::string& id, const std::string& folder,
                      const Heads& heads, const StopSign& stop, Parts& parts);
  static LoadedModel Joined(const Parts& parts);

  ModelEntries models_;
  const Device* device_;
  // A slot works on one study, or on two by turns; encoders may fill a GPU, and
  // heads are small. What is joined holds no encoder that has left its shelf.
  Shelf<std::string, ShelvedEncoder> encoders_{2};
  Shelf<std::string, LoadedHead> heads_{24};
  Shelf<std::string, Pretrained> joined_{2};
  Shelf<std::string, Tokenizer> tokenizers_{2};
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_MODEL_SHELF_H_
