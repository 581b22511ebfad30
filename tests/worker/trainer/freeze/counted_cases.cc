// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/freeze/counted_cases.h"

#include <utility>

namespace frostline::trainer {
namespace {

const HeadSpec kClasses = {.task = Task::kSequence, .outputs = 3};
const HeadSpec kTags = {.task = Task::kTokens, .outputs = 5};
const HeadSpec kMlp = {
    .task = Task::kSequence, .outputs = 3, .kind = HeadKind::kMlp};
const HeadSpec kProduct = {
    .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kInnerProduct};
const HeadSpec kCosine = {
    .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kCosine};
const HeadSpec kTwoMapCosine = {
    .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kTwoMapCosine};
const HeadSpec kFeatures = {
    .task = Task::kSequence, .outputs = 3, .kind = HeadKind::kFeatures};
const HeadSpec kPairMlp = {.task = Task::kSequence,
                           .outputs = 3,
                           .kind = HeadKind::kMlp,
                           .reads_apart = true};

constexpr FreezeSemantics kLr0 = {.mode = FreezeMode::kLr0};
constexpr FreezeSemantics kStill = {.prefix_dropout = PrefixDropout::kOff};
constexpr FreezeSemantics kBiases = {.tuned = Tuned::kBiases};
const std::set<std::int64_t> kAll = {0, 1, 2};
const std::vector<std::pair<std::string, Family>> kThree = {
    {"Bert", Family::kBert},
    {"Electra", Family::kElectra},
    {"Deberta", Family::kDebertaV3}};

ModelConfig Lora(Family family, std::set<LoraPart> parts) {
  ModelConfig config = TinyConfig(family);
  config.lora = {
      .rank = 2, .alpha = 2.0, .dropout = 0.1, .parts = std::move(parts)};
  return config;
}

ModelConfig Bottleneck(Family family) {
  ModelConfig config = TinyConfig(family);
  config.bottleneck.size = 2;
  return config;
}

}  // namespace

ModelConfig TinyConfig(Family family) {
  ModelConfig config;
  config.family = family;
  config.vocabulary = 30;
  config.hidden = 16;
  config.layers = 3;
  config.heads = 2;
  config.feed_forward = 24;
  config.positions = 32;
  const bool typed = family == Family::kBert || family == Family::kElectra;
  config.types = typed ? 2 : 0;
  if (family == Family::kElectra) config.embedding = 12;
  if (family == Family::kDebertaV3) {
    config.buckets = 4;
    config.farthest = 16;
  }
  if (family == Family::kModernBert) {
    config.gated = true;
    config.theta = config.local_theta = 10000.0;
    config.local_layers = {false, true, true};
    config.window = 4;
  }
  if (family == Family::kLlama) {
    config.decoder = config.head_norms = true;
    config.key_heads = 2;
    config.head_width = 12;
    config.theta = 10000.0;
  }
  return config;
}

// Returns the cases of each family: all train, a prefix is frozen, a layer in
// the middle is, all layers are.
std::vector<CountedCase> CasesOfFamilies() {
  std::vector<CountedCase> cases;
  const std::vector<std::pair<std::string, Family>> families = {
      {"Bert", Family::kBert},         {"DistilBert", Family::kDistilBert},
      {"Electra", Family::kElectra},   {"ModernBert", Family::kModernBert},
      {"Deberta", Family::kDebertaV3}, {"Llama", Family::kLlama}};
  for (const auto& [of, family] : families) {
    const ModelConfig config = TinyConfig(family);
    cases.push_back({of + "All", config});
    cases.push_back({of + "Prefix", config, kClasses, {0, 1}, 0.0});
    cases.push_back({of + "Embeddings", config, kTags, {}, 0.0});
    cases.push_back({of + "Middle", config, kTags, {1}});
    cases.push_back({of + "BetweenFrozen", config, kTags, {0, 2}, 0.0});
    cases.push_back({of + "HeadAlone", config, kClasses, kAll, 0.0});
    cases.push_back({of + "Mlp", config, kMlp, kAll, 0.0});
    cases.push_back({of + "Lr0", config, kClasses, {0}, 0.0, kLr0});
    cases.push_back({of + "Stored",
                     config,
                     kClasses,
                     {0},
                     0.0,
                     kStill,
                     SmartOptions(),
                     true});
  }
  return cases;
}

std::vector<CountedCase> CasesOfSettings() {
  using enum LoraPart;
  std::vector<CountedCase> cases;
  for (const auto& [of, family] : kThree) {
    cases.push_back(
        {of + "Biases", TinyConfig(family), kClasses, {}, 1e-4, kBiases});
    cases.push_back(
        {of + "BiasesPrefix", TinyConfig(family), kTags, {0}, 0.0, kBiases});
    cases.push_back(
        {of + "Lora", Lora(family, {kQuery, kValue}), kClasses, {0}, 0.0});
    cases.push_back({of + "LoraWide",
                     Lora(family, {kKey, kFeedForwardOut}),
                     kTags,
                     {},
                     0.0});
    cases.push_back(
        {of + "Bottleneck", Bottleneck(family), kClasses, {0}, 0.0});
  }
  const std::vector<std::pair<std::string, HeadSpec>> pairs = {
      {"Product", kProduct},
      {"Cosine", kCosine},
      {"TwoMapCosine", kTwoMapCosine},
      {"Features", kFeatures},
      {"PairMlp", kPairMlp}};
  for (const auto& [of, head] : pairs) {
    cases.push_back({of, TinyConfig(Family::kElectra), head});
    cases.push_back(
        {of + "Alone", TinyConfig(Family::kElectra), head, kAll, 0.0});
  }
  return cases;
}

// SMART's passes, from the embeddings and from the boundary.
std::vector<CountedCase> CasesOfSmart() {
  std::vector<CountedCase> cases;
  for (const auto& [name, family] : kThree) {
    const ModelConfig config = TinyConfig(family);
    for (const bool boundary : {false, true}) {
      const std::string of = "Smart" + name + (boundary ? "Boundary" : "");
      SmartOptions smart;
      smart.weight = 1.0;
      smart.steps = 2;
      smart.at_boundary = boundary;
      const auto add = [&](const std::string& what, const HeadSpec& head,
                           const std::set<std::int64_t>& frozen, double rate,
                           const FreezeSemantics& semantics, bool stored) {
        cases.push_back(
            {of + what, config, head, frozen, rate, semantics, smart, stored});
      };
      add("All", kClasses, {}, 1e-4, {}, false);
      add("Prefix", kClasses, {0, 1}, 0.0, {}, false);
      add("EmbeddingsFrozen", kTags, {}, 0.0, {}, false);
      add("Lr0", kClasses, {0}, 0.0, kLr0, false);
      add("Pair", kCosine, {0}, 0.0, {}, false);
      smart.pairs_together = true;
      add("PairTogether", kCosine, {0}, 0.0, {}, false);
      smart.bregman = 1.0;
      add("Bregman", kClasses, {0}, 0.0, {}, false);
      add("Stored", kClasses, {0}, 0.0, kStill, true);
      add("HeadAlone", kClasses, kAll, 0.0, {}, false);
    }
  }
  return cases;
}

}  // namespace frostline::trainer
