// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/freeze_plan.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using ::testing::IsEmpty;

const HeadSpec kTwoClasses = {.task = Task::kSequence, .outputs = 2};
const HeadSpec kTags = {.task = Task::kTokens, .outputs = 17};
const FreezeSemantics kLr0 = {.mode = FreezeMode::kLr0,
                              .prefix_dropout = PrefixDropout::kHf};

// Three layers of four heads.
ModelConfig Bert() {
  ModelConfig config;
  config.vocabulary = 140;
  config.hidden = 32;
  config.layers = 3;
  config.heads = 4;
  config.feed_forward = 64;
  config.positions = 64;
  config.types = 2;
  return config;
}

ModuleRates Rates(double embeddings, double l0, double l1, double l2) {
  return {{"embeddings", embeddings},
          {"layer.0", l0},
          {"layer.1", l1},
          {"layer.2", l2},
          {"pooler", 1.0},
          {"head", 1.0}};
}

FreezePlan Plan(const ModuleRates& rates,
                const FreezeSemantics& semantics = {}) {
  const Expected<FreezePlan> plan =
      MakeFreezePlan(Bert(), kTwoClasses, rates, semantics);
  EXPECT_TRUE(plan.ok()) << plan.fault().cause;
  return plan.value();
}

// A copy: the plan is often one that nobody keeps.
ParameterPlan Of(const FreezePlan& plan, const std::string& name) {
  const std::vector<ParameterSpec> specs = ParametersOf(Bert(), kTwoClasses);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name) return plan.parameters[i];
  }
  ADD_FAILURE() << "no " << name;
  return plan.parameters[0];
}

std::string CauseOf(const ModuleRates& rates) {
  const Expected<FreezePlan> plan =
      MakeFreezePlan(Bert(), kTwoClasses, rates, {});
  return plan.ok() ? "" : plan.fault().cause;
}

const LoraSpec kQueryAndUp = {
    .rank = 4,
    .alpha = 4.0,
    .dropout = 0.0,
    .parts = {LoraPart::kQuery, LoraPart::kFeedForwardIn}};

ModelConfig Adapted(const LoraSpec& lora = kQueryAndUp) {
  ModelConfig config = Bert();
  config.lora = lora;
  return config;
}

Expected<FreezePlan> LoraPlan(const ModuleRates& rates,
                              const FreezeSemantics& semantics = {},
                              const LoraSpec& lora = kQueryAndUp) {
  return MakeFreezePlan(Adapted(lora), kTwoClasses, rates, semantics);
}

std::vector<std::string> WithGradient(const FreezePlan& plan,
                                      const ModelConfig& config = Adapted()) {
  const std::vector<ParameterSpec> specs = ParametersOf(config, kTwoClasses);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (plan.parameters[i].needs_gradient) names.push_back(specs[i].name);
  }
  return names;
}

TEST(ModuleNames, HasAPoolerOnlyWhereThereIsOne) {
  EXPECT_THAT(ModuleNames(Bert(), kTwoClasses),
              ElementsAre("embeddings", "layer.0", "layer.1", "layer.2",
                          "pooler", "head"));
  EXPECT_THAT(
      ModuleNames(Bert(), kTags),
      ElementsAre("embeddings", "layer.0", "layer.1", "layer.2", "head"));
}

TEST(FreezePlan, PrefixEndsBeforeTheFirstThatTrains) {
  EXPECT_EQ(Plan(Rates(1, 1, 1, 1)).prefix_blocks, 0);
  EXPECT_EQ(Plan(Rates(0, 1, 1, 1)).prefix_blocks, 1);
  EXPECT_EQ(Plan(Rates(0, 0, 1, 0)).prefix_blocks, 2);
  EXPECT_EQ(Plan(Rates(1, 0, 0, 0)).prefix_blocks, 0);
  EXPECT_EQ(Plan(Rates(0, 0, 0, 0)).prefix_blocks, 4);
}

TEST(FreezePlan, HardTakesGradientsAwayAndLr0KeepsThem) {
  const std::string name = "bert.encoder.layer.0.output.dense.weight";
  const FreezePlan hard = Plan(Rates(0, 0, 1, 1));
  EXPECT_FALSE(Of(hard, name).needs_gradient);
  EXPECT_EQ(hard.frozen_blocks, 2);
  const FreezePlan lr0 = Plan(Rates(0, 0, 1, 1), kLr0);
  EXPECT_TRUE(Of(lr0, name).needs_gradient);
  EXPECT_FALSE(Of(lr0, name).trains());
  EXPECT_EQ(lr0.frozen_blocks, 0);
  EXPECT_EQ(lr0.prefix_blocks, 2);
}

TEST(FreezePlan, TheFinestModuleDecides) {
  ModuleRates rates = Rates(0, 0.5, 1, 1);
  rates["layer.0.ffn"] = 0.25;
  const FreezePlan plan = Plan(rates);
  EXPECT_EQ(Of(plan, "bert.encoder.layer.0.intermediate.dense.bias").rate,
            0.25);
  EXPECT_EQ(Of(plan, "bert.encoder.layer.0.attention.self.key.bias").rate, 0.5);
}

TEST(FreezePlan, AttentionHeadsHaveSlicesOfTheirFourTensors) {
  ModuleRates rates = Rates(0, 0.5, 1, 1);
  rates["layer.0.head.2"] = 0.0;
  const FreezePlan plan = Plan(rates);
  const std::string layer = "bert.encoder.layer.0.";
  for (const char* name :
       {"attention.self.query.weight", "attention.self.value.bias",
        "attention.output.dense.weight"}) {
    EXPECT_THAT(Of(plan, layer + name).head_rates,
                ElementsAre(0.5, 0.5, 0.0, 0.5))
        << name;
  }
  EXPECT_TRUE(
      Of(plan, layer + "attention.output.dense.bias").head_rates.empty());
  // Four tensors of 32 x 32, three of them with a bias of 32: a fourth less.
  EXPECT_EQ(Plan(Rates(0, 0.5, 1, 1)).trained_weights - plan.trained_weights,
            (4 * 32 * 32 + 3 * 32) / 4);
}

TEST(FreezePlan, HeadsThatAgreeAreOneTensor) {
  ModuleRates rates = Rates(0, 0, 1, 1);
  for (const char* head : {"0", "1", "2", "3"}) {
    rates[std::string("layer.0.head.") + head] = 0.75;
  }
  const ParameterPlan query =
      Of(Plan(rates), "bert.encoder.layer.0.attention.self.query.weight");
  EXPECT_TRUE(query.head_rates.empty());
  EXPECT_EQ(query.rate, 0.75);
}

TEST(FreezePlan, RefusesRatesThatDoNotFitTheModel) {
  ModuleRates rates = Rates(1, 1, 1, 1);
  rates.erase("layer.1");
  EXPECT_THAT(CauseOf(rates), HasSubstr("no rate for layer.1"));
  rates = Rates(1, 1, 1, 1);
  rates["layer.3"] = 1.0;
  EXPECT_THAT(CauseOf(rates), HasSubstr("no module layer.3"));
  EXPECT_THAT(CauseOf(Rates(-1, 1, 1, 1)), HasSubstr("embeddings is -1"));
  EXPECT_NE(CauseOf(Rates(std::numeric_limits<double>::infinity(), 1, 1, 1)),
            "");
}

// A space has a rate for every pooler, so one that nobody searches is no sign.
TEST(FreezePlan, APoolerThatIsNotThereIsSaidNotRefused) {
  const Expected<FreezePlan> plan =
      MakeFreezePlan(Bert(), kTags, Rates(1, 1, 1, 1), {});
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan.value().absent, ElementsAre("pooler"));
}

TEST(CheckModules, ASearchedModuleThatIsNotThereIsRefusedByName) {
  const ModuleRates rates = Rates(1, 1, 1, 1);
  EXPECT_TRUE(CheckModules("m", Bert(), kTwoClasses, rates, {"pooler"}).ok());
  EXPECT_TRUE(CheckModules("m", Bert(), kTags, rates, {"head"}).ok());
  const Expected<Done> pooler =
      CheckModules("m", Bert(), kTags, rates, {"head", "pooler"});
  ASSERT_FALSE(pooler.ok());
  EXPECT_EQ(pooler.fault().kind, FaultKind::kMisuse);
  EXPECT_EQ(pooler.fault().cause,
            "m has no module pooler; it has embeddings, layer.0 to layer.2, "
            "head, and of each layer attention, ffn, head.0 to head.3");
  EXPECT_THAT(pooler.fault().fix, HasSubstr("no_pooler: true"));
}

TEST(CheckModules, HeadsThatShareOneOfKeysHaveNoRateOfTheirOwn) {
  ModelConfig config = Bert();
  config.family = Family::kLlama;
  config.decoder = true;
  ModuleRates rates = Rates(1, 1, 1, 1);
  rates["layer.0.head.1"] = 0.0;
  EXPECT_TRUE(CheckModules("m", config, kTwoClasses, rates, {}).ok());
  config.key_heads = config.heads / 2;
  const Expected<Done> shared =
      CheckModules("m", config, kTwoClasses, rates, {});
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.fault().cause,
            "m has no module layer.0.head.1; it has embeddings, layer.0 to "
            "layer.2, head, and of each layer attention, ffn");
}

TEST(CheckModules, OtherModulesThatAreNotThereAreRefusedSearchedOrNot) {
  for (const char* module : {"layer.3", "layer.0.head.4", "layer.3.ffn",
                             "layer.-1", "layer.00", "Pooler", "heads", ""}) {
    ModuleRates rates = Rates(1, 1, 1, 1);
    rates[module] = 0.0;
    const Expected<Done> checked =
        CheckModules("m", Bert(), kTwoClasses, rates, {});
    ASSERT_FALSE(checked.ok()) << module;
    EXPECT_EQ(checked.fault().kind, FaultKind::kMisuse);
    EXPECT_THAT(checked.fault().cause,
                HasSubstr("m has no module " + std::string(module) +
                          "; it has embeddings, layer.0 to layer.2, pooler, "
                          "head, and"));
  }
}

// Adapters train in the place of all weights of the encoder.
TEST(LoraFreezePlan, AdaptersTakeTheRatesOfTheirLayersAndTheRestStays) {
  ModuleRates rates = Rates(0, 0, 0.5, 0.25);
  rates["layer.2.ffn"] = 0.0;
  const FreezePlan plan = LoraPlan(rates).value();
  const std::string layer = "bert.encoder.layer.";
  EXPECT_THAT(WithGradient(plan),
              ElementsAre("bert.pooler.dense.weight", "bert.pooler.dense.bias",
                          "classifier.weight", "classifier.bias",
                          layer + "1.attention.self.query.lora_A.weight",
                          layer + "1.attention.self.query.lora_B.weight",
                          layer + "1.intermediate.dense.lora_A.weight",
                          layer + "1.intermediate.dense.lora_B.weight",
                          layer + "2.attention.self.query.lora_A.weight",
                          layer + "2.attention.self.query.lora_B.weight"));
  EXPECT_EQ(plan.parameters.back().rate, 0.0);
  EXPECT_EQ(plan.frozen_blocks, 2);
  const std::int64_t query = 4 * (32 + 32);
  const std::int64_t up = 4 * (32 + 64);
  EXPECT_EQ(plan.trained_weights,
            2 * query + up + (32 * 32 + 32) + (2 * 32 + 2));
}

// What counts in the norm that is clipped are adapters of rate 0, no weights.
TEST(LoraFreezePlan, Lr0GivesFrozenAdaptersAGradientAndNothingElse) {
  const FreezePlan plan = LoraPlan(Rates(0, 0, 0.5, 0), kLr0).value();
  EXPECT_EQ(WithGradient(plan).size(), 4U + 3 * 4);
  EXPECT_EQ(plan.frozen_blocks, 0);
  EXPECT_EQ(plan.prefix_blocks, 2);
}

TEST(LoraFreezePlan, ARateThatWouldMoveNothingIsRefused) {
  EXPECT_TRUE(LoraPlan(Rates(0, 1, 1, 1)).ok());
  EXPECT_THAT(LoraPlan(Rates(1, 1, 1, 1)).fault().cause,
              HasSubstr("rate of embeddings would move nothing"));
  const LoraSpec key = {
      .rank = 2, .alpha = 2.0, .dropout = 0.0, .parts = {LoraPart::kKey}};
  ModuleRates rates = Rates(0, 1, 1, 1);
  rates["layer.1.ffn"] = 0.0;
  EXPECT_TRUE(LoraPlan(rates, {}, key).ok());
  rates["layer.1.ffn"] = 0.5;
  EXPECT_TRUE(LoraPlan(rates).ok());
  EXPECT_EQ(LoraPlan(rates, {}, key).fault().kind, FaultKind::kMisuse);
  const LoraSpec down = {.rank = 2,
                         .alpha = 2.0,
                         .dropout = 0.0,
                         .parts = {LoraPart::kFeedForwardOut}};
  rates["layer.2.attention"] = 0.5;
  EXPECT_THAT(LoraPlan(rates, {}, down).fault().cause,
              HasSubstr("layer.2.attention"));
}

TEST(LoraFreezePlan, SingleAttentionHeadsShareTheirLayersAdapter) {
  ModuleRates rates = Rates(0, 1, 1, 1);
  rates["layer.1.head.2"] = 0.0;
  EXPECT_EQ(LoraPlan(rates).fault().kind, FaultKind::kMisuse);
}

TEST(LoraFreezePlan, AModuleWithoutARateIsNamedAsWithoutAdapters) {
  ModuleRates rates = Rates(0, 1, 1, 1);
  rates.erase("layer.1");
  EXPECT_THAT(LoraPlan(rates).fault().cause, HasSubstr("no rate for layer.1"));
}

const LoraSpec kSecondAlone = {.ranks = {{"layer.0", 0}, {"layer.1", 4}},
                               .parts = {LoraPart::kQuery}};

// layer.0 has no adapter, layer.1 has one, and layer.2 trains whole.
TEST(RankFreezePlan, TrainedAdaptedAndFrozenLayersStandBesideEachOther) {
  const FreezePlan plan =
      LoraPlan(Rates(0, 0, 0.5, 0.25), {}, kSecondAlone).value();
  std::vector<std::string> second;
  int third = 0;
  for (const std::string& name : WithGradient(plan, Adapted(kSecondAlone))) {
    EXPECT_THAT(name, Not(HasSubstr("layer.0")));
    if (name.find("layer.1.") != std::string::npos) second.push_back(name);
    if (name.find("layer.2.") != std::string::npos) ++third;
  }
  EXPECT_THAT(second, ElementsAre(HasSubstr("query.lora_A"),
                                  HasSubstr("query.lora_B")));
  EXPECT_EQ(third, 16);  // every weight of a layer of BERT
  EXPECT_EQ(plan.prefix_blocks, 2);
  EXPECT_EQ(plan.frozen_blocks, 2);
}

TEST(RankFreezePlan, ARankIsOfALayerThatHasARate) {
  const auto cause = [](const std::string& module) {
    LoraSpec lora = kSecondAlone;
    lora.ranks[module] = 4;
    return LoraPlan(Rates(0, 0, 1, 1), {}, lora).fault().cause;
  };
  EXPECT_THAT(cause("head"), HasSubstr("no linear maps"));
  EXPECT_THAT(cause("layer.1.attention"), HasSubstr("no rate of its own"));
}

constexpr FreezeSemantics kBiasesOnly = {FreezeMode::kHard, PrefixDropout::kHf,
                                         Tuned::kBiases};

TEST(BiasFreezePlan, BiasesTakeTheRatesOfTheirModulesAndTheHeadTrainsWhole) {
  const FreezePlan plan =
      MakeFreezePlan(Bert(), kTwoClasses, Rates(0, 0, 0.5, 0.25), kBiasesOnly)
          .value();
  for (const std::string& name : WithGradient(plan, Bert())) {
    EXPECT_TRUE(name.ends_with("bias") || name.starts_with("classifier") ||
                name.starts_with("bert.pooler"))
        << name;
  }
  // A layer has query, key, value, both outputs, both norms, and the wide map.
  EXPECT_EQ(plan.trained_weights,
            2 * (7 * 32 + 64) + (32 * 32 + 32) + (2 * 32 + 2));
  EXPECT_EQ(plan.frozen_blocks, 2);
}

TEST(BiasFreezePlan, Lr0GivesFrozenBiasesAGradientAndNoWeight) {
  FreezeSemantics lr0 = kBiasesOnly;
  lr0.mode = FreezeMode::kLr0;
  const FreezePlan plan =
      MakeFreezePlan(Bert(), kTwoClasses, Rates(0, 0, 0.5, 0), lr0).value();
  EXPECT_EQ(WithGradient(plan, Bert()).size(), 1U + 3 * 8 + 4);
}

TEST(BottleneckFreezePlan, AdaptersTrainInThePlaceOfWeights) {
  ModelConfig config = Bert();
  config.bottleneck.size = 4;
  const auto planned = [&](const ModuleRates& rates) {
    return MakeFreezePlan(config, kTwoClasses, rates, {});
  };
  ModuleRates rates = Rates(0, 0, 0.5, 0.25);
  rates["layer.2.ffn"] = 0.0;
  const std::int64_t adapter = 2 * 4 * 32 + 4 + 32;
  EXPECT_EQ(planned(rates).value().trained_weights,
            3 * adapter + (32 * 32 + 32) + (2 * 32 + 2));
  EXPECT_EQ(planned(rates).value().frozen_blocks, 2);
  EXPECT_THAT(planned(Rates(1, 1, 1, 1)).fault().cause,
              HasSubstr("rate of embeddings would move nothing"));
  rates["layer.1.head.0"] = 1.0;
  EXPECT_THAT(planned(rates).fault().cause, HasSubstr("share the adapter"));
}

constexpr StepBound kAdam = {.each = 7.27, .together = 0.0, .decay = 0.0};
const std::map<std::string, WeightSize> kSizes = {{"layer.0", {0.04, 1e6}},
                                                  {"layer.1", {0.04, 1e6}},
                                                  {"layer.2", {0.04, 1e6}}};

// 7.27 x 5e-9 x 100 = 3.6e-6 is below 1e-4 x 0.04 = 4e-6; 6e-9 is above.
TEST(VirtuallyFrozen, TakesWhatCannotMoveFarEnough) {
  const ModuleRates rates = {
      {"layer.0", 5e-9}, {"layer.1", 6e-9}, {"layer.2", 0.0}, {"head", 2e-10}};
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, kAdam, 100.0, 1e-4),
              ElementsAre("layer.0"));
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, kAdam, 100.0, 0.0), IsEmpty());
}

// 1e-4 of a weight in 100 steps is 1e-6 of it in one: no room is left.
TEST(VirtuallyFrozen, DecayMovesAWeightToo) {
  StepBound decayed = kAdam;
  decayed.decay = 100.0;
  const ModuleRates rates = {{"layer.0", 5e-9}};
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, decayed, 100.0, 1e-4), IsEmpty());
}

// A norm of 1 over a million weights is a thousandth of each.
TEST(VirtuallyFrozen, WhatIsBoundedTogetherIsSharedByAllWeights) {
  const StepBound clipped = {.each = 0.0, .together = 1.0, .decay = 0.0};
  const ModuleRates rates = {{"layer.0", 3.9e-5}, {"layer.1", 4.1e-5}};
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, clipped, 100.0, 1e-4),
              ElementsAre("layer.0"));
}

}  // namespace
}  // namespace frostline::trainer
