// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow.
//   B texts, N tokens, H hidden, C outputs.
#include "worker/trainer/model/head.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <utility>

#include "worker/trainer/model/dropout.h"
#include "worker/trainer/model/layers.h"

namespace frostline::trainer {

ModelHead::ModelHead(ModelConfig config, HeadSpec spec,
                     std::vector<Weight> weights)
    : config_(std::move(config)),
      spec_(spec),
      shape_(RulesOf(config_.family).HeadOf(config_, spec)),
      weights_(std::move(weights)) {
  const WeightsByName found(weights_);
  if (!shape_.pooler.empty()) pooler_ = found.LinearOf(shape_.pooler);
  if (spec_.task == Task::kPairCosine) {
    dense_ = found.LinearOf("projection");
    return;
  }
  if (!shape_.dense.empty()) dense_ = found.LinearOf(shape_.dense);
  if (!shape_.dense_norm.empty()) dense_norm_ = found.NormOf(shape_.dense_norm);
  output_ = found.LinearOf(shape_.output);
}

ModelHead ModelHead::To(at::Device device) const {
  return ModelHead(config_, spec_, MoveTo(weights_, device));
}

at::Tensor ModelHead::TextOf(const at::Tensor& hidden,
                             const Batch& batch) const {
  if (!ReadsMean(config_, spec_)) return hidden.select(1, 0);  // [B, H]
  const at::Tensor mask =
      batch.mask.unsqueeze(2).to(hidden.scalar_type());         // [B, N, 1]
  return (hidden * mask).sum(1) / mask.sum(1).clamp_min(1e-9);  // [B, H]
}

at::Tensor ModelHead::Logits(const at::Tensor& hidden, const Batch& batch,
                             const Pass& pass) const {
  // A score that is rounded to bf16 ties with its neighbours; the head is small
  // enough to go without.
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(
      c10::autocast_dispatch_keyset);
  const auto drop = [&](const at::Tensor& x, double share) {
    return Dropout(x, pass.training ? share : 0.0, pass.chance);
  };
  const bool tokens = spec_.task == Task::kTokens;
  const double dropout =
      tokens ? config_.token_dropout : config_.sequence_dropout;
  at::Tensor read = tokens ? hidden : TextOf(hidden, batch);  // [B, (N,) H]
  if (pooler_.weight.defined()) {
    read = Activate(Apply(pooler_, drop(read, shape_.pooler_dropout)),
                    shape_.pooler_activation);
  }
  if (spec_.task == Task::kPairCosine) {
    return Likeness(Apply(dense_, drop(read, dropout)));  // [B/2]
  }
  if (dense_.weight.defined()) {
    if (shape_.drops_before_dense) read = drop(read, dropout);
    read = Activate(Apply(dense_, read), shape_.dense_activation);
  }
  if (dense_norm_.weight.defined())
    read = Normalize(read, dense_norm_, config_);
  return Apply(output_, drop(read, dropout));  // [B, (N,) C]
}

at::Tensor ModelHead::Likeness(const at::Tensor& texts) const {
  const std::int64_t pairs = texts.size(0) / 2;
  const at::Tensor alike = at::cosine_similarity(
      texts.narrow(0, 0, pairs), texts.narrow(0, pairs, pairs));  // [B/2]
  return spec_.scale * at::relu(alike);                           // [B/2]
}

}  // namespace frostline::trainer
