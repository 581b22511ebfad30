// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/loss.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace frostline::trainer
