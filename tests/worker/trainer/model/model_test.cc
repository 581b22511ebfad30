// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

constexpr double kLossWithin = 1e-6;

TEST(LossOf, ClassesIsTheMeanOverLabelsThatCount) {
  const HeadSpec head = {.task = Task::kTokens, .outputs = 2};
  // Two tokens of which one is labelled; its classes have odds of 1 to 3.
  const at::Tensor logits =
      at::tensor({0.0F, std::log(3.0F), 9.0F, -9.0F}).view({1, 2, 2});
  const at::Tensor labels =
      at::tensor({1L, std::int64_t{kIgnoredLabel}}).view({1, 2});
  EXPECT_EQ(CountLabels(labels), 1);
  EXPECT_NEAR(LossOf(head, logits, labels, 0.0).item<double>(), -std::log(0.75),
              kLossWithin);
}

TEST(LossOf, SmoothingSpreadsAShareOverAllClasses) {
  const HeadSpec head = {.task = Task::kSequence, .outputs = 2};
  const at::Tensor logits = at::tensor({0.0F, std::log(3.0F)}).view({1, 2});
  const at::Tensor labels = at::tensor({1L});
  // 0.9 x -ln 0.75 + 0.1 x (-ln 0.75 - ln 0.25) / 2
  const double expected =
      -0.9 * std::log(0.75) - 0.05 * (std::log(0.75) + std::log(0.25));
  EXPECT_NEAR(LossOf(head, logits, labels, 0.1).item<double>(), expected,
              kLossWithin);
}

// As torch.nn.CrossEntropyLoss(weight=…): the mean is weighted too.
TEST(LossOf, ClassesMayWeighDifferently) {
  const HeadSpec head = {.task = Task::kSequence, .outputs = 2};
  const at::Tensor logits = at::tensor({2.0F, 0.0F, 0.0F, 1.0F}).view({2, 2});
  const at::Tensor labels = at::tensor({0L, 1L});
  const at::Tensor weights = at::tensor({1.0F, 3.0F});
  const double first = std::log(1.0 + std::exp(-2.0));
  const double second = std::log(1.0 + std::exp(-1.0));
  EXPECT_NEAR(LossOf(head, logits, labels, 0.0, weights).item<double>(),
              (first + 3.0 * second) / 4.0, kLossWithin);
  EXPECT_EQ(WeighLabels(labels, weights), 4.0);
  EXPECT_EQ(WeighLabels(labels, {}), 2.0);
}

TEST(LossOf, NumbersIsTheMeanOfSquares) {
  const HeadSpec head = {.task = Task::kRegression, .outputs = 1};
  const at::Tensor logits = at::tensor({1.0F, 4.0F}).view({2, 1});
  const at::Tensor labels = at::tensor({2.0F, 1.0F});
  EXPECT_NEAR(LossOf(head, logits, labels, 0.0).item<double>(), 5.0,
              kLossWithin);
  EXPECT_EQ(CountLabels(labels), 2);
}

class ModelOf : public testing::Test {
 protected:
  ModelOf()
      : model_(LoadFixture("models/bert-seq2").model),
        batch_(
            BatchOf(ReadTensors(FixturePath("models/bert-seq2/io.safetensors")),
                    "b0")) {}

  at::Tensor Run(const Pass& pass) const {
    const at::NoGradGuard no_graph;
    return model_.Forward(batch_, pass);
  }

  FaultKind FaultOfCheck() const {
    const Expected<Done> checked = model_.Check(batch_);
    EXPECT_FALSE(checked.ok());
    return checked.ok() ? FaultKind::kSyntax : checked.fault().kind;
  }

  Model model_;
  Batch batch_;
};

TEST_F(ModelOf, AFrozenPrefixComputesTheSameWithoutAGraph) {
  for (Weight& each : model_.weights()) {
    each.value.set_requires_grad(each.spec.part == Part::kHead ||
                                 each.spec.layer == 2);
  }
  Pass pass;
  pass.frozen_blocks = 3;
  pass.first_token = ReadsFirstToken(model_.config(), model_.head().spec());
  const at::Tensor boundary = model_.encoder().Prefix(batch_, pass);
  EXPECT_FALSE(boundary.requires_grad());
  const at::Tensor logits = model_.head().Logits(
      model_.encoder().Suffix(boundary, batch_, pass), batch_, pass);
  EXPECT_TRUE(logits.requires_grad());
  EXPECT_TRUE(logits.equal(Run({})));
}

TEST_F(ModelOf, PaddingChangesNothing) {
  const at::Tensor before = Run({});
  const at::Tensor pad = at::zeros({batch_.ids.size(0), 3}, at::kLong);
  batch_.ids = at::cat({batch_.ids, pad + 5}, 1);
  batch_.mask = at::cat({batch_.mask, pad}, 1);
  batch_.types = at::cat({batch_.types, pad}, 1);
  EXPECT_LE(Furthest(Run({}), before), 1e-5);
}

// A copy of `model` with other shares of dropout, in memory of its own.
Model Dropping(const Model& model, double hidden, double sequence,
               double tokens) {
  ModelConfig config = model.config();
  config.hidden_dropout = hidden;
  config.sequence_dropout = sequence;
  config.token_dropout = tokens;
  std::vector<at::Tensor> values;
  for (const Weight& each : model.weights()) {
    values.push_back(each.value.clone());
  }
  return Model(config, model.head().spec(), values);
}

// Makes the maps whose names end so give nothing but zeros.
void Silence(Model& model, const std::string& end) {
  for (Weight& each : model.weights()) {
    const std::string& name = each.spec.name;
    if (name.ends_with(end + ".weight") || name.ends_with(end + ".bias")) {
      each.value.zero_();
    }
  }
}

// Whether dropout changes what a model gives, that of the embeddings aside.
bool Drops(const Model& model) {
  const at::NoGradGuard no_graph;
  Batch batch;
  batch.ids = at::tensor({2L, 9L, 7L, 3L}).view({1, 4});
  batch.mask = at::ones({1, 4}, at::kLong);
  Pass pass;
  pass.training = true;
  pass.still_blocks = 1;
  return !model.Forward(Noisy(batch, 1), pass).equal(model.Forward(batch, {}));
}

// Zeros that are dropped stay zeros: what is silenced shows no dropout.
TEST(DropoutPlaces, BertHasOneBehindAttentionAndDistilBertHasNone) {
  Model bert = Dropping(LoadFixture("models/bert-seq2").model, 0.5, 0.0, 0.0);
  Model distil =
      Dropping(LoadFixture("models/distilbert-seq2").model, 0.5, 0.0, 0.0);
  EXPECT_TRUE(Drops(bert));
  EXPECT_TRUE(Drops(distil));
  Silence(bert, ".output.dense");  // of attention and of feed-forward
  Silence(distil, ".ffn.lin2");
  EXPECT_FALSE(Drops(bert));
  EXPECT_FALSE(Drops(distil));
}

TEST(DropoutPlaces, BertDropsBehindAttentionAlone) {
  Model bert = Dropping(LoadFixture("models/bert-seq2").model, 0.5, 0.0, 0.0);
  for (Weight& each : bert.weights()) {
    const bool down =
        each.spec.part == Part::kFeedForward && each.spec.role != Role::kNorm;
    if (down) each.value.zero_();
  }
  EXPECT_TRUE(Drops(bert));
}

TEST(DropoutPlaces, EachHeadHasItsOwnShare) {
  for (const char* name : {"bert-seq2", "distilbert-seq2", "roberta-seq2"}) {
    const Model model = LoadFixture(std::string("models/") + name).model;
    EXPECT_TRUE(Drops(Dropping(model, 0.0, 0.5, 0.0))) << name;
    EXPECT_FALSE(Drops(Dropping(model, 0.0, 0.0, 0.5))) << name;
  }
  const Model tags = LoadFixture("models/roberta-tok17").model;
  EXPECT_TRUE(Drops(Dropping(tags, 0.0, 0.0, 0.5)));
  EXPECT_FALSE(Drops(Dropping(tags, 0.0, 0.5, 0.0)));
}

TEST(CatchTorch, TellsMemoryFromMistakes) {
  const auto kind_of = [](const char* what) {
    return CatchTorch(
               [&]() -> Expected<Done> { throw std::runtime_error(what); })
        .fault();
  };
  EXPECT_EQ(kind_of("CUDA out of memory. Tried to\nat frame").kind,
            FaultKind::kOutOfMemory);
  const Fault mistake = kind_of("size mismatch\nat frame");
  EXPECT_EQ(mistake.kind, FaultKind::kInternal);
  EXPECT_EQ(mistake.cause, "LibTorch: size mismatch");
}

// The recorded models have no dropout: this one drops a half.
class ModelWithDropout : public ModelOf {
 protected:
  ModelWithDropout() {
    ModelConfig config = model_.config();
    config.hidden_dropout = 0.5;
    config.attention_dropout = 0.5;
    config.sequence_dropout = 0.0;
    std::vector<at::Tensor> values;
    for (const Weight& each : model_.weights()) {
      values.push_back(each.value);
    }
    model_ = Model(config, model_.head().spec(), values);
  }

  at::Tensor Train(std::int64_t still_blocks, std::uint64_t seed) const {
    const at::NoGradGuard no_graph;
    Pass pass;
    pass.training = true;
    pass.still_blocks = still_blocks;
    return model_.Forward(Noisy(batch_, seed), pass);
  }
};

TEST_F(ModelWithDropout, ActsInTrainingAloneAndByTheSeed) {
  EXPECT_TRUE(Run({}).equal(Run({})));
  const at::Tensor first = Train(0, 1);
  EXPECT_TRUE(first.equal(Train(0, 1)));
  EXPECT_FALSE(first.equal(Train(0, 2)));
  EXPECT_FALSE(first.equal(Run({})));
}

TEST_F(ModelWithDropout, IsOffInStillBlocksAlone) {
  // Embeddings and three layers; the head drops nothing.
  EXPECT_TRUE(Train(4, 1).equal(Run({})));
  EXPECT_FALSE(Train(3, 1).equal(Run({})));
}

// The same texts in a batch of one, and with more padding, lose the same
// numbers: what is left is rounding.
TEST_F(ModelWithDropout, IsTheSameInAnyBatchAndPadding) {
  const at::Tensor together = Train(0, 1);
  const Batch all = Noisy(batch_, 1);
  Pass pass;
  pass.training = true;
  const at::NoGradGuard no_graph;
  for (std::int64_t i = 0; i < all.ids.size(0); ++i) {
    const at::Tensor pad = at::zeros({1, 3}, at::kLong);
    Batch one;
    one.ids = at::cat({all.ids.narrow(0, i, 1), pad}, 1);
    one.mask = at::cat({all.mask.narrow(0, i, 1), pad}, 1);
    one.types = at::cat({all.types.narrow(0, i, 1), pad}, 1);
    one.noise = all.noise.narrow(0, i, 1);
    one.lengths = all.lengths.narrow(0, i, 1);
    EXPECT_LE(Furthest(model_.Forward(one, pass), together.narrow(0, i, 1)),
              1e-5);
  }
  EXPECT_GT(Furthest(together, Train(0, 2)), 1e-3);
}

// The top layer of all tokens, then the head: as transformers does it.
at::Tensor ByAllTokens(const Model& model, const Batch& batch) {
  const Pass pass;
  return model.head().Logits(
      model.encoder().Suffix(model.encoder().Prefix(batch, pass), batch, pass),
      batch, pass);
}

class TopLayer : public testing::TestWithParam<const char*> {
 protected:
  TopLayer()
      : model_(LoadFixture("models/" + std::string(GetParam())).model),
        batch_(BatchOf(
            ReadTensors(FixturePath("models/" + std::string(GetParam()) +
                                    "/io.safetensors")),
            "b0")) {}

  std::vector<at::Tensor> GradientsOf(const at::Tensor& logits) {
    for (Weight& each : model_.weights()) each.value.mutable_grad().reset();
    logits.square().sum().backward();
    std::vector<at::Tensor> gradients;
    for (const Weight& each : model_.weights()) {
      gradients.push_back(each.value.grad().clone());
    }
    return gradients;
  }

  Model model_;
  Batch batch_;
};

TEST_P(TopLayer, OfOneTokenGivesTheLogitsAndGradientsOfAll) {
  for (Weight& each : model_.weights()) each.value.set_requires_grad(true);
  const at::Tensor few = model_.Forward(batch_, {});
  const at::Tensor all = ByAllTokens(model_, batch_);
  EXPECT_LE(Furthest(few.detach(), all.detach()), 1e-6);
  const std::vector<at::Tensor> one = GradientsOf(few);
  const std::vector<at::Tensor> whole = GradientsOf(all);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_LE(Furthest(one[i], whole[i]), 1e-5)
        << model_.weights()[i].spec.name;
  }
}

TEST_P(TopLayer, GivesOneTokenAndTheLayersBelowAll) {
  Pass pass;
  pass.first_token = true;
  std::vector<at::Tensor> states;
  model_.encoder().Suffix(model_.encoder().Prefix(batch_, pass, &states),
                          batch_, pass, &states);
  const std::int64_t tokens = batch_.ids.size(1);
  for (std::size_t i = 0; i + 1 < states.size(); ++i) {
    EXPECT_EQ(states[i].size(1), tokens);
  }
  EXPECT_EQ(states.back().size(1), 1);
}

// Where all of it is frozen, it is part of the prefix.
TEST_P(TopLayer, OfAFrozenEncoderIsTheSame) {
  const at::NoGradGuard no_graph;
  Pass frozen;
  frozen.frozen_blocks = 1 + model_.config().layers;
  EXPECT_TRUE(model_.Forward(batch_, frozen).equal(model_.Forward(batch_, {})));
}

INSTANTIATE_TEST_SUITE_P(Recorded, TopLayer,
                         testing::Values("bert-seq2", "distilbert-seq2",
                                         "roberta-reg"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(ModelOf, AnEncoderCarriesSeveralHeads) {
  const std::string folder = FixturePath("models/bert-seq2");
  const ModelFolder opened = ModelFolder::Open(folder).value();
  const TransformerEncoder encoder = opened.ReadEncoder().value();
  const HeadSpec tags = {.task = Task::kTokens, .outputs = 5};
  const Model first(encoder,
                    opened.ReadHead(model_.head().spec(), 0).value().head);
  const Model second(encoder, opened.ReadHead(tags, 1).value().head);
  const Model alone = LoadModel(folder, tags, 1).value().model;
  const at::NoGradGuard no_graph;
  batch_.labels = at::Tensor();
  EXPECT_TRUE(first.Forward(batch_, {}).equal(Run({})));
  EXPECT_TRUE(second.Forward(batch_, {}).equal(alone.Forward(batch_, {})));
}

TEST_F(ModelOf, ChecksIdsLengthsTypesAndLabels) {
  ASSERT_TRUE(model_.Check(batch_).ok());
  const Batch good = batch_;
  batch_.ids = good.ids + 140;
  EXPECT_EQ(FaultOfCheck(), FaultKind::kInconsistent);
  batch_ = good;
  batch_.types = good.types + 2;
  EXPECT_EQ(FaultOfCheck(), FaultKind::kInconsistent);
  batch_ = good;
  batch_.labels = good.labels + 2;
  EXPECT_EQ(FaultOfCheck(), FaultKind::kInconsistent);
  batch_ = good;
  batch_.mask = good.mask.narrow(1, 0, 3);
  EXPECT_EQ(FaultOfCheck(), FaultKind::kMisuse);
  batch_ = Batch();
  batch_.ids = at::zeros({1, 65}, at::kLong);
  batch_.mask = at::ones({1, 65}, at::kLong);
  EXPECT_EQ(FaultOfCheck(), FaultKind::kInconsistent);
}

TEST(PairCosine, ScoresATextWithItselfHighest) {
  const HeadSpec head = {.task = Task::kRegression,
                         .outputs = 1,
                         .kind = HeadKind::kCosine,
                         .pooling = Pooling::kMean};
  const Model model =
      LoadModel(FixturePath("models/distilbert-seq2"), head, 1).value().model;
  const at::NoGradGuard no_graph;
  // Pairs: (x, x) and (y, z).
  Batch batch;
  batch.ids = at::tensor({2L, 9L, 3L, 2L, 8L, 3L, 2L, 9L, 3L, 2L, 99L, 3L})
                  .view({4, 3});
  batch.mask = at::ones({4, 3}, at::kLong);
  ASSERT_TRUE(model.Check(batch).ok());
  const at::Tensor scores = model.Forward(batch, {});  // [2]
  EXPECT_NEAR(scores[0].item<double>(), 5.0, 1e-5);
  EXPECT_LT(scores[1].item<double>(), 4.99);
  EXPECT_GE(scores[1].item<double>(), 0.0);
}

// Models with adapters: how they are drawn, run and merged. That they compute
// what peft computes is shown by recordings (tests/parity).

using enum LoraPart;

class AdaptedModel : public testing::Test {
 protected:
  AdaptedModel()
      : loaded_(LoadFixture("models/distilbert-seq2")),
        batch_(BatchOf(
            ReadTensors(FixturePath("models/distilbert-seq2/io.safetensors")),
            "b0")) {}

  Model Make(std::uint64_t seed = 3, double dropout = 0.0) const {
    ModelConfig config = loaded_.model.config();
    config.lora = {.rank = 4,
                   .alpha = 8.0,
                   .dropout = dropout,
                   .parts = {kQuery, kValue, kFeedForwardOut}};
    const std::vector<bool> none(loaded_.model.weights().size(), false);
    return TrainableCopy(loaded_, config, none, seed);
  }

  // Training would have moved B.
  static void Move(Model& model) {
    for (Weight& each : model.weights()) {
      if (each.spec.role != Role::kLoraB) continue;
      each.value.copy_(at::randn_like(each.value) * 0.1);
    }
  }

  at::Tensor Run(const Model& model, const Pass& pass = {}) const {
    const at::NoGradGuard no_graph;
    return model.Forward(batch_, pass);
  }

  LoadedModel loaded_;
  Batch batch_;
};

TEST_F(AdaptedModel, BeginsWhereThePretrainedModelIs) {
  EXPECT_TRUE(Run(Make()).equal(Run(loaded_.model)));
}

// Whatever D was drawn, U is 0; and where U moves they do something.
TEST_F(AdaptedModel, BottlenecksBeginWhereThePretrainedModelIs) {
  for (const bool relu : {false, true}) {
    ModelConfig config = loaded_.model.config();
    config.bottleneck = {.size = 4, .relu = relu};
    const std::vector<bool> none(loaded_.model.weights().size(), false);
    Model model = TrainableCopy(loaded_, config, none, 3);
    EXPECT_TRUE(Run(model).equal(Run(loaded_.model)));
    for (Weight& each : model.weights()) {
      if (each.spec.role == Role::kUp) each.value.fill_(0.1);
    }
    EXPECT_FALSE(Run(model).equal(Run(loaded_.model)));
  }
}

// Uniform up to 1 / sqrt(inputs), as nn.Linear and peft draw it.
TEST_F(AdaptedModel, DrawsAFromTheSeedAndBIsZero) {
  const Model one = Make(3);
  const Model again = Make(3);
  const Model other = Make(4);
  for (std::size_t i = 0; i < one.weights().size(); ++i) {
    const Weight& each = one.weights()[i];
    if (each.spec.role == Role::kLoraB) {
      EXPECT_EQ(each.value.abs().max().item<double>(), 0.0);
    }
    if (each.spec.role != Role::kLoraA) continue;
    const double most = 1.0 / std::sqrt(each.value.size(1));
    const double largest = each.value.abs().max().item<double>();
    EXPECT_LE(largest, most);
    EXPECT_GT(largest, 0.8 * most);
    EXPECT_LT(each.value.min().item<double>(), 0.0);
    EXPECT_TRUE(each.value.equal(again.weights()[i].value));
    EXPECT_FALSE(each.value.equal(other.weights()[i].value));
  }
}

TEST_F(AdaptedModel, TheHeadIsDrawnAsItIsWithoutAdapters) {
  const LoadedModel loaded =
      LoadModel(FixturePath("models/bert-seq5"),
                {.task = Task::kSequence, .outputs = 3}, 1)
          .value();
  ASSERT_FALSE(loaded.report.initialized.empty());
  ModelConfig config = loaded.model.config();
  const std::vector<bool> none(loaded.model.weights().size(), false);
  const Model plain = TrainableCopy(loaded, config, none, 9);
  config.lora.rank = 4;
  const Model adapted = TrainableCopy(loaded, config, none, 9);
  for (std::size_t i = 0; i < plain.weights().size(); ++i) {
    EXPECT_TRUE(plain.weights()[i].value.equal(adapted.weights()[i].value));
  }
}

TEST_F(AdaptedModel, MergedIsAPlainModelThatComputesTheSame) {
  Model model = Make();
  Move(model);
  const Model merged = model.Merged();
  EXPECT_EQ(merged.weights().size(), loaded_.model.weights().size());
  EXPECT_FALSE(merged.config().lora.any());
  EXPECT_LE(Furthest(Run(merged), Run(model)), 1e-5);
  EXPECT_GT(Furthest(Run(merged), Run(loaded_.model)), 1e-2);
}

// Each adapter counts by its own rank, in a pass as in a merge.
TEST_F(AdaptedModel, LayersOfSeveralRanksMergeIntoWhatTheyCompute) {
  ModelConfig config = loaded_.model.config();
  config.lora = {.ranks = {{"layer.0", 2}, {"layer.1", 8}}, .alpha = 8.0};
  const std::vector<bool> none(loaded_.model.weights().size(), false);
  Model model = TrainableCopy(loaded_, config, none, 3);
  std::set<std::int64_t> ranks;
  for (const Weight& each : model.weights()) {
    if (each.spec.role == Role::kLoraA) ranks.insert(each.value.size(0));
  }
  EXPECT_EQ(ranks, (std::set<std::int64_t>{2, 8}));
  Move(model);
  const Model merged = model.Merged();
  EXPECT_LE(Furthest(Run(merged), Run(model)), 1e-5);
  EXPECT_GT(Furthest(Run(merged), Run(loaded_.model)), 1e-2);
}

TEST_F(AdaptedModel, MergingLeavesTheSharedWeightsAlone) {
  const at::Tensor before = Run(loaded_.model);
  Model model = Make();
  Move(model);
  const at::Tensor adapted = Run(model);
  EXPECT_EQ(model.Merged().weights().size(), loaded_.model.weights().size());
  EXPECT_TRUE(Run(loaded_.model).equal(before));
  EXPECT_TRUE(Run(model).equal(adapted));
}

TEST_F(AdaptedModel, DropsWhatAnAdapterSeesOnlyWhileItTrains) {
  Model model = Make(3, 0.5);
  Move(model);
  batch_ = Noisy(batch_, 1);
  Pass training;
  training.training = true;
  training.still_blocks = 0;
  const at::Tensor plain = Run(model);
  EXPECT_GT(Furthest(Run(model, training), plain), 1e-4);
  training.still_blocks = 1 + model.config().layers;
  EXPECT_LE(Furthest(Run(model, training), plain), 1e-6);
}

}  // namespace
}  // namespace frostline::trainer
