// SPDX-License-Identifier: Apache-2.0
//
// Heads of all kinds, against scripts/task_fixtures.py.
#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {
namespace {

struct Case {
  std::string name;
  HeadSpec spec;
  std::vector<std::string> maps;  // of the recording, in the order of weights
};

std::vector<Case> Cases() {
  HeadSpec linear, mlp, inner, cosine, features;
  linear.outputs = mlp.outputs = features.outputs = 3;
  HeadSpec apart = linear;
  apart.reads_apart = true;
  mlp.kind = HeadKind::kMlp;
  mlp.hidden = 10;
  inner.kind = HeadKind::kInnerProduct;
  cosine.kind = HeadKind::kCosine;
  inner.task = cosine.task = Task::kRegression;
  inner.outputs = cosine.outputs = 1;
  features.kind = HeadKind::kFeatures;
  return {{"linear", linear, {"linear"}},
          {"linear_apart", apart, {"linear_apart"}},
          {"mlp", mlp, {"mlp_in", "mlp_out"}},
          {"inner_product", inner, {"left", "right"}},
          {"cosine", cosine, {"left"}},
          {"features", features, {"features"}}};
}

ModelHead HeadWith(const ModelConfig& config, const Case& of,
                   const HeadSpec& spec, const Tensors& recorded) {
  std::vector<std::string> maps = of.maps;
  if (HasPooler(config, spec)) maps.insert(maps.begin(), "pooler");
  std::vector<Weight> weights;
  for (const ParameterSpec& each : HeadParametersOf(config, spec)) {
    const std::string& map = maps[weights.size() / 2];
    const bool bias = each.role == Role::kBias;
    weights.push_back({each, recorded.at(map + (bias ? ".bias" : ".weight"))});
  }
  return ModelHead(config, spec, weights);
}

class Heads2Seeds : public ::testing::TestWithParam<const char*> {};

TEST_P(Heads2Seeds, EveryKindAndPoolingAnswersAsRecorded) {
  const Tensors recorded = ReadTensors(
      FixturePath(std::string("tasks/") + GetParam()) + "/heads.safetensors");
  const ModelConfig config = LoadFixture("models/bert-seq2").model.config();
  Batch batch;
  batch.mask = recorded.at("mask");
  for (const Case& each : Cases()) {
    for (const auto& [name, pooling] : {std::pair("first", Pooling::kFirst),
                                        {"mean", Pooling::kMean},
                                        {"max", Pooling::kMax}}) {
      HeadSpec spec = each.spec;
      spec.pooling = pooling;
      const at::Tensor logits = HeadWith(config, each, spec, recorded)
                                    .Logits(recorded.at("hidden"), batch, {});
      EXPECT_LT(
          Furthest(logits, recorded.at("expected." + each.name + "." + name)),
          2e-5)
          << each.name << " " << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Heads2Seeds,
                         ::testing::Values("seed-11", "seed-23"));

// The second class against a score of 0.
TEST(Heads, AnInnerProductTellsTwoClassesApart) {
  const Tensors recorded =
      ReadTensors(FixturePath("tasks/seed-11") + "/heads.safetensors");
  const ModelConfig config = LoadFixture("models/bert-seq2").model.config();
  Case inner = Cases()[3];
  inner.spec.task = Task::kSequence;
  inner.spec.outputs = 2;
  Batch batch;
  batch.mask = recorded.at("mask");
  const at::Tensor logits = HeadWith(config, inner, inner.spec, recorded)
                                .Logits(recorded.at("hidden"), batch, {});
  EXPECT_EQ(logits.select(1, 0).abs().max().item<double>(), 0.0);
  EXPECT_LT(Furthest(logits.select(1, 1),
                     recorded.at("expected.inner_product.first")),
            2e-5);
}

// With one map twice it is the recorded cosine; with two it is another number.
TEST(Heads, ACosineMayHaveAMapForEachText) {
  const Tensors recorded =
      ReadTensors(FixturePath("tasks/seed-11") + "/heads.safetensors");
  const ModelConfig config = LoadFixture("models/bert-seq2").model.config();
  Case cosine = Cases()[4];
  cosine.spec.kind = HeadKind::kTwoMapCosine;
  Batch batch;
  batch.mask = recorded.at("mask");
  const auto answer = [&](const std::vector<std::string>& maps) {
    cosine.maps = maps;
    return HeadWith(config, cosine, cosine.spec, recorded)
        .Logits(recorded.at("hidden"), batch, {});
  };
  const at::Tensor& expected = recorded.at("expected.cosine.first");
  EXPECT_LT(Furthest(answer({"left", "left"}), expected), 2e-5);
  EXPECT_GT(Furthest(answer({"left", "right"}), expected), 0.1);
}

TEST(Heads, WhatDoesNotFitTheTaskIsRefused) {
  HeadSpec tags = Cases()[5].spec;
  tags.task = Task::kTokens;
  HeadSpec cosine = Cases()[4].spec;
  cosine.task = Task::kSequence;
  cosine.outputs = 2;
  HeadSpec two_maps = cosine;
  two_maps.kind = HeadKind::kTwoMapCosine;
  HeadSpec three = Cases()[3].spec;
  three.task = Task::kSequence;
  three.outputs = 3;
  for (const HeadSpec& head : {tags, cosine, two_maps, three}) {
    EXPECT_FALSE(CheckHead(head).ok());
  }
}

}  // namespace
}  // namespace frostline::trainer
