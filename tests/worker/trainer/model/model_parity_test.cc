// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {
namespace {

// Every recorded model against what transformers computed from the same files:
// logits and hidden states within 1e-5, losses within 1e-5, gradients within
// 1e-4. The dropout of all of them is 0.

constexpr double kForward = 1e-5;
constexpr double kBackward = 1e-4;

class ModelParity : public testing::TestWithParam<const char*> {
 protected:
  ModelParity()
      : folder_("models/" + std::string(GetParam())),
        expected_(FixturePath(folder_ + "/expected.json")),
        io_(ReadTensors(FixturePath(folder_ + "/io.safetensors"))),
        loaded_(LoadFixture(folder_)) {}

  // Returns what was recorded of batch "b0" or "b1".
  const JsonValue& Expected(int batch) const {
    const JsonValue* at = expected_["batches"].first;
    return batch == 0 ? *at : *at->next;
  }

  at::Tensor Loss(const Batch& batch) const {
    return LossOf(model().head().spec(), model().Forward(batch, {}),
                  batch.labels, 0);
  }

  const Model& model() const { return loaded_.model; }

  std::string folder_;
  JsonFixture expected_;
  Tensors io_;
  LoadedModel loaded_;
};

TEST_P(ModelParity, TakesEveryTensorOver) {
  EXPECT_TRUE(loaded_.report.missing.empty());
  EXPECT_TRUE(loaded_.report.reshaped.empty());
  EXPECT_TRUE(loaded_.report.unused.empty());
  EXPECT_TRUE(loaded_.report.unexpected.empty());
}

TEST_P(ModelParity, Logits) {
  const at::NoGradGuard no_graph;
  for (const std::string b : {"b0", "b1"}) {
    const Batch batch = BatchOf(io_, b);
    ASSERT_TRUE(model().Check(batch).ok());
    const at::Tensor logits = model().Forward(batch, {});
    EXPECT_LE(Furthest(logits, io_.at(b + ".logits")), kForward) << b;
  }
}

TEST_P(ModelParity, HiddenStatesWhereThereAreTokens) {
  const at::NoGradGuard no_graph;
  for (const int index : {0, 1}) {
    const std::string b = "b" + std::to_string(index);
    const Batch batch = BatchOf(io_, b);
    std::vector<at::Tensor> states;
    const at::Tensor boundary = model().encoder().Prefix(batch, {}, &states);
    const at::Tensor last =
        model().encoder().Suffix(boundary, batch, {}, &states);
    const at::Tensor tokens = batch.mask.unsqueeze(2);  // [B, N, 1]
    EXPECT_LE(
        Furthest(last * tokens, io_.at(b + ".last_hidden_state") * tokens),
        kForward);
    const std::vector<double> means =
        Numbers(*Expected(index).Find("hidden_abs_mean_valid"));
    ASSERT_EQ(states.size(), means.size());
    for (std::size_t i = 0; i < means.size(); ++i) {
      const at::Tensor kept = states[i].masked_select(tokens.eq(1));
      EXPECT_NEAR(kept.to(at::kDouble).abs().mean().item<double>(), means[i],
                  kForward);
    }
  }
}

TEST_P(ModelParity, Losses) {
  const at::NoGradGuard no_graph;
  EXPECT_NEAR(Loss(BatchOf(io_, "b0")).item<double>(),
              Expected(0).Find("loss")->number, kForward);
  EXPECT_NEAR(Loss(BatchOf(io_, "b1")).item<double>(),
              Expected(1).Find("loss")->number, kForward);
}

// Sum, sum of magnitudes and the first eight, where not all is recorded.
void CompareSummary(const at::Tensor& gradient, const JsonValue& recorded) {
  const at::Tensor all = gradient.to(at::kDouble).reshape(-1);
  const double scale = std::max(1.0, recorded.Find("abs_sum")->number);
  EXPECT_NEAR(all.sum().item<double>(), recorded.Find("sum")->number,
              kBackward * scale);
  EXPECT_NEAR(all.abs().sum().item<double>(), recorded.Find("abs_sum")->number,
              kBackward * scale);
  std::int64_t i = 0;
  for (const double value : Numbers(*recorded.Find("first8"))) {
    EXPECT_NEAR(all[i++].item<double>(), value, kBackward);
  }
}

TEST_P(ModelParity, Gradients) {
  for (Weight& each : loaded_.model.weights()) {
    each.value.set_requires_grad(true);
  }
  Loss(BatchOf(io_, "b0")).backward();
  const JsonValue* summary = expected_.root().Find("grads_b0");
  Tensors full;
  if (summary == nullptr) {
    full = ReadTensors(FixturePath(folder_ + "/grads_b0.safetensors"));
  }
  const std::vector<std::string> listed = Texts(expected_["no_grad_params"]);
  const std::set<std::string> without(listed.begin(), listed.end());
  double squares = 0.0;
  for (const Weight& each : model().weights()) {
    SCOPED_TRACE(each.spec.name);
    const at::Tensor& gradient = each.value.grad();
    ASSERT_EQ(gradient.defined(), !without.contains(each.spec.name));
    if (!gradient.defined()) continue;
    squares += gradient.to(at::kDouble).pow(2).sum().item<double>();
    if (summary != nullptr) {
      CompareSummary(gradient, *summary->Find(each.spec.name));
    } else {
      EXPECT_LE(Furthest(gradient, full.at(each.spec.name)), kBackward);
    }
  }
  EXPECT_NEAR(std::sqrt(squares), expected_["grad_norm"].number, kBackward);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, ModelParity,
    testing::Values(
        "bert-seq2", "bert-seq5", "bert-reg", "bert-tok17", "distilbert-seq2",
        "distilbert-seq5", "distilbert-reg", "distilbert-tok17", "roberta-seq2",
        "roberta-seq5", "roberta-reg", "roberta-tok17", "xlm-roberta-seq2",
        "xlm-roberta-tok17", "mbert-tok17", "electra-seq2", "electra-tok17",
        "distilroberta-seq2", "modernbert-seq2", "modernbert-mean-seq2",
        "modernbert-tok17", "deberta-seq2", "deberta-tok17", "deberta-far-seq2",
        "llama-seq2", "llama-tok17", "llama-far-seq2", "qwen2-seq2",
        "qwen2-far-seq2", "qwen3-seq2", "llama-lm", "qwen2-lm", "qwen3-lm"),
    [](const auto& folder) {
      std::string name = folder.param;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

TEST(RealWeights, MiniLmGivesTheRecordedSentenceVectors) {
  const std::string folder = RealMiniLm();
  if (folder.empty()) GTEST_SKIP() << "the real weights were not fetched";
  const Tensors recorded =
      ReadTensors(FixturePath("minilm/reference.safetensors"));
  const HeadSpec head = {.task = Task::kRegression,
                         .outputs = 1,
                         .kind = HeadKind::kCosine,
                         .pooling = Pooling::kMean};
  const Expected<LoadedModel> loaded = LoadModel(folder, head, 1);
  ASSERT_TRUE(loaded.ok()) << loaded.fault().cause;
  const at::NoGradGuard no_graph;
  Batch batch;
  batch.ids = recorded.at("input_ids");
  batch.mask = recorded.at("attention_mask");
  const Model& model = loaded.value().model;
  const at::Tensor hidden = model.encoder().Suffix(
      model.encoder().Prefix(batch, {}), batch, {});  // [8, T, 384]
  const at::Tensor tokens = batch.mask.unsqueeze(2);  // [8, T, 1]
  const at::Tensor mean = (hidden * tokens).sum(1) / tokens.sum(1);  // [8, 384]
  EXPECT_LE(Furthest(mean, recorded.at("mean_pooled")), kForward);
  EXPECT_LE(Furthest(hidden.narrow(2, 0, 8) * tokens,
                     recorded.at("last_hidden_first8") * tokens),
            kForward);
}

// What freezing and batching rely on, for families whose layers are their own.

constexpr double kWithin = 1e-5;

class FamilyOf : public testing::TestWithParam<const char*> {
 protected:
  FamilyOf()
      : folder_("models/" + std::string(GetParam())),
        model_(LoadFixture(folder_).model),
        batch_(BatchOf(ReadTensors(FixturePath(folder_ + "/io.safetensors")),
                       "b1")) {}

  at::Tensor Logits(const Batch& batch, const Pass& pass = {}) const {
    return model_.Forward(batch, pass);
  }

  at::NoGradGuard no_graph_;
  std::string folder_;
  Model model_;
  Batch batch_;
};

TEST_P(FamilyOf, ABoundaryOfAnyDepthGivesTheSame) {
  const at::Tensor whole = Logits(batch_);
  for (std::int64_t blocks = 0; blocks <= 1 + model_.config().layers;
       ++blocks) {
    Pass pass;
    pass.frozen_blocks = blocks;
    pass.first_token = ReadsFirstToken(model_.config(), model_.head().spec());
    Batch stored = batch_;
    stored.boundary = model_.encoder().Prefix(batch_, pass);
    EXPECT_TRUE(Logits(stored, pass).equal(whole)) << blocks;
  }
}

TEST_P(FamilyOf, PaddingChangesNothingThatAnyoneReads) {
  const Batch padded = PadTo(16, batch_, model_.config());
  ASSERT_EQ(padded.ids.size(1), 32);
  at::Tensor logits = Logits(padded);
  if (logits.dim() == 3) logits = logits.narrow(1, 0, batch_.ids.size(1));
  const at::Tensor tokens =
      logits.dim() == 3 ? batch_.mask.unsqueeze(2) : at::ones({1}, at::kLong);
  EXPECT_LE(Furthest(logits * tokens, Logits(batch_) * tokens), kWithin);
}

TEST_P(FamilyOf, TheTopLayerForOneTokenGivesThatToken) {
  if (model_.config().decoder) {
    EXPECT_FALSE(ReadsFirstToken(model_.config(), model_.heads()));
    return;
  }
  const at::Tensor boundary = model_.encoder().Prefix(batch_, {});
  const at::Tensor all = model_.encoder().Suffix(boundary, batch_, {});
  const at::Tensor one =
      model_.encoder().Suffix(boundary, batch_, {.first_token = true});
  ASSERT_EQ(one.size(1), 1);
  EXPECT_LE(Furthest(one, all.narrow(1, 0, 1)), kWithin);
}

TEST_P(FamilyOf, KeptHalvesAreWhatAutocastMakes) {
  const Autocast autocast(Precision::kBf16, at::kCPU);
  const at::Tensor before = Logits(batch_);
  model_.Prepare({}, at::kBFloat16);
  EXPECT_TRUE(Logits(batch_).equal(before));
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, FamilyOf,
    testing::Values("electra-seq2", "electra-tok17", "distilroberta-seq2",
                    "modernbert-seq2", "modernbert-mean-seq2",
                    "modernbert-tok17", "deberta-seq2", "deberta-tok17",
                    "deberta-far-seq2", "llama-seq2", "llama-tok17",
                    "qwen2-seq2", "qwen3-seq2", "llama-lm", "qwen2-lm",
                    "qwen3-lm"),
    [](const auto& folder) {
      std::string name = folder.param;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace frostline::trainer
