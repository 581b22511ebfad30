// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/parameters.h"

#include <algorithm>
#include <utility>

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

// H hidden, F feed forward.
class Lister {
 public:
  Lister(const ModelConfig& config, std::vector<ParameterSpec>& specs)
      : prefix_(PrefixOf(config)), specs_(specs) {}

  void At(Part part, std::int64_t layer) {
    part_ = part;
    layer_ = layer;
  }

  void Embedding(const std::string& name, std::int64_t rows,
                 std::int64_t width) {
    Add(prefix_ + name + ".weight", {rows, width}, Role::kEmbedding);
  }

  void Norm(const std::string& name, std::int64_t width) {
    Add(name + ".weight", {width}, Role::kNorm);
    Add(name + ".bias", {width}, Role::kNorm);
    specs_.back().norm_bias = true;
  }

  // Of kRows the bias is cut like the weight, of kColumns it is not.
  void Linear(const std::string& name, std::int64_t outputs,
              std::int64_t inputs, HeadAxis axis = HeadAxis::kNone) {
    Add(name + ".weight", {outputs, inputs}, Role::kWeight);
    specs_.back().head_axis = axis;
    Add(name + ".bias", {outputs}, Role::kBias);
    if (axis == HeadAxis::kRows) specs_.back().head_axis = axis;
  }

  // What is added to the linear map `name`.
  void Adapter(const std::string& name, std::int64_t outputs,
               std::int64_t inputs, std::int64_t rank) {
    Add(LoraANameOf(name), {rank, inputs}, Role::kLoraA);
    Add(LoraBNameOf(name), {outputs, rank}, Role::kLoraB);
  }

  const std::string& prefix() const { return prefix_; }

 private:
  void Add(std::string name, std::vector<std::int64_t> shape, Role role) {
    ParameterSpec spec;
    spec.name = std::move(name);
    spec.shape = std::move(shape);
    spec.part = part_;
    spec.layer = layer_;
    spec.role = role;
    specs_.push_back(std::move(spec));
  }

  const std::string prefix_;
  std::vector<ParameterSpec>& specs_;
  Part part_ = Part::kEmbeddings;
  std::int64_t layer_ = -1;
};

void ListEmbeddings(const ModelConfig& config, Lister& list) {
  list.At(Part::kEmbeddings, -1);
  list.Embedding("embeddings.word_embeddings", config.vocabulary,
                 config.hidden);
  list.Embedding("embeddings.position_embeddings", config.positions,
                 config.hidden);
  if (config.types > 0) {
    list.Embedding("embeddings.token_type_embeddings", config.types,
                   config.hidden);
  }
  list.Norm(list.prefix() + "embeddings.LayerNorm", config.hidden);
}

void ListLayer(const ModelConfig& config, std::int64_t layer, Lister& list) {
  const std::int64_t hidden = config.hidden;
  const LayerNames names = LayerNamesOf(config, layer);
  list.At(Part::kAttention, layer);
  list.Linear(names.query, hidden, hidden, HeadAxis::kRows);
  list.Linear(names.key, hidden, hidden, HeadAxis::kRows);
  list.Linear(names.value, hidden, hidden, HeadAxis::kRows);
  list.Linear(names.attention_out, hidden, hidden, HeadAxis::kColumns);
  list.Norm(names.attention_norm, hidden);
  list.At(Part::kFeedForward, layer);
  list.Linear(names.up, config.feed_forward, hidden);
  list.Linear(names.down, hidden, config.feed_forward);
  list.Norm(names.norm, hidden);
}

void ListHead(const ModelConfig& config, const HeadSpec& head, Lister& list) {
  const std::int64_t hidden = config.hidden;
  if (HasPooler(config, head)) {
    list.At(Part::kPooler, -1);
    list.Linear(list.prefix() + "pooler.dense", hidden, hidden);
  }
  list.At(Part::kHead, -1);
  if (head.task == Task::kPairCosine) {
    list.Linear("projection", hidden, hidden);
    return;
  }
  const bool whole_text = head.task != Task::kTokens;
  if (whole_text && config.family == Family::kRoberta) {
    list.Linear("classifier.dense", hidden, hidden);
    list.Linear("classifier.out_proj", head.outputs, hidden);
    return;
  }
  if (whole_text && config.family == Family::kDistilBert) {
    list.Linear("pre_classifier", hidden, hidden);
  }
  list.Linear("classifier", head.outputs, hidden);
}

void ListAdapters(const ModelConfig& config, std::int64_t layer, Lister& list) {
  const LayerNames names = LayerNamesOf(config, layer);
  const std::int64_t hidden = config.hidden;
  const std::int64_t wide = config.feed_forward;
  const auto add = [&](LoraPart part, const std::string& name,
                       std::int64_t outputs, std::int64_t inputs) {
    if (!config.lora.on(part)) return;
    list.Adapter(name, outputs, inputs, config.lora.rank);
  };
  list.At(Part::kAttention, layer);
  add(LoraPart::kQuery, names.query, hidden, hidden);
  add(LoraPart::kKey, names.key, hidden, hidden);
  add(LoraPart::kValue, names.value, hidden, hidden);
  add(LoraPart::kAttentionOut, names.attention_out, hidden, hidden);
  list.At(Part::kFeedForward, layer);
  add(LoraPart::kFeedForwardIn, names.up, wide, hidden);
  add(LoraPart::kFeedForwardOut, names.down, hidden, wide);
}

}  // namespace

std::string LoraANameOf(const std::string& linear) {
  return linear + ".lora_A.weight";
}

std::string LoraBNameOf(const std::string& linear) {
  return linear + ".lora_B.weight";
}

bool ReadsFirstToken(const HeadSpec& head) {
  return head.task != Task::kTokens &&
         !(head.task == Task::kPairCosine && head.pooling == Pooling::kMean);
}

Expected<Done> CheckHead(const HeadSpec& head) {
  const bool one =
      head.task == Task::kRegression || head.task == Task::kPairCosine;
  if (head.outputs < 1 || head.outputs > kMaxOutputs ||
      (one && head.outputs != 1)) {
    return Fault{FaultKind::kMisuse,
                 "a head with " + std::to_string(head.outputs) + " outputs",
                 "a regression and a pair have 1, a classification has as many "
                 "as there are classes"};
  }
  return Done{};
}

std::string_view PrefixOf(const ModelConfig& config) {
  switch (config.family) {
    case Family::kBert:
      return "bert.";
    case Family::kDistilBert:
      return "distilbert.";
    case Family::kRoberta:
      return "roberta.";
  }
  return "";
}

bool HasPooler(const ModelConfig& config, const HeadSpec& head) {
  return config.family == Family::kBert && head.task != Task::kTokens &&
         !(head.task == Task::kPairCosine && head.pooling == Pooling::kMean);
}

LayerNames LayerNamesOf(const ModelConfig& config, std::int64_t layer) {
  const bool distil = config.family == Family::kDistilBert;
  const std::string at = std::string(PrefixOf(config)) +
                         (distil ? "transformer" : "encoder") + ".layer." +
                         std::to_string(layer) + ".";
  if (distil) {
    return {at + "attention.q_lin", at + "attention.k_lin",
            at + "attention.v_lin", at + "attention.out_lin",
            at + "sa_layer_norm",   at + "ffn.lin1",
            at + "ffn.lin2",        at + "output_layer_norm"};
  }
  return {at + "attention.self.query",
          at + "attention.self.key",
          at + "attention.self.value",
          at + "attention.output.dense",
          at + "attention.output.LayerNorm",
          at + "intermediate.dense",
          at + "output.dense",
          at + "output.LayerNorm"};
}

std::vector<ParameterSpec> EncoderParametersOf(const ModelConfig& config) {
  std::vector<ParameterSpec> specs;
  Lister list(config, specs);
  ListEmbeddings(config, list);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    ListLayer(config, layer, list);
  }
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    ListAdapters(config, layer, list);
  }
  return specs;
}

std::vector<ParameterSpec> HeadParametersOf(const ModelConfig& config,
                                            const HeadSpec& head) {
  std::vector<ParameterSpec> specs;
  Lister list(config, specs);
  ListHead(config, head, list);
  return specs;
}

std::vector<ParameterSpec> ParametersOf(const ModelConfig& config,
                                        const HeadSpec& head) {
  std::vector<ParameterSpec> specs = EncoderParametersOf(config);
  const auto adapters = std::ranges::find_if(specs, &ParameterSpec::adapts);
  const std::vector<ParameterSpec> more = HeadParametersOf(config, head);
  specs.insert(adapters, more.begin(), more.end());
  return specs;
}

}  // namespace frostline::trainer
