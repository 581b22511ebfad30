// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow. S is half of the rows of distances.
#include "worker/trainer/model/deberta_blocks.h"

#include <ATen/ops/ceil.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <cstddef>

#include "worker/trainer/model/family.h"

namespace frostline::trainer {
namespace {

// Distances up to half of the buckets have one each; those beyond share the
// rest by their logarithm. In fp32 throughout, as transformers has it: where a
// bucket ends is a matter of rounding.
at::Tensor Buckets(const at::Tensor& distances, const ModelConfig& config) {
  const std::int64_t middle = config.buckets / 2;
  const at::Tensor far =
      distances.abs().clamp_min(middle - 1).to(at::kFloat) / middle;
  const double most =
      static_cast<double>(config.farthest - 1) / static_cast<double>(middle);
  const at::Tensor whole = at::log(at::scalar_tensor(
      most, at::TensorOptions(at::kFloat).device(distances.device())));
  const at::Tensor shared =
      at::ceil(at::log(far) / whole * (middle - 1)) + middle;
  return at::where(distances.abs().le(middle), distances.to(at::kFloat),
                   shared * at::sign(distances))
      .to(at::kLong);
}

// What transformers calls c2p_pos, [N, N]: from the asking token's row to the
// column of the one that it looks at.
at::Tensor PlacesOf(std::int64_t tokens, const at::TensorOptions& options,
                    const ModelConfig& config) {
  const at::Tensor at = at::arange(tokens, options);
  at::Tensor distances = at.unsqueeze(1) - at;  // [N, N]
  if (config.buckets > 0) distances = Buckets(distances, config);
  return (distances + config.span()).clamp(0, 2 * config.span() - 1);
}

}  // namespace

DebertaBlocks::DebertaBlocks(const ModelConfig& config,
                             const WeightsByName& found, const Form& form)
    : Blocks(config, form) {
  words_ = found.Value("deberta.embeddings.word_embeddings.weight");
  embedding_norm_ = found.NormOf("deberta.embeddings.LayerNorm");
  distances_ = found.Value("deberta.encoder.rel_embeddings.weight");
  distance_norm_ = found.NormOf("deberta.encoder.LayerNorm");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const LayerNames names = RulesOf(config.family).NamesOf(config, i);
    layers_.push_back(
        {Kept(found.LinearOf(names.query)), Kept(found.LinearOf(names.key)),
         Kept(found.LinearOf(names.value)),
         Kept(found.LinearOf(names.attention_out)),
         found.NormOf(names.attention_norm), Kept(found.LinearOf(names.up)),
         Kept(found.LinearOf(names.down)), found.NormOf(names.norm)});
  }
}

// Padding is 0 from here on, not only unseen.
at::Tensor DebertaBlocks::Embed(const Batch& batch, const Pass& pass) const {
  const at::Tensor words = at::embedding(words_, batch.ids, config().pad_id);
  const at::Tensor hidden = Normalize(words, embedding_norm_, config());
  return DropEmbedded(hidden * batch.mask.unsqueeze(2).to(at::kFloat), batch,
                      pass);  // [B, N, H]
}

Blocks::Surroundings DebertaBlocks::Around(const Batch& batch) const {
  Surroundings around;
  around.batch = &batch;
  // Padding looks at all alike, as in transformers.
  around.mask = AdditiveMask(batch.mask.unsqueeze(1) *
                             batch.mask.unsqueeze(2));  // [B, 1, N, N]
  around.distances =
      Normalize(distances_, distance_norm_, config()).unsqueeze(0);
  around.places =
      PlacesOf(batch.ids.size(1), batch.ids.options(), config());  // [N, N]
  return around;
}

at::Tensor DebertaBlocks::Attend(const Layer& layer, const at::Tensor& hidden,
                                 const Turn& turn) const {
  const double scale =
      std::sqrt(3.0 * static_cast<double>(config().head_size()));
  const auto heads = [&](const Linear& map, const at::Tensor& x) {
    return SplitHeads(Map(map, x, turn), config().heads);
  };
  const at::Tensor query = heads(layer.query, Asking(hidden, turn));
  const at::Tensor key = heads(layer.key, hidden);      // [B, A, N, D]
  const at::Tensor value = heads(layer.value, hidden);  // [B, A, N, D]
  const at::Tensor distances =
      DropShared(turn.around.distances, config().hidden_dropout, turn);
  const at::Tensor far_key = heads(layer.key, distances);      // [1, A, 2S, D]
  const at::Tensor far_query = heads(layer.query, distances);  // [1, A, 2S, D]
  const at::Tensor places =
      turn.around.places.narrow(0, 0, query.size(2));  // [M, N]
  const auto pick = [&](const at::Tensor& from, const at::Tensor& index) {
    return at::gather(from, 3,
                      index.expand({from.size(0), from.size(1), index.size(0),
                                    index.size(1)}));
  };
  const at::Tensor by_key = pick(at::matmul(query, far_key.transpose(2, 3)),
                                 places);  // [B, A, M, N]
  const at::Tensor by_query = pick(at::matmul(key, far_query.transpose(2, 3)),
                                   places.t());  // [B, A, N, M]
  const at::Tensor scores =
      (at::matmul(query, key.transpose(2, 3)) + by_key +
       by_query.transpose(2, 3)) /
          scale +
      turn.around.mask.narrow(2, 0, query.size(2));  // [B, A, M, N]
  const at::Tensor shares =
      DropShares(at::softmax(scores, -1), config().attention_dropout, turn);
  return Map(layer.attention_out, MergeHeads(at::matmul(shares, value)), turn);
}

at::Tensor DebertaBlocks::RunLayer(std::int64_t index, const at::Tensor& hidden,
                                   const Surroundings& around,
                                   const Pass& pass) const {
  const ModelConfig& model = config();
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const Turn turn = TurnOf(index, around, pass);
  const at::Tensor attended =
      Behind(layer.attention_out,
             Drop(Attend(layer, hidden, turn), model.hidden_dropout,
                  turn));  // [B, M, H]
  const at::Tensor middle =
      Normalize(Asking(hidden, turn) + attended, layer.attention_norm, model);
  const at::Tensor wide =
      Activate(Map(layer.up, middle, turn), model.activation);  // [B, M, F]
  const at::Tensor narrow =
      Behind(layer.down, Drop(Map(layer.down, wide, turn), model.hidden_dropout,
                              turn));                    // [B, M, H]
  return Normalize(middle + narrow, layer.norm, model);  // [B, M, H]
}

}  // namespace frostline::trainer
