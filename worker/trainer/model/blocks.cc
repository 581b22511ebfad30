// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/blocks.h"

#include <cmath>
#include <utility>

#include "worker/trainer/model/bert_blocks.h"
#include "worker/trainer/model/deberta_blocks.h"
#include "worker/trainer/model/dropout.h"
#include "worker/trainer/model/modernbert_blocks.h"

namespace frostline::trainer {

std::shared_ptr<const Blocks> MakeBlocks(const ModelConfig& config,
                                         const std::vector<Weight>& weights,
                                         const Form& form) {
  const WeightsByName found(weights);
  switch (config.family) {
    case Family::kModernBert:
      return std::make_shared<ModernBertBlocks>(config, found, form);
    case Family::kDebertaV3:
      return std::make_shared<DebertaBlocks>(config, found, form);
    default:
      return std::make_shared<BertBlocks>(config, found, form);
  }
}

Blocks::Surroundings Blocks::Around(const Batch& batch) const {
  Surroundings around;
  around.batch = &batch;
  around.mask = AdditiveMask(batch.mask);
  return around;
}

Blocks::Turn Blocks::TurnOf(std::int64_t layer, const Surroundings& around,
                            const Pass& pass) const {
  const bool drops = pass.training && 1 + layer >= pass.still_blocks;
  return {layer, drops, around, pass};
}

at::Tensor Blocks::Asking(const at::Tensor& hidden, const Turn& turn) const {
  const bool few = turn.pass.first_token && turn.layer + 1 == config_.layers;
  return few ? hidden.narrow(1, 0, 1) : hidden;  // [B, M, H]
}

at::Tensor Blocks::DropEmbedded(const at::Tensor& hidden, const Batch& batch,
                                const Pass& pass) const {
  const bool drops = pass.training && pass.still_blocks == 0;
  return Dropout(hidden, drops ? config_.dropout_of_embeddings() : 0.0, batch,
                 {});
}

at::Tensor Blocks::Drop(const at::Tensor& x, double share,
                        const Turn& turn) const {
  const Batch& batch = *turn.around.batch;
  const bool of_texts = x.size(0) == batch.ids.size(0) &&
                        (x.size(1) == batch.ids.size(1) || x.size(1) == 1);
  if (!of_texts) return DropShared(x, share, turn);  // what an adapter sees
  const DropSite site = {turn.layer, turn.dropped++};
  return Dropout(x, turn.drops ? share : 0.0, batch, site);
}

at::Tensor Blocks::DropShares(const at::Tensor& x, double share,
                              const Turn& turn) const {
  const DropSite site = {turn.layer, turn.dropped++, true};
  return Dropout(x, turn.drops ? share : 0.0, *turn.around.batch, site);
}

at::Tensor Blocks::DropShared(const at::Tensor& x, double share,
                              const Turn& turn) const {
  const DropSite site = {turn.layer, turn.dropped++};
  if (!turn.drops || share == 0.0) return x;
  Batch first;
  first.noise = turn.around.batch->noise.narrow(0, 0, 1);  // [1]
  return Dropout(x, share, first, site);
}

at::Tensor Blocks::Map(const Linear& linear, const at::Tensor& x,
                       const Turn& turn) const {
  return Adapted(linear, Apply(linear, x), x, turn);  // [..., outputs]
}

at::Tensor Blocks::Adapted(const Linear& linear, at::Tensor mapped,
                           const at::Tensor& x, const Turn& turn) const {
  if (!linear.lora_a.defined()) return mapped;
  const at::Tensor seen = Drop(x, config_.lora.dropout, turn);
  const at::Tensor few = at::linear(seen, linear.lora_a);  // [..., rank]
  return mapped + at::linear(few, linear.lora_b) * config_.lora.scale();
}

at::Tensor Blocks::Behind(const Linear& linear, const at::Tensor& x) const {
  if (!linear.down.defined()) return x;
  const Activation f =
      config_.bottleneck.relu ? Activation::kRelu : Activation::kGelu;
  const at::Tensor few =
      Activate(at::linear(x, linear.down, linear.down_bias), f);
  return x + at::linear(few, linear.up, linear.up_bias);  // [B, M, H]
}

at::Tensor Blocks::See(const at::Tensor& query, const at::Tensor& key,
                       const at::Tensor& value, const at::Tensor& mask,
                       const Turn& turn) const {
  const double scale =
      1.0 / std::sqrt(static_cast<double>(config_.head_size()));
  const bool drops = turn.drops && config_.attention_dropout > 0.0;
  // The processor's kernel is slow in bf16 and fp16: three times the time of
  // these products for 64 tokens.
  const bool slow = query.is_cpu() && query.scalar_type() != at::kFloat;
  if (!drops && !slow) {
    // Never holds [B, A, M, N].
    return MergeHeads(at::scaled_dot_product_attention(
        query, key, value, mask, 0.0, /*is_causal=*/false, scale));
  }
  const at::Tensor scores =
      at::matmul(query, key.transpose(2, 3)) * scale + mask;  // [B, A, M, N]
  const at::Tensor shares =
      DropShares(at::softmax(scores, -1), config_.attention_dropout,
                 turn);                          // [B, A, M, N]
  return MergeHeads(at::matmul(shares, value));  // [B, M, H]
}

Linear Blocks::Kept(Linear linear) const {
  const at::NoGradGuard no_graph;
  KeepHalf(linear, linear.weight.requires_grad() ? std::nullopt : form_.half);
  return linear;
}

}  // namespace frostline::trainer
