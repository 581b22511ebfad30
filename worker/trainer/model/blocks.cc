// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/blocks.h"

#include <ATen/ops/ceil.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "worker/trainer/model/family.h"
#include "worker/trainer/model/layers.h"

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
    case Family::kLlama:
      return std::make_shared<LlamaBlocks>(config, found, form);
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

Blocks::Surroundings Blocks::After(const Batch& /*batch*/,
                                   TokenMemory& /*memory*/) const {
  TORCH_CHECK(false, "only a decoder goes on with a text");
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
  const double scale = config_.lora.ScaleOf(linear.lora_a.size(0));
  return mapped + at::linear(few, linear.lora_b) * scale;
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
  // The CPU's kernel is slow in bf16 and fp16: for 64 tokens it takes three
  // times as long as these products.
  const bool slow = query.is_cpu() && query.scalar_type() != at::kFloat;
  if (!drops && !slow) {
    // This kernel never holds [B, A, M, N].
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

// In the order in which data flow.

namespace {

// Returns RoBERTa's positions. Tokens that are not padding count from the
// padding id + 1, and padding has the padding id itself. The mask does not
// matter.
at::Tensor RobertaPositions(const at::Tensor& ids, std::int64_t pad_id) {
  const at::Tensor real = ids.ne(pad_id).to(at::kLong);  // [B, N]
  return real.cumsum(1) * real + pad_id;                 // [B, N]
}

}  // namespace

BertBlocks::BertBlocks(const ModelConfig& config, const WeightsByName& found,
                       const Form& form)
    : Blocks(config, form) {
  const FamilyRules& rules = RulesOf(config.family);
  const std::string at = std::string(rules.prefix()) + "embeddings.";
  words_ = found.Value(at + "word_embeddings.weight");
  positions_ = found.Value(at + "position_embeddings.weight");
  if (config.types > 0) {
    types_ = found.Value(at + "token_type_embeddings.weight");
  }
  embedding_norm_ = found.NormOf(at + "LayerNorm");
  const std::string projection = "electra.embeddings_project";
  if (found.Has(projection + ".weight")) {
    projection_ = found.LinearOf(projection);
  }
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const LayerNames names = rules.NamesOf(config, i);
    layers_.push_back(
        {found.LinearOf(names.query), found.LinearOf(names.key),
         found.LinearOf(names.value), Kept(found.LinearOf(names.attention_out)),
         found.NormOf(names.attention_norm), Kept(found.LinearOf(names.up)),
         Kept(found.LinearOf(names.down)), found.NormOf(names.norm)});
    layers_.back().joined = KeptTogether(layers_.back());
  }
}

// Returns query, key and value side by side if one product is wanted and none
// of them trains; else each is kept alone. The query's map is always kept
// alone, for a head that reads one token.
Linear BertBlocks::KeptTogether(Layer& layer) const {
  const at::NoGradGuard no_graph;
  const bool trains =
      Trains(layer.query) || Trains(layer.key) || Trains(layer.value);
  layer.query = Kept(layer.query);
  if (!form().kernels.one_product || trains) {
    layer.key = Kept(layer.key);
    layer.value = Kept(layer.value);
    return {};
  }
  Linear joined = Kept(SideBySide({layer.query, layer.key, layer.value}));
  if (form().half) joined.weight = joined.bias = at::Tensor();  // never used
  return joined;
}

at::Tensor BertBlocks::Embed(const Batch& batch, const Pass& pass) const {
  const ModelConfig& model = config();
  // The row of the padding id has no gradient.
  at::Tensor sum = at::embedding(words_, batch.ids, model.pad_id);
  if (model.types > 0) {
    const at::Tensor types = batch.types.defined()
                                 ? batch.types
                                 : at::zeros_like(batch.ids);  // [B, N]
    sum = sum + at::embedding(types_, types);                  // [B, N, H]
  }
  if (model.family == Family::kRoberta) {
    const at::Tensor places = RobertaPositions(batch.ids, model.pad_id);
    sum = sum + at::embedding(positions_, places, model.pad_id);  // [B, N, H]
  } else {
    const at::Tensor places =
        at::arange(batch.ids.size(1), batch.ids.options());
    sum = sum + at::embedding(positions_, places);  // [B, N, H]
  }
  const at::Tensor hidden = DropEmbedded(Normalize(sum, embedding_norm_, model),
                                         batch, pass);  // [B, N, H]
  if (!projection_.weight.defined()) return hidden;
  // Autocast may have made it narrower; sums along the layers are fp32.
  return Apply(projection_, hidden).to(at::kFloat);  // [B, N, H]
}

// Takes one product for all three, or for key and value if fewer tokens ask.
// Adapters follow in the order that they have without it.
BertBlocks::Projections BertBlocks::Project(const Layer& layer,
                                            const at::Tensor& asking,
                                            const at::Tensor& hidden,
                                            const Turn& turn) const {
  if (!form().kernels.one_product) {
    return {Map(layer.query, asking, turn), Map(layer.key, hidden, turn),
            Map(layer.value, hidden, turn)};
  }
  const bool all = asking.size(1) == hidden.size(1);
  const bool kept = CanApply(layer.joined, hidden);
  const std::int64_t width = config().hidden;
  Linear joined;
  if (all) {
    joined =
        kept ? layer.joined : SideBySide({layer.query, layer.key, layer.value});
  } else {
    joined = kept ? Rows(layer.joined, width, 2 * width)
                  : SideBySide({layer.key, layer.value});
  }
  const std::vector<at::Tensor> mapped =
      Apply(joined, hidden).chunk(all ? 3 : 2, 2);
  const at::Tensor query = all ? mapped[0] : Apply(layer.query, asking);
  const std::size_t key = all ? 1 : 0;
  return {Adapted(layer.query, query, asking, turn),
          Adapted(layer.key, mapped[key], hidden, turn),
          Adapted(layer.value, mapped[key + 1], hidden, turn)};
}

at::Tensor BertBlocks::RunLayer(std::int64_t index, const at::Tensor& hidden,
                                const Surroundings& around,
                                const Pass& pass) const {
  const ModelConfig& model = config();
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const Turn turn = TurnOf(index, around, pass);
  const at::Tensor asking = Asking(hidden, turn);  // [B, M, H]
  const Projections mapped = Project(layer, asking, hidden, turn);
  const at::Tensor seen = See(SplitHeads(mapped.query, model.heads),
                              SplitHeads(mapped.key, model.heads),
                              SplitHeads(mapped.value, model.heads),
                              around.mask, turn);              // [B, M, H]
  at::Tensor attended = Map(layer.attention_out, seen, turn);  // [B, M, H]
  if (model.family != Family::kDistilBert) {  // which has none here
    attended = Drop(attended, model.hidden_dropout, turn);
  }
  attended = Behind(layer.attention_out, attended);
  const at::Tensor middle =
      Normalize(asking + attended, layer.attention_norm, model);  // [B, M, H]
  const at::Tensor wide =
      Activate(Map(layer.up, middle, turn), model.activation);  // [B, M, F]
  const at::Tensor narrow =
      Behind(layer.down, Drop(Map(layer.down, wide, turn), model.hidden_dropout,
                              turn));                    // [B, M, H]
  return Normalize(middle + narrow, layer.norm, model);  // [B, M, H]
}

// In the order in which data flow. S is half of the rows of distances.

namespace {

// Returns the bucket of each distance. Distances up to half of the buckets have
// one each; farther ones share the rest by their logarithm. All is in fp32, as
// in transformers, because rounding decides where a bucket ends.
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

// Returns what transformers calls c2p_pos, [N, N]: the row is the asking token,
// the column the one that it looks at.
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

// Returns the embeddings. Padding is 0 from here on, and not only unseen.
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

// In the order in which data flow.

ModernBertBlocks::ModernBertBlocks(const ModelConfig& config,
                                   const WeightsByName& found, const Form& form)
    : Blocks(config, form) {
  words_ = found.Value("model.embeddings.tok_embeddings.weight");
  embedding_norm_ = found.NormOf("model.embeddings.norm");
  last_norm_ = found.NormOf("model.final_norm");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const LayerNames names = RulesOf(config.family).NamesOf(config, i);
    layers_.push_back({i > 0 ? found.NormOf(names.attention_norm) : Norm{},
                       Kept(found.LinearOf(names.qkv)),
                       Kept(found.LinearOf(names.attention_out)),
                       found.NormOf(names.norm), Kept(found.LinearOf(names.up)),
                       Kept(found.LinearOf(names.down)),
                       config.local_layers[static_cast<std::size_t>(i)]});
  }
}

at::Tensor ModernBertBlocks::Embed(const Batch& batch, const Pass& pass) const {
  const at::Tensor words = at::embedding(words_, batch.ids, config().pad_id);
  return DropEmbedded(Normalize(words, embedding_norm_, config()), batch,
                      pass);  // [B, N, H]
}

Blocks::Surroundings ModernBertBlocks::Around(const Batch& batch) const {
  Surroundings around = Blocks::Around(batch);
  const std::int64_t tokens = batch.ids.size(1);
  const at::TensorOptions floats = batch.ids.options().dtype(at::kFloat);
  around.rotation =
      RotationOf(tokens, config().head_size(), config().theta, floats);
  around.local_rotation =
      RotationOf(tokens, config().head_size(), config().local_theta, floats);
  around.local_mask = around.mask;
  if (tokens <= config().window + 1) return around;  // it holds the whole text
  const at::Tensor places = at::arange(tokens, batch.ids.options());
  const at::Tensor near =
      (places.unsqueeze(1) - places).abs().le(config().window);  // [N, N]
  around.local_mask = AdditiveMask(batch.mask.unsqueeze(1) *
                                   near.to(at::kLong));  // [B, 1, N, N]
  return around;
}

at::Tensor ModernBertBlocks::Attend(const Layer& layer,
                                    const at::Tensor& hidden,
                                    const Turn& turn) const {
  const at::Tensor normal =
      layer.attention_norm.weight.defined()
          ? Normalize(hidden, layer.attention_norm, config())
          : hidden;  // [B, N, H]
  const std::vector<at::Tensor> mapped =
      Map(layer.qkv, normal, turn).chunk(3, 2);
  const auto heads = [&](const at::Tensor& x) {
    return SplitHeads(x, config().heads);  // [B, A, N, D]
  };
  const Rotation& rotation =
      layer.local ? turn.around.local_rotation : turn.around.rotation;
  const at::Tensor asking = Asking(mapped[0], turn);  // [B, M, H]
  at::Tensor mask = layer.local ? turn.around.local_mask : turn.around.mask;
  if (mask.size(2) > asking.size(1)) mask = mask.narrow(2, 0, asking.size(1));
  const at::Tensor seen =
      See(Rotate(heads(asking), rotation), Rotate(heads(mapped[1]), rotation),
          heads(mapped[2]), mask, turn);  // [B, M, H]
  return Behind(layer.attention_out, Drop(Map(layer.attention_out, seen, turn),
                                          config().attention_dropout, turn));
}

at::Tensor ModernBertBlocks::FeedForward(const Layer& layer,
                                         const at::Tensor& hidden,
                                         const Turn& turn) const {
  const std::vector<at::Tensor> wide =
      Map(layer.up, Normalize(hidden, layer.norm, config()), turn)
          .chunk(2, 2);  // [B, M, F]
  const at::Tensor gated =
      Activate(wide[0], config().activation) * wide[1];  // [B, M, F]
  return Behind(
      layer.down,
      Map(layer.down, Drop(gated, config().hidden_dropout, turn), turn));
}

at::Tensor ModernBertBlocks::RunLayer(std::int64_t index,
                                      const at::Tensor& hidden,
                                      const Surroundings& around,
                                      const Pass& pass) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const Turn turn = TurnOf(index, around, pass);
  const at::Tensor middle =
      Asking(hidden, turn) + Attend(layer, hidden, turn);  // [B, M, H]
  const at::Tensor sum =
      middle + FeedForward(layer, middle, turn);  // [B, M, H]
  if (index + 1 < config().layers) return sum;
  return Normalize(sum, last_norm_, config());  // [B, M, H]
}

// In the order in which data flow.

LlamaBlocks::LlamaBlocks(const ModelConfig& config, const WeightsByName& found,
                         const Form& form)
    : Blocks(config, form) {
  words_ = found.Value("model.embed_tokens.weight");
  last_norm_ = found.NormOf("model.norm");
  const auto norm_of = [&](const std::string& name) {
    return config.head_norms ? found.NormOf(name) : Norm{};
  };
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const LayerNames names = RulesOf(config.family).NamesOf(config, i);
    layers_.push_back(
        {found.NormOf(names.attention_norm), Kept(found.LinearOf(names.query)),
         Kept(found.LinearOf(names.key)), Kept(found.LinearOf(names.value)),
         norm_of(names.query_norm), norm_of(names.key_norm),
         Kept(found.LinearOf(names.attention_out)), found.NormOf(names.norm),
         Kept(found.LinearOf(names.gate)), Kept(found.LinearOf(names.up)),
         Kept(found.LinearOf(names.down))});
  }
}

at::Tensor LlamaBlocks::Embed(const Batch& batch, const Pass& pass) const {
  const std::int64_t pad = config().pads_alone ? config().pad_id : -1;
  return DropEmbedded(at::embedding(words_, batch.ids, pad), batch,
                      pass);  // [B, N, H]
}

Blocks::Surroundings LlamaBlocks::Around(const Batch& batch) const {
  Surroundings around;
  around.batch = &batch;
  const std::int64_t tokens = batch.ids.size(1);
  around.rotation = RotationOf(tokens, config().head_size(), config().theta,
                               batch.ids.options().dtype(at::kFloat),
                               config().rotary_scaling);
  const at::Tensor before =
      at::ones({tokens, tokens}, batch.mask.options()).tril();  // [N, N]
  around.mask = AdditiveMask(batch.mask.unsqueeze(1) * before);
  return around;  // its mask: [B, 1, N, N]
}

Blocks::Surroundings LlamaBlocks::After(const Batch& batch,
                                        TokenMemory& memory) const {
  Surroundings around;
  if (memory.keys.empty()) {
    around = Around(batch);
    memory.keys.resize(layers_.size());
    memory.values.resize(layers_.size());
    memory.there = batch.mask;
    memory.lengths = batch.mask.sum(1);
  } else {
    around.batch = &batch;
    const std::int64_t most = memory.there.size(1) + 1;  // of any position
    const Rotation all = RotationOf(most, config().head_size(), config().theta,
                                    batch.ids.options().dtype(at::kFloat),
                                    config().rotary_scaling);
    const auto own = [&](const at::Tensor& of_all) {
      return of_all.index_select(0, memory.lengths)
          .unsqueeze(1)
          .unsqueeze(1);  // [B, 1, 1, D]
    };
    around.rotation = {own(all.cosine), own(all.sine)};
    memory.there = at::cat(
        {memory.there, at::ones(batch.ids.sizes(), batch.ids.options())},
        1);  // [B, T + 1]
    memory.lengths = memory.lengths + 1;
    around.mask = AdditiveMask(memory.there);  // [B, 1, 1, T + 1]
  }
  around.memory = &memory;
  return around;
}

at::Tensor LlamaBlocks::ForQueries(const at::Tensor& x) const {
  const std::int64_t share = config().heads / config().heads_of_keys();
  return share == 1 ? x : x.repeat_interleave(share, 1);  // [B, A, N, D]
}

at::Tensor LlamaBlocks::Attend(const Layer& layer, const at::Tensor& hidden,
                               const Turn& turn) const {
  const at::Tensor normal =
      Normalize(hidden, layer.attention_norm, config());  // [B, N, H]
  const auto rotated = [&](const Linear& map, const Norm& norm,
                           std::int64_t heads) {
    at::Tensor x = SplitHeads(Map(map, normal, turn), heads);
    if (norm.weight.defined()) x = Normalize(x, norm, config());
    return Rotate(x, turn.around.rotation);  // [B, A or K, N, D]
  };
  const std::int64_t keys = config().heads_of_keys();
  const at::Tensor query =
      rotated(layer.query, layer.query_norm, config().heads);
  at::Tensor key = rotated(layer.key, layer.key_norm, keys);
  at::Tensor value = SplitHeads(Map(layer.value, normal, turn), keys);
  if (TokenMemory* const memory = turn.around.memory) {
    const auto i = static_cast<std::size_t>(turn.layer);
    if (memory->keys[i].defined()) {
      key = at::cat({memory->keys[i], key}, 2);        // [B, K, T, D]
      value = at::cat({memory->values[i], value}, 2);  // [B, K, T, D]
    }
    memory->keys[i] = key;
    memory->values[i] = value;
  }
  const at::Tensor seen = See(query, ForQueries(key), ForQueries(value),
                              turn.around.mask, turn);  // [B, N, A * D]
  return Behind(layer.attention_out, Map(layer.attention_out, seen, turn));
}

// SwiGLU (Shazeer, 2020).
at::Tensor LlamaBlocks::FeedForward(const Layer& layer,
                                    const at::Tensor& hidden,
                                    const Turn& turn) const {
  const at::Tensor normal = Normalize(hidden, layer.norm, config());
  const at::Tensor gate =
      Activate(Map(layer.gate, normal, turn), config().activation);
  const at::Tensor gated = gate * Map(layer.up, normal, turn);  // [B, N, F]
  return Behind(layer.down, Map(layer.down, gated, turn));      // [B, N, H]
}

at::Tensor LlamaBlocks::RunLayer(std::int64_t index, const at::Tensor& hidden,
                                 const Surroundings& around,
                                 const Pass& pass) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const Turn turn = TurnOf(index, around, pass);
  const at::Tensor middle = hidden + Attend(layer, hidden, turn);  // [B, N, H]
  const at::Tensor sum =
      middle + FeedForward(layer, middle, turn);  // [B, N, H]
  if (index + 1 < config().layers) return sum;
  return Normalize(sum, last_norm_, config());  // [B, N, H]
}

}  // namespace frostline::trainer
