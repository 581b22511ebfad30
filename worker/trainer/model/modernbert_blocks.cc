// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow.
#include "worker/trainer/model/modernbert_blocks.h"

#include <cstddef>

#include "worker/trainer/model/family.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer
