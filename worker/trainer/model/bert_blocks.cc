// SPDX-License-Identifier: Apache-2.0
//
// In the order in which data flow.
#include "worker/trainer/model/bert_blocks.h"

#include <cstddef>
#include <string>
#include <utility>

#include "worker/trainer/model/dropout.h"
#include "worker/trainer/model/family.h"

namespace frostline::trainer {
namespace {

// RoBERTa numbers the tokens that are no padding, from behind the padding id;
// padding has the padding id itself. The mask has no say in it.
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

// Query, key and value side by side, where one product is wanted and none of
// them trains; else each is kept alone. A head that reads one token needs the
// query's map apart from the others.
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
  // Of narrower ones; sums along the layers are fp32.
  return Apply(projection_, hidden).to(at::kFloat);  // [B, N, H]
}

// One product for all of them, or for key and value where fewer tokens ask.
// Adapters come after it, in the order in which they would come alone.
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

}  // namespace frostline::trainer
