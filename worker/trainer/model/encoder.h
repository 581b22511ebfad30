// SPDX-License-Identifier: Apache-2.0
//
// File: encoder.h
//
// Embeddings and layers of any known family (family.h), equal to transformers
// within 1e-5 (tests/worker/trainer/model).
//
//   B texts, N tokens, H hidden.
//
// A pass is Prefix, then Suffix. A hard-frozen study never trains the prefix:
// it runs without a graph, and its result, the boundary, depends on the
// pretrained weights and the text alone.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_ENCODER_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_ENCODER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/trainer/model/batch.h"
#include "worker/trainer/model/blocks.h"
#include "worker/trainer/model/kernels.h"
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

  // Keeps what the layers' maps without a gradient are multiplied as, and
  // nothing of the others: copies in `half`, which LibTorch's autocast would
  // make anew for each batch and which are not used without it; query,
  // key and value side by side if `kernels` wants one product. Weights that
  // have a copy must not change before the next call.
  void Prepare(const Kernels& kernels, std::optional<at::ScalarType> half);

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
                 const Pass& pass, std::int64_t from, std::int64_t to) const;

 private:
  // Layers `from` to `to` - 1.
  at::Tensor RunLayers(std::int64_t from, std::int64_t to,
                       const at::Tensor& boundary, const Batch& batch,
                       const Pass& pass, std::vector<at::Tensor>* states) const;

  ModelConfig config_;
  std::vector<Weight> weights_;
  std::shared_ptr<const Blocks> blocks_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_ENCODER_H_
