// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow.
//   B texts, N tokens, H hidden, C outputs.
#include "worker/trainer/model/head.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <string>
#include <utility>

#include "worker/trainer/model/dropout.h"
#include "worker/trainer/model/layers.h"

namespace frostline::trainer {

ModelHead::ModelHead(ModelConfig config, HeadSpec spec,
                     std::vector<Weight> weights)
    : config_(std::move(config)), spec_(spec), weights_(std::move(weights)) {
  const WeightsByName found(weights_);
  const bool roberta = config_.family == Family::kRoberta;
  if (HasPooler(config_, spec_)) {
    pooler_ = found.LinearOf(std::string(PrefixOf(config_)) + "pooler.dense");
  }
  if (spec_.task == Task::kPairCosine) {
    dense_ = found.LinearOf("projection");
  } else if (roberta && spec_.task != Task::kTokens) {
    dense_ = found.LinearOf("classifier.dense");
    output_ = found.LinearOf("classifier.out_proj");
  } else {
    if (found.Has("pre_classifier.weight")) {
      dense_ = found.LinearOf("pre_classifier");
    }
    output_ = found.LinearOf("classifier");
  }
}

ModelHead ModelHead::To(at::Device device) const {
  return ModelHead(config_, spec_, MoveTo(weights_, device));
}

at::Tensor ModelHead::Pooled(const at::Tensor& hidden,
                             const Batch& batch) const {
  if (spec_.task == Task::kPairCosine && spec_.pooling == Pooling::kMean) {
    const at::Tensor mask =
        batch.mask.unsqueeze(2).to(hidden.scalar_type());         // [B, N, 1]
    return (hidden * mask).sum(1) / mask.sum(1).clamp_min(1e-9);  // [B, H]
  }
  at::Tensor first = hidden.select(1, 0);  // [B, H]
  if (!pooler_.weight.defined()) return first;
  return at::tanh(Apply(pooler_, first));  // [B, H]
}

at::Tensor ModelHead::Logits(const at::Tensor& hidden, const Batch& batch,
                             const Pass& pass) const {
  // A score that is rounded to bf16 ties with its neighbours; the head is small
  // enough to go without.
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(
      c10::autocast_dispatch_keyset);
  auto place = DropPlace::kHeadFirst;
  const auto drop = [&](const at::Tensor& x, double share) {
    const DropSite site = {.place = place};
    place = DropPlace::kHeadSecond;
    return Dropout(x, pass.training ? share : 0.0, batch, site);
  };
  if (spec_.task == Task::kTokens) {
    return Apply(output_, drop(hidden, config_.token_dropout));  // [B, N, C]
  }
  const double dropout = config_.sequence_dropout;
  at::Tensor text = Pooled(hidden, batch);  // [B, H]
  if (spec_.task == Task::kPairCosine) {
    text = Apply(dense_, drop(text, dropout));  // [B, H]
    const std::int64_t pairs = text.size(0) / 2;
    const at::Tensor alike = at::cosine_similarity(
        text.narrow(0, 0, pairs), text.narrow(0, pairs, pairs));  // [B/2]
    return spec_.scale * at::relu(alike);                         // [B/2]
  }
  if (config_.family == Family::kDistilBert) {
    text = at::relu(Apply(dense_, text));  // [B, H]
  } else if (config_.family == Family::kRoberta) {
    text = at::tanh(Apply(dense_, drop(text, dropout)));  // [B, H]
  }
  return Apply(output_, drop(text, dropout));  // [B, C]
}

}  // namespace frostline::trainer
