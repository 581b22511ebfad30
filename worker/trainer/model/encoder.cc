// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow: embeddings, then layers.
//   B texts, N tokens, H hidden, F feed forward, A attention heads, D = H / A;
//   M tokens go through a layer: N, or 1 in the top one (Pass::first_token).
#include "worker/trainer/model/encoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "worker/trainer/model/dropout.h"
#include "worker/trainer/model/layers.h"

namespace frostline::trainer {
namespace {

// RoBERTa numbers the tokens that are no padding, from behind the padding id;
// padding has the padding id itself. The mask has no say in it.
at::Tensor RobertaPositions(const at::Tensor& ids, std::int64_t pad_id) {
  const at::Tensor real = ids.ne(pad_id).to(at::kLong);  // [B, N]
  return real.cumsum(1) * real + pad_id;                 // [B, N]
}

}  // namespace

TransformerEncoder::TransformerEncoder(ModelConfig config,
                                       std::vector<Weight> weights)
    : config_(std::move(config)), weights_(std::move(weights)) {
  const WeightsByName found(weights_);
  const std::string prefix(PrefixOf(config_));
  words_ = found.Value(prefix + "embeddings.word_embeddings.weight");
  positions_ = found.Value(prefix + "embeddings.position_embeddings.weight");
  if (config_.types > 0) {
    types_ = found.Value(prefix + "embeddings.token_type_embeddings.weight");
  }
  embedding_norm_ = found.NormOf(prefix + "embeddings.LayerNorm");
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const LayerNames names = LayerNamesOf(config_, i);
    layers_.push_back(
        {found.LinearOf(names.query), found.LinearOf(names.key),
         found.LinearOf(names.value), found.LinearOf(names.attention_out),
         found.NormOf(names.attention_norm), found.LinearOf(names.up),
         found.LinearOf(names.down), found.NormOf(names.norm)});
  }
}

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

void TransformerEncoder::KeepHalves(bool wanted) {
  const at::NoGradGuard no_graph;
  for (Layer& layer : layers_) {
    for (Linear* map : {&layer.query, &layer.key, &layer.value,
                        &layer.attention_out, &layer.up, &layer.down}) {
      const bool kept =
          wanted && !map->weight.requires_grad() && !map->bias.requires_grad();
      if (kept == map->half_weight.defined()) continue;
      map->half_weight = kept ? map->weight.to(at::kBFloat16) : at::Tensor();
      map->half_bias = kept ? map->bias.to(at::kBFloat16) : at::Tensor();
    }
  }
}

bool TransformerEncoder::Drops(std::int64_t block, const Pass& pass) const {
  return pass.training && block >= pass.still_blocks;
}

at::Tensor TransformerEncoder::Embed(const Batch& batch,
                                     const Pass& pass) const {
  // The row of the padding id has no gradient.
  at::Tensor sum = at::embedding(words_, batch.ids, config_.pad_id);
  if (config_.types > 0) {
    const at::Tensor types = batch.types.defined()
                                 ? batch.types
                                 : at::zeros_like(batch.ids);  // [B, N]
    sum = sum + at::embedding(types_, types);                  // [B, N, H]
  }
  if (config_.family == Family::kRoberta) {
    const at::Tensor places = RobertaPositions(batch.ids, config_.pad_id);
    sum = sum + at::embedding(positions_, places, config_.pad_id);  // [B, N, H]
  } else {
    const at::Tensor places =
        at::arange(batch.ids.size(1), batch.ids.options());
    sum = sum + at::embedding(positions_, places);  // [B, N, H]
  }
  const at::Tensor hidden = Normalize(sum, embedding_norm_, config_);
  return Dropout(hidden, Drops(0, pass) ? config_.hidden_dropout : 0.0, batch,
                 {-1, DropPlace::kEmbedded});  // [B, N, H]
}

at::Tensor TransformerEncoder::Map(const Linear& linear, const at::Tensor& x,
                                   const Batch& batch, bool drops,
                                   const DropSite& site) const {
  at::Tensor plain = Apply(linear, x);  // [..., outputs]
  if (!linear.lora_a.defined()) return plain;
  const at::Tensor seen =
      Dropout(x, drops ? config_.lora.dropout : 0.0, batch, site);
  const at::Tensor few = at::linear(seen, linear.lora_a);  // [..., rank]
  return plain + at::linear(few, linear.lora_b) * config_.lora.scale();
}

at::Tensor TransformerEncoder::Attend(std::int64_t index,
                                      const at::Tensor& asking,
                                      const at::Tensor& hidden,
                                      const at::Tensor& mask,
                                      const Batch& batch, bool drops) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const std::int64_t heads = config_.heads;
  const double scale =
      1.0 / std::sqrt(static_cast<double>(config_.head_size()));
  const auto map = [&](const Linear& linear, const at::Tensor& x,
                       DropPlace place) {
    return Map(linear, x, batch, drops, {index, place});
  };
  const at::Tensor query =
      SplitHeads(map(layer.query, asking, DropPlace::kQuery), heads);
  const at::Tensor key =
      SplitHeads(map(layer.key, hidden, DropPlace::kKey), heads);
  const at::Tensor value =
      SplitHeads(map(layer.value, hidden, DropPlace::kValue), heads);
  const at::Tensor scores =
      at::matmul(query, key.transpose(2, 3)) * scale + mask;  // [B, A, M, N]
  const at::Tensor shares =
      Dropout(at::softmax(scores, -1), drops ? config_.attention_dropout : 0.0,
              batch, {index, DropPlace::kShares});    // [B, A, M, N]
  const at::Tensor seen = at::matmul(shares, value);  // [B, A, M, D]
  return map(layer.attention_out, MergeHeads(seen),
             DropPlace::kAttentionOut);  // [B, M, H]
}

at::Tensor TransformerEncoder::RunLayer(std::int64_t index,
                                        const at::Tensor& hidden,
                                        const at::Tensor& mask,
                                        const Batch& batch,
                                        const Pass& pass) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const bool drops = Drops(1 + index, pass);
  const double dropout = drops ? config_.hidden_dropout : 0.0;
  const bool few = pass.first_token && index + 1 == config_.layers;
  const at::Tensor asking = few ? hidden.narrow(1, 0, 1) : hidden;  // [B, M, H]
  at::Tensor attended =
      Attend(index, asking, hidden, mask, batch, drops);  // [B, M, H]
  if (config_.family != Family::kDistilBert) {            // which has none here
    attended = Dropout(attended, dropout, batch, {index, DropPlace::kAttended});
  }
  const at::Tensor middle =
      Normalize(asking + attended, layer.attention_norm, config_);  // [B, M, H]
  const at::Tensor wide =
      Activate(Map(layer.up, middle, batch, drops, {index, DropPlace::kUp}),
               config_.activation);  // [B, M, F]
  const at::Tensor narrow =
      Dropout(Map(layer.down, wide, batch, drops, {index, DropPlace::kDown}),
              dropout, batch, {index, DropPlace::kFedForward});  // [B, M, H]
  return Normalize(middle + narrow, layer.norm, config_);        // [B, M, H]
}

at::Tensor TransformerEncoder::Run(const at::Tensor& boundary,
                                   const Batch& batch, const Pass& pass,
                                   std::int64_t from, std::int64_t to,
                                   std::vector<at::Tensor>* states) const {
  const at::Tensor mask = AdditiveMask(batch.mask);
  at::Tensor hidden = boundary;  // [B, N, H]
  for (std::int64_t block = from; block < to; ++block) {
    hidden = block == 0 ? Embed(batch, pass)
                        : RunLayer(block - 1, hidden, mask, batch, pass);
    if (states != nullptr) states->push_back(hidden);
  }
  return hidden;
}

at::Tensor TransformerEncoder::Prefix(const Batch& batch, const Pass& pass,
                                      std::vector<at::Tensor>* states) const {
  std::optional<at::NoGradGuard> without_graph;
  if (pass.frozen_blocks > 0) without_graph.emplace();
  const std::int64_t to = std::max<std::int64_t>(1, pass.frozen_blocks);
  return Run({}, batch, pass, 0, to, states);
}

at::Tensor TransformerEncoder::Suffix(const at::Tensor& boundary,
                                      const Batch& batch, const Pass& pass,
                                      std::vector<at::Tensor>* states) const {
  const std::int64_t from = std::max<std::int64_t>(1, pass.frozen_blocks);
  return Run(boundary, batch, pass, from, 1 + config_.layers, states);
}

}  // namespace frostline::trainer
