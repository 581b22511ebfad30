// SPDX-License-Identifier: Apache-2.0
//
// How each block computes: blocks.h.
#include "worker/trainer/model/encoder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace frostline::trainer {

TransformerEncoder::TransformerEncoder(ModelConfig config,
                                       std::vector<Weight> weights)
    : config_(std::move(config)),
      weights_(std::move(weights)),
      blocks_(MakeBlocks(config_, weights_, {})) {}

TransformerEncoder TransformerEncoder::To(at::Device device) const {
  return TransformerEncoder(config_, MoveTo(weights_, device));
}

TransformerEncoder TransformerEncoder::Merged() const {
  const at::NoGradGuard no_graph;
  const WeightsByName found(weights_);
  ModelConfig plain = config_;
  plain.lora = {};
  std::vector<Weight> weights;
  for (ParameterSpec& spec : EncoderParametersOf(plain)) {
    at::Tensor value = found.Value(spec.name).detach();
    if (spec.role == Role::kWeight) {
      const Linear linear =
          found.LinearOf(spec.name.substr(0, spec.name.rfind(".weight")));
      if (linear.lora_a.defined()) {
        value = value +
                at::matmul(linear.lora_b, linear.lora_a) * config_.lora.scale();
      }
    }
    weights.push_back({std::move(spec), std::move(value)});
  }
  return TransformerEncoder(std::move(plain), std::move(weights));
}

void TransformerEncoder::Prepare(const Kernels& kernels,
                                 std::optional<at::ScalarType> half) {
  blocks_ = MakeBlocks(config_, weights_, {kernels, half});
}

at::Tensor TransformerEncoder::Prefix(const Batch& batch, const Pass& pass,
                                      std::vector<at::Tensor>* states) const {
  std::optional<at::NoGradGuard> without_graph;
  if (pass.frozen_blocks > 0) without_graph.emplace();
  at::Tensor hidden = blocks_->Embed(batch, pass);  // [B, N, H]
  if (states != nullptr) states->push_back(hidden);
  return RunLayers(0, pass.frozen_blocks - 1, hidden, batch, pass, states);
}

at::Tensor TransformerEncoder::Suffix(const at::Tensor& boundary,
                                      const Batch& batch, const Pass& pass,
                                      std::vector<at::Tensor>* states) const {
  return RunLayers(std::max<std::int64_t>(0, pass.frozen_blocks - 1),
                   config_.layers, boundary, batch, pass, states);
}

at::Tensor TransformerEncoder::Run(const at::Tensor& boundary,
                                   const Batch& batch, const Pass& pass,
                                   std::int64_t from, std::int64_t to) const {
  const at::Tensor hidden =
      from == 0 ? blocks_->Embed(batch, pass) : boundary;  // [B, N, H]
  return RunLayers(std::max<std::int64_t>(0, from - 1), to - 1, hidden, batch,
                   pass, nullptr);
}

at::Tensor TransformerEncoder::RunLayers(
    std::int64_t from, std::int64_t to, const at::Tensor& boundary,
    const Batch& batch, const Pass& pass,
    std::vector<at::Tensor>* states) const {
  at::Tensor hidden = boundary;  // [B, N, H]
  if (from >= to) return hidden;
  const Blocks::Surroundings around = blocks_->Around(batch);
  for (std::int64_t i = from; i < to; ++i) {
    hidden = blocks_->RunLayer(i, hidden, around, pass);  // [B, N, H]
    if (states != nullptr) states->push_back(hidden);
  }
  return hidden;
}

}  // namespace frostline::trainer
