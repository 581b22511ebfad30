// SPDX-License-Identifier: Apache-2.0
//
// File: model.h
//
// A text encoder with a head: BERT, DistilBERT, RoBERTa and their multilingual
// kin, in one implementation that reads their differences from ModelConfig.
// Equal to transformers within 1e-5 (tests/worker/trainer/model). Weights and
// results are fp32; under autocast (device/autocast.h) the layers multiply in
// bf16, the head and the sums along the layers stay fp32.
//
//   B texts, N tokens, H hidden, A attention heads, D = H / A, C outputs.
//
// A forward pass is Prefix, then Suffix. The prefix is what a hard-frozen
// study never trains: it runs without a graph, and its result, the boundary,
// depends on nothing but the pretrained weights and the text.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"

namespace frostline {

// Of kPairCosine the first B/2 texts are the left ones, the others the right.
struct Batch {
  at::Tensor ids;     // [B, N] int64
  at::Tensor mask;    // [B, N] int64, 1 for a token and 0 for padding
  at::Tensor types;   // [B, N] int64, or undefined: all 0
  at::Tensor labels;  // [B] or [B, N] int64 (-100: none), [B] float; [B/2]
  // [B, N, H]: what Prefix gave for these texts, or undefined: it is run.
  at::Tensor boundary;
};

// The same batch on another device; shares what is there already.
Batch MoveTo(const Batch& batch, at::Device device);

struct Pass {
  bool training = false;  // dropout on
  // Leading blocks (0: none, 1: the embeddings, 1 + k: and k layers) that run
  // without a graph.
  std::int64_t frozen_blocks = 0;
  // Leading blocks in which dropout is off even when training.
  std::int64_t still_blocks = 0;
  // Of dropout; must be set when `training`.
  at::Generator* chance = nullptr;
};

struct Linear {
  at::Tensor weight;  // [outputs, inputs]
  at::Tensor bias;    // [outputs]
  // An adapter (lora.h), or undefined.
  at::Tensor lora_a;  // [rank, inputs]
  at::Tensor lora_b;  // [outputs, rank]
};

struct Norm {
  at::Tensor weight;  // [H]
  at::Tensor bias;    // [H]
};

struct Layer {
  Linear query, key, value, attention_out;
  Norm attention_norm;
  Linear up, down;
  Norm norm;
};

struct Parameter {
  ParameterSpec spec;
  at::Tensor value;
};

// Not for several threads at once. Copies share their weights.
class Model {
 public:
  // One tensor for each of ParametersOf(config, head), in that order.
  Model(ModelConfig config, HeadSpec head, std::vector<at::Tensor> values);

  const ModelConfig& config() const { return config_; }
  const HeadSpec& head() const { return head_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // The same model on another device; shares its weights when it is there
  // already. Throws what LibTorch throws.
  Model To(at::Device device) const;
  at::Device device() const { return parameters_.front().value.device(); }

  // The same computation without adapters: those it has are added into the
  // weights they adapt, in tensors of their own; all others are shared. Throws
  // what LibTorch throws.
  Model Merged() const;

  // What a pass would stumble over: ids beyond the vocabulary, texts beyond
  // the table of positions, shapes that do not fit.
  Expected<Done> Check(const Batch& batch) const;

  // These throw what LibTorch throws; call them under CatchTorch.
  // `states`, when given, receives the hidden states, the embeddings first.
  at::Tensor Prefix(const Batch& batch, const Pass& pass,
                    std::vector<at::Tensor>* states = nullptr) const;
  at::Tensor Suffix(const at::Tensor& boundary, const Batch& batch,
                    const Pass& pass,
                    std::vector<at::Tensor>* states = nullptr) const;
  // Hidden states to logits: [B, C], [B, N, C], or the scores [B/2].
  at::Tensor Head(const at::Tensor& hidden, const Batch& batch,
                  const Pass& pass) const;
  // All three; without the prefix when the batch brings its boundary.
  at::Tensor Forward(const Batch& batch, const Pass& pass) const;

 private:
  at::Tensor Embed(const Batch& batch, const Pass& pass) const;
  at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                      const at::Tensor& mask, const Pass& pass) const;
  at::Tensor Attend(const Layer& layer, const at::Tensor& hidden,
                    const at::Tensor& mask, bool drops, const Pass& pass) const;
  // A linear map of a layer, with its adapter; `drops`: so does the adapter.
  at::Tensor Map(const Linear& linear, const at::Tensor& x, bool drops,
                 const Pass& pass) const;
  at::Tensor Pooled(const at::Tensor& hidden, const Batch& batch) const;
  // Whether dropout acts in block `block`: 0 the embeddings, 1 + i layer i.
  bool Drops(std::int64_t block, const Pass& pass) const;
  const at::Tensor& Value(const std::string& name) const;
  Linear LinearOf(const std::string& name) const;
  Norm NormOf(const std::string& name) const;

  ModelConfig config_;
  HeadSpec head_;
  std::vector<Parameter> parameters_;
  std::map<std::string, std::size_t> places_;
  // Handles on parameters_, by their place in the computation.
  at::Tensor words_, positions_, types_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  Linear pooler_;  // of BERT
  Linear dense_;   // pre_classifier, classifier.dense, projection
  Linear output_;  // classifier, classifier.out_proj
};

}  // namespace frostline

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_
