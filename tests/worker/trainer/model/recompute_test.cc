// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/recompute.h"

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

TEST(Recompute, RunsOnceMoreOnTheWayBackAndNotWithoutAGraph) {
  int runs = 0;
  const auto twice = [&](const at::Tensor& x) {
    ++runs;
    return x * x;
  };
  at::Tensor x = at::rand({3}).set_requires_grad(true);
  const at::Tensor y = Recomputed(x, twice);
  EXPECT_EQ(runs, 1);
  y.sum().backward();
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(x.grad().equal(2 * x.detach()));
  const at::NoGradGuard no_graph;
  Recomputed(x, twice);
  EXPECT_EQ(runs, 3);
}

TEST(Recompute, ReachesWeightsBehindAnInputWithoutAGradient) {
  const at::Tensor x = at::rand({3});
  at::Tensor weight = at::rand({3}).set_requires_grad(true);
  Recomputed(x, [&](const at::Tensor& each) { return each * weight; })
      .sum()
      .backward();
  EXPECT_TRUE(weight.grad().equal(x));
}

class RecomputedLayers : public testing::TestWithParam<const char*> {
 protected:
  RecomputedLayers()
      : folder_("models/" + std::string(GetParam())),
        loaded_(LoadFixture(folder_)) {}

  // The gradients of all weights after one pass in training, with dropout of
  // attention.
  std::vector<at::Tensor> Gradients(bool recomputes, std::int64_t frozen) {
    ModelConfig config = loaded_.model.config();
    config.recomputes = recomputes;
    config.attention_dropout = 0.2;
    std::vector<at::Tensor> values;
    for (const Weight& each : loaded_.model.weights()) {
      values.push_back(each.value.clone());
    }
    Model model(config, loaded_.model.heads(), values);
    for (Weight& each : model.weights()) {
      const bool below = each.spec.part == Part::kEmbeddings ||
                         (each.spec.layer >= 0 && each.spec.layer < frozen - 1);
      each.value.set_requires_grad(frozen == 0 || !below);
    }
    const Batch batch = Noisy(
        BatchOf(ReadTensors(FixturePath(folder_ + "/io.safetensors")), "b0"),
        3);
    Pass pass;
    pass.training = true;
    pass.frozen_blocks = frozen;
    LossOf(model.head().spec(), model.Forward(batch, pass), batch.labels, 0)
        .backward();
    std::vector<at::Tensor> gradients;
    for (const Weight& each : model.weights()) {
      gradients.push_back(each.value.grad());
    }
    return gradients;
  }

  std::string folder_;
  LoadedModel loaded_;
};

TEST_P(RecomputedLayers, GiveTheSameGradientsToTheBit) {
  for (const std::int64_t frozen : {0, 2}) {
    const std::vector<at::Tensor> kept = Gradients(false, frozen);
    const std::vector<at::Tensor> again = Gradients(true, frozen);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      SCOPED_TRACE(loaded_.model.weights()[i].spec.name);
      ASSERT_EQ(kept[i].defined(), again[i].defined());
      if (!kept[i].defined()) continue;
      EXPECT_TRUE(kept[i].equal(again[i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, RecomputedLayers,
                         testing::Values("llama-seq2", "qwen2-seq2", "qwen3-lm",
                                         "llama-lm"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace frostline::trainer
