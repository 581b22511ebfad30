// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/memory.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "worker/registry/check.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::registry {
namespace {

using trainer::Family;
using trainer::ModelConfig;
using trainer::ParameterSpec;
using trainer::Part;

constexpr std::int64_t kUsualBatch = 32;
constexpr std::int64_t kUsualTokens = 128;
constexpr double kTokensOfEvaluation = 2'048.0;  // of a batch, on a processor
// Of a batch that only frozen layers read, whose results are kept
// (trainer/prefix/boundary_maker.h); for each thread.
constexpr double kTokensOfPrefix = 256.0;
constexpr double kBytesOfAWeight = 4.0;
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kOfItself = 1.0;  // what a trainer holds besides, in MiB

std::string LayerName(std::int64_t layer) {
  return "layer." + std::to_string(layer);
}

std::string HalfOf(const ParameterSpec& spec) {
  switch (spec.part) {
    case Part::kEmbeddings:
      return "embeddings";
    case Part::kAttention:
      return LayerName(spec.layer) + ".attention";
    case Part::kFeedForward:
      return LayerName(spec.layer) + ".ffn";
    case Part::kPooler:
      return "pooler";
    case Part::kHead:
      break;
  }
  return "head";
}

double SizeOf(const ParameterSpec& spec) {
  double size = 1.0;
  for (const std::int64_t side : spec.shape) size *= static_cast<double>(side);
  return size;
}

}  // namespace

absl::StatusOr<TrainingMemory> TrainingMemory::Of(const Registry& registry,
                                                  const TrainingUse& use) {
  ASSIGN_OR_RETURN(const ModelConfig config, ReadModelOf(registry, use.model));
  TrainingMemory memory;
  memory.use_ = use;
  memory.layers_ = config.layers;
  for (const ParameterSpec& spec :
       trainer::ParametersOf(config, trainer::HeadSpec())) {
    const double size = SizeOf(spec);
    memory.weights_[HalfOf(spec)] += size;
    memory.all_weights_ += size;
  }
  memory.texts_ = use.batch_size > 0 ? use.batch_size : kUsualBatch;
  memory.longest_ = std::min(use.max_length > 0 ? use.max_length : kUsualTokens,
                             config.longest_text());
  memory.Count(config);
  return memory;
}

// Counts what the backward pass keeps of one token, as the audit of freezing
// measures it. In the order of a layer: query, key and value, or what is left
// of their sum; the shares of attention before and after dropout, and its marks
// of one byte, or of half precision on a processor the shares twice, and what
// they are multiplied with (blocks.h); the sums before norms, with the marks of
// their dropout; the wide states before the activation, and after it where
// weights train. Of a top layer of which one token is read, that token keeps
// all of this, and the others keep keys and values. In half precision states
// take half of it, and each weight that trains a half more.
void TrainingMemory::Count(const ModelConfig& config) {
  const auto hidden = static_cast<double>(config.hidden);
  const auto wide = static_cast<double>(config.feed_forward);
  const auto shares = static_cast<double>(config.heads * longest_);
  const bool drops = config.attention_dropout > 0.0;
  const bool gated = config.gated || config.family == Family::kLlama;
  const bool grouped = config.family == Family::kLlama;
  const double held = 1.5 * shares + (grouped ? 2.0 : 1.0) * hidden;
  const double seen =
      drops ? (use_.half ? 1.75 : 2.25) * shares : (use_.half ? held : hidden);
  const double one = use_.half ? 0.5 : 1.0;
  passes_ = seen + (use_.half ? 4.0 : 5.5) * hidden +
            one * (gated ? 3.0 : 1.0) * wide;
  trains_ = passes_ + (use_.half ? 2.5 : 3.0) * hidden + one * wide;
  const bool first = !use_.reads_all && !config.decoder;
  const auto tokens = static_cast<double>(longest_);
  top_passes_ = first ? hidden + (passes_ - hidden) / tokens : passes_;
  top_trains_ =
      first ? 2.0 * hidden + (trains_ - 2.0 * hidden) / tokens : trains_;
  embeddings_ = 2.25 * hidden;
  given_ = one * hidden;
  working_ = drops || use_.half ? 2.0 * shares : 0.0;
  if (use_.answers) {
    // A piece of them, and what its losses pass back.
    logits_ = 2.0 * std::min(static_cast<double>(trainer::kMostLogits),
                             static_cast<double>(texts_ * longest_) *
                                 static_cast<double>(config.vocabulary));
  }
  reading_ = 2.0 * hidden + (gated ? 2.0 : 1.0) * wide;
}

namespace {

// Says whether one of the names stands for this half of a layer, or for all.
bool IsNamedIn(const std::set<std::string>& modules,
               const std::string& module) {
  return modules.contains(module) ||
         (module.starts_with("layer.") &&
          modules.contains(module.substr(0, module.find_last_of('.'))));
}

bool TouchesLayer(const std::set<std::string>& modules, std::int64_t layer) {
  const std::string name = LayerName(layer);
  return modules.contains(name) || modules.contains(name + ".attention") ||
         modules.contains(name + ".ffn");
}

}  // namespace

double TrainingMemory::WeightsOf(const TrainedModules& trained) const {
  double weights = 0.0;
  for (const auto& [module, size] : weights_) {
    if (IsNamedIn(trained.whole, module)) weights += size;
  }
  return weights;
}

double TrainingMemory::ActivationsOf(const TrainedModules& trained) const {
  double kept = trained.whole.contains("embeddings") ? embeddings_ : 0.0;
  double again = 0.0;  // of the one layer that is run once more
  bool below = kept > 0.0;
  for (std::int64_t i = 0; i < layers_; ++i) {
    const bool trains = TouchesLayer(trained.whole, i);
    below = below || trains || TouchesLayer(trained.adapted, i);
    if (!below) continue;
    const bool top = i + 1 == layers_;
    const double whole = top ? (trains ? top_trains_ : top_passes_)
                             : (trains ? trains_ : passes_);
    again = std::max(again, whole);
    kept += use_.recomputes ? given_ : whole;
    // The first steps of the backward pass free nothing of such a layer.
    if (i + 2 == layers_ && !trains) kept += working_;
  }
  if (!below) return 0.0;
  if (use_.recomputes) kept += again;
  const double halves = use_.half ? WeightsOf(trained) / 2.0 : 0.0;
  return kept * static_cast<double>(texts_ * longest_) + halves;
}

// What is there as long as the trial trains.
double TrainingMemory::CopiesOf(const TrainedModules& trained) const {
  const double copies = 1.0 + use_.moments + (use_.keeps_best ? 1.0 : 0.0);
  return all_weights_ + copies * WeightsOf(trained) + HalvesOf(trained);
}

// What layers that do not train keep in half precision beside their weights.
double TrainingMemory::HalvesOf(const TrainedModules& trained) const {
  if (!use_.half) return 0.0;
  double frozen = 0.0;
  for (const auto& [module, size] : weights_) {
    const bool trains = IsNamedIn(trained.whole, module);
    if (module.starts_with("layer.") && !trains) frozen += size;
  }
  return frozen / 2.0;
}

double TrainingMemory::MostAtOnce(const TrainedModules& trained) const {
  const double kept = ActivationsOf(trained);
  const double evaluating =
      reading_ * (kept > 0.0 ? kTokensOfEvaluation : kTokensOfPrefix);
  const double at_work =
      std::max({kept + logits_, WeightsOf(trained), evaluating + logits_});
  return kOfItself +
         (CopiesOf(trained) + at_work) * kBytesOfAWeight / kMebibyte;
}

double TrainingMemory::Least(const TrainedModules& trained) const {
  return (CopiesOf(trained) + WeightsOf(trained)) * kBytesOfAWeight / kMebibyte;
}

double TrainingMemory::Optimizer(const TrainedModules& trained) const {
  return use_.moments * WeightsOf(trained) * kBytesOfAWeight / kMebibyte;
}

}  // namespace frostline::registry
