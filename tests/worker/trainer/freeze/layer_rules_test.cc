// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/layer_rules.h"

#include <ATen/ops/diag.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

const ModuleRates kAll = {{"embeddings", 1e-3}, {"layer.0", 1e-3},
                          {"layer.1", 1e-3},    {"layer.2", 1e-3},
                          {"pooler", 1e-3},     {"head", 1e-3}};

// Quartiles of 1, 2, 3, 10 are 1.75 and 4.75, so noise ends at
// 3 / 1.349 * (1 + 1) = 4.448; 10 / (1 + 2 + 3) / 10.
TEST(LayerRules, SignalToNoiseByHand) {
  const at::Tensor square = at::diag(at::tensor({10.0, 3.0, 2.0, 1.0}));
  EXPECT_NEAR(SignalToNoise(square.to(at::kFloat)), 1.0 / 6.0, 1e-6);
  // Of 4 x 16 noise ends at 3 / 1.349 * 1.5 = 3.336, and 3 is noise still.
  at::Tensor wide = at::zeros({4, 16});
  wide.narrow(1, 0, 4).copy_(square);
  EXPECT_NEAR(SignalToNoise(wide), 1.0 / 6.0, 1e-6);
  // Of 4 x 400 at 2.446: 10 + 3 are signal.
  at::Tensor wider = at::zeros({4, 400});
  wider.narrow(1, 0, 4).copy_(square);
  EXPECT_NEAR(SignalToNoise(wider), 13.0 / 3.0 / 10.0, 1e-6);
}

TEST(LayerRules, AllSignalAndNothingAtAll) {
  // One value only, so that the noise ends at 0: 4 * 2 / 1 / 2.
  EXPECT_NEAR(SignalToNoise(2 * at::eye(4)), 4.0, 1e-6);
  EXPECT_EQ(SignalToNoise(at::zeros({3, 5})), 0.0);
}

// What scripts/rules_fixtures.py recorded of a seed, in fp64: small matrices,
// and a model that is multiplied column by column.
class RecordedRules : public ::testing::TestWithParam<const char*> {
 protected:
  RecordedRules()
      : recorded_(FixturePath("../../worker/trainer/freeze/data/rules_" +
                              std::string(GetParam()) + ".json")),
        model_(LoadFixture(std::string(recorded_["model"].text)).model) {
    for (Weight& each : model_.weights()) {
      if (const JsonValue* eighths =
              recorded_["factors"].Find(each.spec.name)) {
        each.value.mul_(at::tensor(Numbers(*eighths), at::kFloat));
      }
    }
  }

  // `scores` are the recorded ones, and choose as many of the layers.
  void Expect(const LayerScores& scores, const std::string& figures,
              const std::string& rule, bool least_is_best) const {
    EXPECT_EQ(scores.size(), 3U);
    for (const auto& [layer, score] : scores) {
      const double wanted = recorded_[figures].Find(layer)->number;
      EXPECT_NEAR(score, wanted, 1e-5 * wanted) << layer;
    }
    const std::vector<std::string> layers =
        LayersWithRate(model_.config(), kAll);
    const JsonValue* chosen = recorded_[rule].first;
    for (const double share : Numbers(recorded_["shares"])) {
      EXPECT_THAT(TopShare(layers, scores, least_is_best, share),
                  ElementsAreArray(Texts(*chosen)))
          << rule << " " << share;
      chosen = chosen->next;
    }
    EXPECT_EQ(chosen, nullptr);
  }

  // [B, N], or [B] where the rows are numbers.
  at::Tensor Integers(const std::string& name) const {
    std::vector<at::Tensor> rows;
    const JsonValue* list = recorded_["batch"].Find(name);
    if (list->first->first == nullptr) {
      return at::tensor(Numbers(*list)).to(at::kLong);
    }
    for (const JsonValue* row = list->first; row != nullptr; row = row->next) {
      rows.push_back(at::tensor(Numbers(*row)).to(at::kLong));
    }
    return at::stack(rows);
  }

  JsonFixture recorded_;
  Model model_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, RecordedRules, ::testing::Values("s41", "s42"),
                         [](const auto& each) { return each.param; });

TEST_P(RecordedRules, RatiosOfMatricesAreThoseOfNumpy) {
  for (const JsonValue* each = recorded_["matrices"].first; each != nullptr;
       each = each->next) {
    std::vector<at::Tensor> rows;
    for (const JsonValue* row = each->Find("rows")->first; row != nullptr;
         row = row->next) {
      rows.push_back(at::tensor(Numbers(*row), at::kFloat));
    }
    const double wanted = each->Find("ratio")->number;
    EXPECT_NEAR(SignalToNoise(at::stack(rows)), wanted, 1e-5 * wanted);
  }
}

TEST_P(RecordedRules, SpectrumChoosesWhatNumpyChooses) {
  const std::map<std::string, double> signals = SignalsOf(model_);
  EXPECT_EQ(signals.size(), 18U);
  EXPECT_EQ(recorded_["ratios"].count, 18U);
  for (const auto& [name, signal] : signals) {
    const JsonValue* wanted = recorded_["ratios"].Find(name);
    ASSERT_NE(wanted, nullptr) << name;
    EXPECT_NEAR(signal, wanted->number, 2e-5) << name;
  }
  Expect(PlacesBySignal(model_, kAll, signals), "places", "spectrum", true);
}

TEST_P(RecordedRules, RelativeGradientsAreThoseOfAutograd) {
  for (Weight& each : model_.weights()) each.value.set_requires_grad(true);
  Batch batch;
  batch.ids = Integers("input_ids");
  batch.mask = Integers("attention_mask");
  batch.labels = Integers("labels");
  LossOf(model_.head().spec(), model_.Forward(batch, Pass{}), batch.labels, 0.0,
         {})
      .backward();
  std::vector<at::Tensor> gradients;
  for (const Weight& each : model_.weights()) {
    gradients.push_back(each.value.grad());
  }
  Expect(RelativeGradients(model_, kAll, gradients), "gradients", "gradient",
         false);
}

TEST(LayerRules, PlacesAreOfTheModulesThatHaveRates) {
  ModuleRates rates = kAll;
  rates.erase("layer.2");
  rates["layer.2.attention"] = 1e-3;
  rates["layer.2.ffn"] = 0.0;
  rates["layer.1"] = 0.0;
  const Model model = LoadFixture("models/bert-seq2").model;
  EXPECT_THAT(LayersWithRate(model.config(), rates),
              ElementsAre("layer.0", "layer.2.attention"));
  const LayerScores places = PlacesBySignal(model, rates, SignalsOf(model));
  ASSERT_EQ(places.size(), 2U);  // what is frozen takes no place
  EXPECT_NEAR(places.at("layer.0"), 1.0, 1e-12);
  EXPECT_NEAR(places.at("layer.2.attention"), 2.0, 1e-12);
}

TEST(LayerRules, AShareIsRoundedDownAndHasOneAtLeast) {
  const std::vector<std::string> layers = {"layer.0", "layer.1", "layer.2"};
  const LayerScores scores = {
      {"layer.0", 2.0}, {"layer.1", 3.0}, {"layer.2", 2.0}};
  EXPECT_THAT(TopShare(layers, scores, true, 0.5), ElementsAre("layer.0"));
  EXPECT_THAT(TopShare(layers, scores, true, 0.7),
              ElementsAre("layer.0", "layer.2"));
  EXPECT_THAT(TopShare(layers, scores, false, 0.25), ElementsAre("layer.1"));
  EXPECT_THAT(TopShare(layers, scores, false, 0.67),
              ElementsAre("layer.0", "layer.1"));  // of equals the lower
  EXPECT_EQ(TopShare(layers, scores, false, 1.0).size(), 3U);
  EXPECT_THAT(TopShare({}, {}, false, 0.5), IsEmpty());
}

TEST(LayerRules, AttentionsAndFeedForwardsAreEachAmongTheirOwn) {
  const std::vector<std::string> parts = {"layer.0.attention", "layer.0.ffn",
                                          "layer.1.attention", "layer.1.ffn"};
  const LayerScores scores = {{"layer.0.attention", 9.0},
                              {"layer.0.ffn", 1.0},
                              {"layer.1.attention", 8.0},
                              {"layer.1.ffn", 2.0}};
  EXPECT_THAT(TopShare(parts, scores, false, 0.5),
              ElementsAre("layer.0.attention", "layer.1.ffn"));
}

TEST(LayerRules, DrawsAreOfTheSeedAndTheTurnAlone) {
  std::vector<std::string> layers;
  for (int i = 0; i < 6; ++i) layers.push_back("layer." + std::to_string(i));
  std::map<std::string, int> times;
  std::set<std::set<std::string>> sets;
  for (std::int64_t turn = 0; turn < 3000; ++turn) {
    const auto drawn = DrawLayers(layers, 2, 7, turn);
    ASSERT_EQ(drawn.size(), 2U);
    EXPECT_EQ(drawn, DrawLayers(layers, 2, 7, turn));
    for (const std::string& layer : drawn) ++times[layer];
    sets.insert(drawn);
  }
  EXPECT_EQ(sets.size(), 15U);  // any two of six
  for (const auto& [layer, count] : times) {
    EXPECT_NEAR(count, 1000, 130) << layer;  // five deviations
  }
  EXPECT_NE(DrawLayers(layers, 3, 7, 0), DrawLayers(layers, 3, 8, 0));
  EXPECT_EQ(DrawLayers(layers, 9, 7, 0).size(), 6U);
  EXPECT_THAT(DrawLayers({}, 2, 7, 0), IsEmpty());
}

TEST(LayerRules, ADrawnLayerHasBothItsParts) {
  const std::vector<std::string> parts = {"layer.0.attention", "layer.0.ffn",
                                          "layer.1.attention", "layer.1.ffn"};
  for (std::int64_t turn = 0; turn < 8; ++turn) {
    const auto drawn = DrawLayers(parts, 1, 3, turn);
    ASSERT_EQ(drawn.size(), 2U);
    EXPECT_EQ(drawn.begin()->substr(0, 7), drawn.rbegin()->substr(0, 7));
  }
}

TEST(LayerRules, WhatIsNotChosenIsFrozen) {
  const ModuleRates rates =
      RatesOfChosen(kAll, {"layer.0", "layer.1", "layer.2"}, {"layer.1"});
  EXPECT_EQ(rates.at("layer.0"), 0.0);
  EXPECT_EQ(rates.at("layer.1"), 1e-3);
  EXPECT_EQ(rates.at("layer.2"), 0.0);
  EXPECT_EQ(rates.at("embeddings"), 1e-3);
  EXPECT_EQ(rates.at("head"), 1e-3);
}

// Weights of 2 and gradients of layer + 1 everywhere: (layer + 1) / 2.
TEST(LayerRules, RelativeGradientsAreOverAllWeightsOfALayer) {
  Model model = LoadFixture("models/bert-seq2").model;
  std::vector<at::Tensor> gradients;
  for (Weight& each : model.weights()) {
    each.value.fill_(2.0);
    gradients.push_back(
        each.spec.layer == 2
            ? at::Tensor()
            : at::full_like(each.value,
                            static_cast<double>(1 + each.spec.layer)));
  }
  const LayerScores scores = RelativeGradients(model, kAll, gradients);
  EXPECT_EQ(scores.size(), 3U);
  EXPECT_NEAR(scores.at("layer.0"), 0.5, 1e-6);
  EXPECT_NEAR(scores.at("layer.1"), 1.0, 1e-6);
  EXPECT_EQ(scores.at("layer.2"), 0.0);
}

// Changes of .05, .1, .5 and .01, whose median is .075: the lowest freezes, the
// next stops it. Then .1, .5 and 0 of three.
TEST(LayerRules, AutoFreezeFreezesFromBelowWhatChangedLeast) {
  const std::vector<std::string> blocks = {"embeddings", "layer.0", "layer.1",
                                           "layer.2"};
  AutoFreezeState state;
  const auto interval = [&](const LayerScores& lengths) {
    state.Note(blocks, lengths);
    return state.EndInterval(blocks, 0.5);
  };
  EXPECT_EQ(interval({{"embeddings", 4.0},
                      {"layer.0", 4.0},
                      {"layer.1", 4.0},
                      {"layer.2", 4.0},
                      {"head", 1.0}}),
            0U);
  EXPECT_EQ(interval({{"embeddings", 4.2},
                      {"layer.0", 3.6},
                      {"layer.1", 2.0},
                      {"layer.2", 4.04}}),
            1U);
  EXPECT_EQ(interval({{"layer.0", 3.24}, {"layer.1", 3.0}, {"layer.2", 4.04}}),
            0U);
  EXPECT_EQ(state.frozen, 1U);
  for (int i = 0; i < 8; ++i) {
    interval({{"layer.0", 1.0},
              {"layer.1", std::pow(3.0, i)},
              {"layer.2", 3.0 + i}});
  }
  EXPECT_EQ(state.frozen, 2U);  // layer.0 does not change, layer.1 does
}

TEST(LayerRules, AutoFreezeHasOneBlockLeftAndHearsNoInfinity) {
  const std::vector<std::string> blocks = {"layer.0", "layer.1"};
  AutoFreezeState state;
  state.Note(blocks, {{"layer.0", 1.0}, {"layer.1", 1.0}});
  state.EndInterval(blocks, 1.0);
  state.Note(blocks, {{"layer.0", INFINITY}, {"layer.1", 9.0}});
  EXPECT_THAT(state.now, IsEmpty());
  state.Note(blocks, {{"layer.0", 1.0}, {"layer.1", 1.1}});
  EXPECT_EQ(state.EndInterval(blocks, 1.0), 1U);
  state.Note(blocks, {{"layer.1", 1.1}});
  EXPECT_EQ(state.EndInterval(blocks, 1.0), 0U);
}

TEST(LayerRules, BlocksAreTheEmbeddingsAndWholeLayers) {
  const ModelConfig config = LoadFixture("models/bert-seq2").model.config();
  const ModuleRates rates = {
      {"embeddings", 1e-3},  {"layer.0", 0.0},  {"layer.1.attention", 0.0},
      {"layer.1.ffn", 1e-3}, {"layer.1", 1e-3}, {"layer.2", 1e-3},
      {"head", 1e-3}};
  const std::vector<std::string> blocks = BlocksWithRate(config, rates);
  EXPECT_THAT(blocks, ElementsAre("embeddings", "layer.1", "layer.2"));
  const ModuleRates without =
      RatesWithout(rates, std::span(blocks).subspan(1, 1));
  EXPECT_EQ(without.at("layer.1.ffn"), 0.0);
  EXPECT_EQ(without.at("layer.1"), 0.0);
  EXPECT_EQ(without.at("layer.2"), 1e-3);
  EXPECT_EQ(without.at("embeddings"), 1e-3);
}

}  // namespace
}  // namespace frostline::trainer
