// SPDX-License-Identifier: Apache-2.0
//
// What a GPU is given instead, computed here: the same results, and fewer and
// smaller things to do, by count.
#include "worker/trainer/model/layers.h"

#include <gtest/gtest.h>

#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "tests/worker/trainer/operator_log.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {
namespace {

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

}  // namespace
}  // namespace frostline::trainer
