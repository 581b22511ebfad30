// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/layers.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "tests/worker/trainer/operator_log.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {
namespace {

// What a GPU is given instead, computed here: the same results, and fewer and
// smaller things to do, by count.

constexpr double kKernelForward = 1e-5;
constexpr double kKernelBackward = 1e-4;
constexpr Kernels kOneProduct = {.one_product = true};

class KernelsOf : public testing::TestWithParam<const char*> {
 protected:
  KernelsOf()
      : folder_("models/" + std::string(GetParam())),
        model_(LoadFixture(folder_).model),
        batch_(BatchOf(ReadTensors(FixturePath(folder_ + "/io.safetensors")),
                       "b0")) {}

  static void Train(Model& model, bool wanted) {
    for (Weight& each : model.weights()) {
      each.value.mutable_grad().reset();
      each.value.set_requires_grad(wanted);
    }
  }

  at::Tensor Logits(const Batch& batch) const {
    const at::NoGradGuard no_graph;
    return model_.Forward(batch, {});
  }

  at::Tensor Loss(const Batch& batch) const {
    return LossOf(model_.head().spec(), model_.Forward(batch, {}), batch.labels,
                  0.0);
  }

  std::string folder_;
  Model model_;
  Batch batch_;
};

TEST_P(KernelsOf, OneProductOfFrozenMapsGivesTheSame) {
  const at::Tensor plain = Logits(batch_);
  model_.Prepare(kOneProduct, std::nullopt);
  EXPECT_LE(Furthest(Logits(batch_), plain), kKernelForward);
}

TEST_P(KernelsOf, OneProductOfTrainingMapsHasTheSameGradients) {
  Train(model_, true);
  model_.Prepare({}, std::nullopt);
  Loss(batch_).backward();
  std::vector<at::Tensor> plain;
  for (const Weight& each : model_.weights()) {
    plain.push_back(each.value.grad());
  }
  Train(model_, true);
  model_.Prepare(kOneProduct, std::nullopt);
  Loss(batch_).backward();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const at::Tensor& gradient = model_.weights()[i].value.grad();
    EXPECT_LE(Furthest(gradient, plain[i]), kKernelBackward)
        << model_.weights()[i].spec.name;
  }
}

// Halves are kept side by side; fp32 finds its way all the same.
TEST_P(KernelsOf, OneProductInBf16IsCloseAndFp32IsNotTouched) {
  const at::Tensor exact = Logits(batch_);
  model_.Prepare({}, at::kBFloat16);
  const auto half = [&] {
    const Autocast autocast(Precision::kBf16, at::kCPU);
    return Logits(batch_);
  };
  const at::Tensor rounded = half();
  model_.Prepare(kOneProduct, at::kBFloat16);
  EXPECT_LE(Furthest(half(), rounded), 2e-2);
  EXPECT_LE(Furthest(Logits(batch_), exact), kKernelForward);
}

std::int64_t Products(const OperatorLog& log) {
  return log.Count("aten::addmm") + log.Count("aten::mm");
}

// Three products become one in each layer but the top one, where the query of a
// head that reads one token stays apart.
TEST_P(KernelsOf, OneProductSavesTwoOfEachLayer) {
  const auto count = [&](const Kernels& kernels) {
    model_.Prepare(kernels, std::nullopt);
    const OperatorLog log;
    Logits(batch_);
    return Products(log);
  };
  const bool few = ReadsFirstToken(model_.config(), model_.head().spec());
  EXPECT_EQ(count({}) - count(kOneProduct),
            2 * model_.config().layers - (few ? 1 : 0));
}

TEST_P(KernelsOf, PaddingChangesNothingThatAnyoneReads) {
  const Batch padded = PadTo(8, batch_, model_.config());
  ASSERT_EQ(padded.ids.size(1) % 8, 0);
  ASSERT_GT(padded.ids.size(1), batch_.ids.size(1));
  const at::Tensor plain = Logits(batch_);
  at::Tensor logits = Logits(padded);
  if (logits.dim() == 3) logits = logits.narrow(1, 0, batch_.ids.size(1));
  EXPECT_LE(Furthest(logits, plain), kKernelForward);
  EXPECT_NEAR(Loss(padded).item<double>(), Loss(batch_).item<double>(),
              kKernelForward);
}

// A wide text: nothing that is held is as large as all scores.
TEST_P(KernelsOf, AttentionWithoutDropoutHoldsNoScores) {
  const std::int64_t width = model_.config().longest_text() / 8 * 8;
  const Batch wide = PadTo(width, batch_, model_.config());
  ASSERT_EQ(wide.ids.size(1), width);
  const std::int64_t scores =
      wide.ids.size(0) * model_.config().heads * width * width * 4;
  const std::int64_t feed_forward =
      wide.ids.size(0) * width * model_.config().feed_forward * 4;
  ASSERT_GT(scores, feed_forward);
  const OperatorLog log;
  Logits(wide);
  EXPECT_LT(log.largest_bytes(), scores);
  EXPECT_EQ(log.Count("aten::_softmax"), 0);
}

INSTANTIATE_TEST_SUITE_P(Recorded, KernelsOf,
                         testing::Values("bert-seq2", "distilbert-tok17",
                                         "roberta-tok17"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// The fastest kernels of a GPU take powers of two. A token that sees nothing
// would be no number there, or nothing at all, and here the mean of all others.
TEST(AdditiveMask, IsNoInfinityBehindLowScoresInPowersOfTwo) {
  const at::Tensor added = AdditiveMask(at::zeros({1, 3}, at::kLong));
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor scores = added.to(type).to(at::kFloat) - 1e4;
    EXPECT_TRUE((scores * std::numbers::log2e).isfinite().all().item<bool>());
  }
}

TEST(PadTo, LeavesTextsThatWouldOutgrowTheModel) {
  ModelConfig config;
  config.positions = 20;
  Batch batch;
  batch.ids = at::ones({2, 18}, at::kLong);
  batch.mask = at::ones({2, 18}, at::kLong);
  EXPECT_EQ(PadTo(8, batch, config).ids.size(1), 18);
  config.positions = 24;
  EXPECT_EQ(PadTo(8, batch, config).ids.size(1), 24);
}

constexpr DropSite kHidden = {2, 1};
constexpr DropSite kShares = {2, 1, true};

// Texts that draw from `noise`, of so many tokens each.
Batch TextsWithNoise(const std::vector<std::int64_t>& noise,
                     const std::vector<std::int64_t>& lengths = {}) {
  Batch batch;
  batch.noise = at::tensor(noise);
  if (!lengths.empty()) batch.lengths = at::tensor(lengths);
  return batch;
}

TEST(Dropout, AShareOfZeroIsTheTensorItself) {
  const at::Tensor x = at::ones({3});
  EXPECT_TRUE(Dropout(x, 0.0, {}, kHidden).is_same(x));
}

TEST(Dropout, WithoutNoiseIsAMistake) {
  EXPECT_ANY_THROW(Dropout(at::ones({3, 4}), 0.1, {}, kHidden));
  EXPECT_ANY_THROW(
      Dropout(at::ones({3, 4}), 0.1, TextsWithNoise({1, 2}), kHidden));
}

// By the loop, and by LibTorch's operators, which have doubles on a processor.
class DropoutOf : public testing::TestWithParam<at::ScalarType> {
 protected:
  at::Tensor Ones(at::IntArrayRef sizes) const {
    return at::ones(sizes, GetParam());
  }
  static at::Tensor Text(const at::Tensor& x, std::int64_t text) {
    return x.narrow(0, text, 1);
  }
};

INSTANTIATE_TEST_SUITE_P(Types, DropoutOf,
                         testing::Values(at::kFloat, at::kDouble));

TEST_P(DropoutOf, KeepsTheMeanAndScalesWhatStays) {
  const at::Tensor y =
      Dropout(Ones({2, 1000, 500}), 0.25, TextsWithNoise({3, 4}), kHidden);
  const at::Tensor stays = y.ne(0);
  const double share = stays.to(at::kDouble).sum().item<double>() / 1e6;
  EXPECT_NEAR(share, 0.75, 5.0 * std::sqrt(0.1875 / 1e6));
  EXPECT_NEAR(y.max().item<double>(), 1.0 / 0.75, 1e-6);
}

// What was zeroed has no gradient, what stayed the scale.
TEST_P(DropoutOf, BackwardUsesTheMaskOfForward) {
  const at::Tensor x = Ones({2, 35, 33}).set_requires_grad(true);
  const at::Tensor y =
      Dropout(x, 0.1, TextsWithNoise({1, 2}, {35, 20}), kHidden);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(y.detach()));
  EXPECT_GT(y.detach().eq(0).sum().item<std::int64_t>(), 100);
}

TEST_P(DropoutOf, EachTextPlaceAndLayerDrawsItsOwn) {
  const at::Tensor x = Ones({2, 9, 64});
  const at::Tensor y = Dropout(x, 0.5, TextsWithNoise({1, 2}), kHidden);
  EXPECT_FALSE(Text(y, 0).equal(Text(y, 1)));
  EXPECT_TRUE(Dropout(x, 0.5, TextsWithNoise({1, 2}), kHidden).equal(y));
  for (const DropSite other : {DropSite{3, 1}, DropSite{2, 2}}) {
    EXPECT_FALSE(Dropout(x, 0.5, TextsWithNoise({1, 2}), other).equal(y));
  }
}

// Neither who is read with a text nor how wide it is padded changes its draws.
TEST_P(DropoutOf, ATextLosesTheSameInAnyCompany) {
  const at::Tensor alone =
      Dropout(Ones({1, 7, 48}), 0.5, TextsWithNoise({5}, {7}), kHidden);
  const at::Tensor wide = Dropout(
      Ones({3, 11, 48}), 0.5, TextsWithNoise({4, 5, 6}, {11, 7, 3}), kHidden);
  EXPECT_TRUE(Text(wide, 1).narrow(1, 0, 7).equal(alone));
}

TEST_P(DropoutOf, SharesOfATextAreLostAlikeInAnyCompany) {
  const at::Tensor alone =
      Dropout(Ones({1, 4, 7, 7}), 0.5, TextsWithNoise({5}, {7}), kShares);
  const at::Tensor wide = Dropout(Ones({2, 4, 37, 37}), 0.5,
                                  TextsWithNoise({4, 5}, {37, 7}), kShares);
  const at::Tensor own = Text(wide, 1).narrow(2, 0, 7).narrow(3, 0, 7);
  EXPECT_TRUE(own.equal(alone));
  EXPECT_FALSE(own.select(1, 0).equal(own.select(1, 1)));
}

// Where one token asks, as in a top layer of which the head reads no more.
TEST_P(DropoutOf, SharesOfOneTokenAreLostAlikeInAnyCompany) {
  const at::Tensor alone =
      Dropout(Ones({1, 4, 1, 7}), 0.5, TextsWithNoise({5}, {7}), kShares);
  const at::Tensor wide = Dropout(Ones({2, 4, 1, 20}), 0.5,
                                  TextsWithNoise({4, 5}, {20, 7}), kShares);
  EXPECT_TRUE(Text(wide, 1).narrow(3, 0, 7).equal(alone));
}

TEST(Dropout, IsTheSameOnAnyNumberOfThreadsAndWithoutAGraph) {
  const Batch batch = TextsWithNoise({1, 2, 3}, {100, 90, 7});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = Dropout(at::ones({3, 100, 400}), 0.1, batch, kHidden);
  at::set_num_threads(3);
  const at::Tensor three = Dropout(
      at::ones({3, 100, 400}).set_requires_grad(true), 0.1, batch, kHidden);
  at::set_num_threads(threads);
  EXPECT_TRUE(one.equal(three.detach()));
}

TEST(Dropout, DropsViewsAndBf16) {
  const at::Tensor turned = at::ones({40, 30}).transpose(0, 1);
  const Batch batch = TextsWithNoise(std::vector<std::int64_t>(30, 1));
  EXPECT_EQ(Dropout(turned, 0.1, batch, kHidden).sizes(), turned.sizes());
  const at::Tensor half =
      at::ones({1, 64}, at::kBFloat16).set_requires_grad(true);
  const at::Tensor y = Dropout(half, 0.1, TextsWithNoise({1}), kHidden);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  y.sum().backward();
  EXPECT_TRUE(half.grad().equal(y.detach()));
}

// Heads of all kinds, against scripts/task_fixtures.py.

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
