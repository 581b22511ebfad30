// SPDX-License-Identifier: Apache-2.0
//
// File: memory.h
//
// What training takes of memory at most at once, from the shapes of a model,
// before any trial has run. It counts what frostline-trainer's tensors take on
// a processor in fp32:
//
//   weights + trained (copy + moments + best copy)
//           + max(activations, gradients, an evaluation)
//
// Texts are taken to be as long as they may be, so that it is too high where
// they are shorter. Once trials have run, they tell (sampler/memory.h).
//
//   BERT base, batches of 32 texts of 128 tokens, all trained with AdamW:
//   418 MiB of weights, 1,671 of copies and moments, about 2,900 of activations
#ifndef FROSTLINE_WORKER_REGISTRY_MEMORY_H_
#define FROSTLINE_WORKER_REGISTRY_MEMORY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "worker/registry/registry.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::registry {

// What decides it besides the model. 0 means that the study does not say.
struct TrainingUse {
  std::string model;
  std::int64_t batch_size = 0;
  std::int64_t max_length = 0;
  int moments = 2;          // numbers that the optimizer keeps of a weight
  bool keeps_best = true;   // a copy of what trains, of the best evaluation
  bool reads_all = false;   // reads all tokens of a text, as tagging does
  bool half = false;        // computes in bf16 or fp16
  bool recomputes = false;  // layers, on the way back
  bool answers = false;     // learns to write them: a logit for each word
};

// Modules by the names of study/freezing.h, without single heads.
struct TrainedModules {
  std::set<std::string> whole;    // their weights train
  std::set<std::string> adapted;  // adapters do, which weigh next to nothing
};

// What training takes of a device's memory, from the model's shapes.
class TrainingMemory {
 public:
  // Reads the model's configuration. REQUIRES: the registry has the model.
  static absl::StatusOr<TrainingMemory> Of(const Registry& registry,
                                           const TrainingUse& use);

  // All in mebibytes.
  double MostAtOnce(const TrainedModules& trained) const;
  // The same without what hangs on how long texts are.
  double Least(const TrainedModules& trained) const;
  double Optimizer(const TrainedModules& trained) const;

  std::int64_t texts() const { return texts_; }      // of a batch
  std::int64_t longest() const { return longest_; }  // tokens of one

 private:
  void Count(const trainer::ModelConfig& config);
  double WeightsOf(const TrainedModules& trained) const;
  double ActivationsOf(const TrainedModules& trained) const;
  double CopiesOf(const TrainedModules& trained) const;
  double HalvesOf(const TrainedModules& trained) const;

  TrainingUse use_;
  std::map<std::string, double> weights_;  // by module, layers by halves
  double all_weights_ = 0.0;
  std::int64_t layers_ = 0;
  std::int64_t texts_ = 0;
  std::int64_t longest_ = 0;
  // Single numbers for each token: of a layer that trains and of one that only
  // passes gradients on, the same of the top layer, of embeddings that train.
  double trains_ = 0.0, passes_ = 0.0;
  double top_trains_ = 0.0, top_passes_ = 0.0;
  double embeddings_ = 0.0;
  double given_ = 0.0;    // what a layer is given
  double logits_ = 0.0;   // of all that exist at a time
  double working_ = 0.0;  // of one layer at work
  double reading_ = 0.0;  // single numbers for a token, without gradients
};

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_MEMORY_H_
