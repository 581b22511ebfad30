// SPDX-License-Identifier: Apache-2.0
//
// File: encoder.h
//
// BERT, DistilBERT, RoBERTa and their multilingual kin have one implementation,
// equal to transformers within 1e-5 (tests/worker/trainer/model).
//
//   B texts, N tokens, H hidden, A attention heads, D = H / A.
//
// A pass is Prefix, then Suffix. A hard-frozen study never trains the prefix:
// it runs without a graph, and its result, the boundary, depends on the
// pretrained weights and the text alone.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_ENCODER_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_ENCODER_H_

#include <cstdint>
#include <vector>

#include "worker/trainer/model/batch.h"
#include "worker/trainer/model/dropout.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/model/weights.h"

namespace frostline::trainer {

// One thread at a time uses it. Copies share their weights, so that several
// heads may stand on one encoder.
class TransformerEncoder {
 public:
  // `weights` are EncoderParametersOf(config), in that order.
  TransformerEncoder(ModelConfig config, std::vector<Weight> weights);

  const ModelConfig& config() const { return config_; }
  const std::vector<Weight>& weights() const { return weights_; }

  // Shares its weights when it is there already. This and all below throw what
  // LibTorch throws: call them under CatchTorch.
  TransformerEncoder To(at::Device device) const;
  // Adds adapters into the weights they adapt, in new tensors; others are
  // shared.
  TransformerEncoder Merged() const;

  // Keeps bf16 copies of the layers' maps whose weights have no gradient, if
  // `wanted`, and none of the others. LibTorch's autocast would cast them anew
  // for each batch; without autocast they are not used. Weights that have a
  // copy must not change before the next call.
  void KeepHalves(bool wanted);

  // `states`, when given, receives the hidden states, the embeddings first.
  // With `pass.first_token` the last of them is [B, 1, H].
  at::Tensor Prefix(const Batch& batch, const Pass& pass,
                    std::vector<at::Tensor>* states = nullptr) const;
  at::Tensor Suffix(const at::Tensor& boundary, const Batch& batch,
                    const Pass& pass,
                    std::vector<at::Tensor>* states = nullptr) const;
  // Blocks `from` to `to` - 1, on what those before gave. Block 0 is the
  // embeddings, which take nothing, and 1 + i is layer i.
  at::Tensor Run(const at::Tensor& boundary, const Batch& batch,
                 const Pass& pass, std::int64_t from, std::int64_t to,
                 std::vector<at::Tensor>* states = nullptr) const;

 private:
  struct Layer {
    Linear query, key, value, attention_out;
    Norm attention_norm;
    Linear up, down;
    Norm norm;
  };

  at::Tensor Embed(const Batch& batch, const Pass& pass) const;
  at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                      const at::Tensor& mask, const Batch& batch,
                      const Pass& pass) const;
  // `asking` are those of `hidden` that look at all of it.
  at::Tensor Attend(std::int64_t layer, const at::Tensor& asking,
                    const at::Tensor& hidden, const at::Tensor& mask,
                    const Batch& batch, bool drops) const;
  // Applies its adapter too, which drops if `drops`.
  at::Tensor Map(const Linear& linear, const at::Tensor& x, const Batch& batch,
                 bool drops, const DropSite& site) const;
  // Dropout may act in `block`: 0 is the embeddings, 1 + i layer i.
  bool Drops(std::int64_t block, const Pass& pass) const;

  ModelConfig config_;
  std::vector<Weight> weights_;
  // They are handles on weights_.
  at::Tensor words_, positions_, types_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_ENCODER_H_
