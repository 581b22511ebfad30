// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow: embeddings, layers, head.
//   B texts, N tokens, H hidden, F feed forward, A attention heads, D = H / A,
//   C outputs.
#include "worker/trainer/model/model.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "worker/trainer/model/layers.h"

namespace frostline {
namespace {

// RoBERTa numbers the tokens that are no padding, from behind the padding id;
// padding has the padding id itself. The mask has no say in it.
at::Tensor RobertaPositions(const at::Tensor& ids, std::int64_t pad_id) {
  const at::Tensor real = ids.ne(pad_id).to(at::kLong);  // [B, N]
  return real.cumsum(1) * real + pad_id;                 // [B, N]
}

}  // namespace

Batch MoveTo(const Batch& batch, at::Device device) {
  const auto moved = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(device) : tensor;
  };
  return {moved(batch.ids), moved(batch.mask), moved(batch.types),
          moved(batch.labels), moved(batch.boundary)};
}

Model::Model(ModelConfig config, HeadSpec head, std::vector<at::Tensor> values)
    : config_(std::move(config)), head_(head) {
  std::vector<ParameterSpec> specs = ParametersOf(config_, head_);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    places_.emplace(specs[i].name, i);
    parameters_.push_back({std::move(specs[i]), std::move(values[i])});
  }
  const std::string prefix(PrefixOf(config_));
  words_ = Value(prefix + "embeddings.word_embeddings.weight");
  positions_ = Value(prefix + "embeddings.position_embeddings.weight");
  if (config_.types > 0) {
    types_ = Value(prefix + "embeddings.token_type_embeddings.weight");
  }
  embedding_norm_ = NormOf(prefix + "embeddings.LayerNorm");
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const LayerNames names = LayerNamesOf(config_, i);
    layers_.push_back({LinearOf(names.query), LinearOf(names.key),
                       LinearOf(names.value), LinearOf(names.attention_out),
                       NormOf(names.attention_norm), LinearOf(names.up),
                       LinearOf(names.down), NormOf(names.norm)});
  }
  const bool roberta = config_.family == Family::kRoberta;
  if (HasPooler(config_, head_)) pooler_ = LinearOf(prefix + "pooler.dense");
  if (head_.task == Task::kPairCosine) {
    dense_ = LinearOf("projection");
  } else if (roberta && head_.task != Task::kTokens) {
    dense_ = LinearOf("classifier.dense");
    output_ = LinearOf("classifier.out_proj");
  } else {
    if (places_.contains("pre_classifier.weight")) {
      dense_ = LinearOf("pre_classifier");
    }
    output_ = LinearOf("classifier");
  }
}

Model Model::To(at::Device device) const {
  const at::NoGradGuard no_graph;
  std::vector<at::Tensor> values;
  for (const Parameter& each : parameters_) {
    values.push_back(each.value.to(device));
  }
  return Model(config_, head_, std::move(values));
}

Model Model::Merged() const {
  const at::NoGradGuard no_graph;
  ModelConfig plain = config_;
  plain.lora = {};
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec : ParametersOf(plain, head_)) {
    values.push_back(Value(spec.name).detach());
    if (spec.role != Role::kWeight) continue;
    const Linear linear =
        LinearOf(spec.name.substr(0, spec.name.rfind(".weight")));
    if (!linear.lora_a.defined()) continue;
    values.back() = values.back() + at::matmul(linear.lora_b, linear.lora_a) *
                                        config_.lora.scale();
  }
  return Model(std::move(plain), head_, std::move(values));
}

const at::Tensor& Model::Value(const std::string& name) const {
  return parameters_[places_.at(name)].value;
}

Linear Model::LinearOf(const std::string& name) const {
  Linear linear = {Value(name + ".weight"), Value(name + ".bias"), {}, {}};
  if (places_.contains(LoraANameOf(name))) {
    linear.lora_a = Value(LoraANameOf(name));
    linear.lora_b = Value(LoraBNameOf(name));
  }
  return linear;
}

Norm Model::NormOf(const std::string& name) const {
  return {Value(name + ".weight"), Value(name + ".bias")};
}

bool Model::Drops(std::int64_t block, const Pass& pass) const {
  return pass.training && block >= pass.still_blocks;
}

at::Tensor Model::Embed(const Batch& batch, const Pass& pass) const {
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
  return Dropout(hidden, Drops(0, pass) ? config_.hidden_dropout : 0.0,
                 pass.chance);  // [B, N, H]
}

at::Tensor Model::Map(const Linear& linear, const at::Tensor& x, bool drops,
                      const Pass& pass) const {
  const at::Tensor plain = Apply(linear, x);  // [..., outputs]
  if (!linear.lora_a.defined()) return plain;
  const at::Tensor seen =
      Dropout(x, drops ? config_.lora.dropout : 0.0, pass.chance);
  const at::Tensor few = at::linear(seen, linear.lora_a);  // [..., rank]
  return plain + at::linear(few, linear.lora_b) * config_.lora.scale();
}

at::Tensor Model::Attend(const Layer& layer, const at::Tensor& hidden,
                         const at::Tensor& mask, bool drops,
                         const Pass& pass) const {
  const std::int64_t heads = config_.heads;
  const double scale =
      1.0 / std::sqrt(static_cast<double>(config_.head_size()));
  const at::Tensor query =
      SplitHeads(Map(layer.query, hidden, drops, pass), heads);
  const at::Tensor key = SplitHeads(Map(layer.key, hidden, drops, pass), heads);
  const at::Tensor value =
      SplitHeads(Map(layer.value, hidden, drops, pass), heads);
  const at::Tensor scores =
      at::matmul(query, key.transpose(2, 3)) * scale + mask;  // [B, A, N, N]
  const at::Tensor shares =
      Dropout(at::softmax(scores, -1), drops ? config_.attention_dropout : 0.0,
              pass.chance);                           // [B, A, N, N]
  const at::Tensor seen = at::matmul(shares, value);  // [B, A, N, D]
  return Map(layer.attention_out, MergeHeads(seen), drops, pass);  // [B, N, H]
}

at::Tensor Model::RunLayer(std::int64_t index, const at::Tensor& hidden,
                           const at::Tensor& mask, const Pass& pass) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const bool drops = Drops(1 + index, pass);
  const double dropout = drops ? config_.hidden_dropout : 0.0;
  at::Tensor attended = Attend(layer, hidden, mask, drops, pass);  // [B, N, H]
  if (config_.family != Family::kDistilBert) {  // which has none here
    attended = Dropout(attended, dropout, pass.chance);
  }
  const at::Tensor middle =
      Normalize(hidden + attended, layer.attention_norm, config_);  // [B, N, H]
  const at::Tensor wide = Activate(Map(layer.up, middle, drops, pass),
                                   config_.activation);  // [B, N, F]
  const at::Tensor narrow = Dropout(Map(layer.down, wide, drops, pass), dropout,
                                    pass.chance);          // [B, N, H]
  return Normalize(middle + narrow, layer.norm, config_);  // [B, N, H]
}

at::Tensor Model::Prefix(const Batch& batch, const Pass& pass,
                         std::vector<at::Tensor>* states) const {
  std::optional<at::NoGradGuard> without_graph;
  if (pass.frozen_blocks > 0) without_graph.emplace();
  const at::Tensor mask = AdditiveMask(batch.mask);
  at::Tensor hidden = Embed(batch, pass);  // [B, N, H]
  if (states != nullptr) states->push_back(hidden);
  for (std::int64_t i = 0; i + 1 < pass.frozen_blocks; ++i) {
    hidden = RunLayer(i, hidden, mask, pass);  // [B, N, H]
    if (states != nullptr) states->push_back(hidden);
  }
  return hidden;
}

at::Tensor Model::Suffix(const at::Tensor& boundary, const Batch& batch,
                         const Pass& pass,
                         std::vector<at::Tensor>* states) const {
  const at::Tensor mask = AdditiveMask(batch.mask);
  const std::int64_t first = std::max<std::int64_t>(0, pass.frozen_blocks - 1);
  at::Tensor hidden = boundary;  // [B, N, H]
  for (std::int64_t i = first; i < config_.layers; ++i) {
    hidden = RunLayer(i, hidden, mask, pass);  // [B, N, H]
    if (states != nullptr) states->push_back(hidden);
  }
  return hidden;
}

at::Tensor Model::Pooled(const at::Tensor& hidden, const Batch& batch) const {
  if (head_.task == Task::kPairCosine && head_.pooling == Pooling::kMean) {
    const at::Tensor mask =
        batch.mask.unsqueeze(2).to(hidden.scalar_type());         // [B, N, 1]
    return (hidden * mask).sum(1) / mask.sum(1).clamp_min(1e-9);  // [B, H]
  }
  const at::Tensor first = hidden.select(1, 0);  // [B, H]
  if (!pooler_.weight.defined()) return first;
  return at::tanh(Apply(pooler_, first));  // [B, H]
}

at::Tensor Model::Head(const at::Tensor& hidden, const Batch& batch,
                       const Pass& pass) const {
  // A score that is rounded to bf16 ties with its neighbours; the head is small
  // enough to go without.
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(
      c10::autocast_dispatch_keyset);
  const auto drop = [&](const at::Tensor& x, double share) {
    return Dropout(x, pass.training ? share : 0.0, pass.chance);
  };
  if (head_.task == Task::kTokens) {
    return Apply(output_, drop(hidden, config_.token_dropout));  // [B, N, C]
  }
  const double dropout = config_.sequence_dropout;
  at::Tensor text = Pooled(hidden, batch);  // [B, H]
  if (head_.task == Task::kPairCosine) {
    text = Apply(dense_, drop(text, dropout));  // [B, H]
    const std::int64_t pairs = text.size(0) / 2;
    const at::Tensor alike = at::cosine_similarity(
        text.narrow(0, 0, pairs), text.narrow(0, pairs, pairs));  // [B/2]
    return head_.scale * at::relu(alike);                         // [B/2]
  }
  if (config_.family == Family::kDistilBert) {
    text = at::relu(Apply(dense_, text));  // [B, H]
  } else if (config_.family == Family::kRoberta) {
    text = at::tanh(Apply(dense_, drop(text, dropout)));  // [B, H]
  }
  return Apply(output_, drop(text, dropout));  // [B, C]
}

at::Tensor Model::Forward(const Batch& batch, const Pass& pass) const {
  const at::Tensor boundary = batch.boundary.defined()
                                  ? batch.boundary
                                  : Prefix(batch, pass);  // [B, N, H]
  return Head(Suffix(boundary, batch, pass), batch, pass);
}

}  // namespace frostline
