// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/answers.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

// The size of the largest floating tensor that an operator gives, on this
// thread, while this object lives.
class LargestResult {
 public:
  LargestResult() {
    largest_ = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction&)
                -> std::unique_ptr<at::ObserverContext> { return nullptr; },
            [](const at::RecordFunction& call, at::ObserverContext*) {
              for (const c10::IValue& each : call.outputs()) {
                if (!each.isTensor() || !each.toTensor().defined()) continue;
                largest_ = std::max(largest_, each.toTensor().numel());
              }
            })
            .needsOutputs(true)
            .scopes({at::RecordScope::FUNCTION}));
  }
  ~LargestResult() { at::removeCallback(handle_); }
  LargestResult(const LargestResult&) = delete;
  LargestResult& operator=(const LargestResult&) = delete;

  std::int64_t numbers() const { return largest_; }

 private:
  static inline thread_local std::int64_t largest_ = 0;
  at::CallbackHandle handle_ = 0;
};

constexpr std::int64_t kTokens = 23;
constexpr std::int64_t kWidth = 6;
constexpr std::int64_t kRows = 50;

class LikelihoodTest : public testing::Test {
 protected:
  // The sum of log p, each token's times its number, so that all weigh
  // differently.
  at::Tensor Weighted(std::int64_t most) {
    at::Tensor said = LikelihoodOf(read_, table_, next_, most);
    return (said.select(1, 0) * at::arange(kTokens, at::kFloat)).sum();
  }
  at::Tensor WeightedAsTorchSays() {
    const at::Tensor all = at::linear(read_, table_).log_softmax(1);
    return (all.gather(1, next_.unsqueeze(1)).squeeze(1) *
            at::arange(kTokens, at::kFloat))
        .sum();
  }

  at::Tensor read_ =
      (at::rand({kTokens, kWidth}) - 0.5).set_requires_grad(true);
  at::Tensor table_ = (at::rand({kRows, kWidth}) - 0.5).set_requires_grad(true);
  at::Tensor next_ = at::randint(kRows, {kTokens}, at::kLong);
};

TEST_F(LikelihoodTest, IsThatOfASoftmaxOverAllRowsAndSoAreItsGradients) {
  WeightedAsTorchSays().backward();
  const at::Tensor of_read = read_.grad().clone();
  const at::Tensor of_table = table_.grad().clone();
  for (const std::int64_t most : {std::int64_t{1}, 4 * kRows, kMostLogits}) {
    read_.mutable_grad().reset();
    table_.mutable_grad().reset();
    const at::Tensor sum = Weighted(most);
    EXPECT_NEAR(sum.item<double>(), WeightedAsTorchSays().item<double>(), 1e-3);
    sum.backward();
    EXPECT_LE(Furthest(read_.grad(), of_read), 1e-5) << most;
    EXPECT_LE(Furthest(table_.grad(), of_table), 1e-5) << most;
  }
}

TEST_F(LikelihoodTest, SaysWhatATokenLacksToTheLikeliest) {
  const at::NoGradGuard no_graph;
  const at::Tensor all = at::linear(read_, table_);  // [P, V]
  const at::Tensor best = all.argmax(1);
  EXPECT_EQ(
      LikelihoodOf(read_, table_, best).select(1, 1).abs().max().item<double>(),
      0.0);
  const at::Tensor other = (best + 1).remainder(kRows);
  EXPECT_LT(
      LikelihoodOf(read_, table_, other).select(1, 1).max().item<double>(),
      0.0);
}

TEST_F(LikelihoodTest, AFrozenTableHasNoGradient) {
  table_.set_requires_grad(false);
  Weighted(kMostLogits).backward();
  EXPECT_TRUE(read_.grad().defined());
  EXPECT_FALSE(table_.grad().defined());
}

// 16 texts of 256 tokens by 150,000 rows would be 614 million numbers.
TEST(Likelihood, NeverHoldsMoreProductsThanItMay) {
  constexpr std::int64_t kMany = 4'096;
  constexpr std::int64_t kVocabulary = 5'000;
  constexpr std::int64_t kMost = 100'000;
  at::Tensor read = at::rand({kMany, 8}).set_requires_grad(true);
  at::Tensor table = at::rand({kVocabulary, 8}).set_requires_grad(true);
  const at::Tensor next = at::randint(kVocabulary, {kMany}, at::kLong);
  const LargestResult largest;
  LikelihoodOf(read, table, next, kMost).select(1, 0).mean().backward();
  EXPECT_GE(largest.numbers(), kVocabulary * 8);
  EXPECT_LE(largest.numbers(), kMost);
  EXPECT_LE(kMostLogits, std::int64_t{16} * 256 * 150'000 / 30);
}

TEST(Likelihood, OfNoTokensIsEmpty) {
  EXPECT_EQ(LikelihoodOf(at::rand({0, 4}), at::rand({9, 4}),
                         at::empty({0}, at::kLong))
                .sizes(),
            (std::vector<std::int64_t>{0, 2}));
}

class AnswerHead : public testing::TestWithParam<const char*> {
 protected:
  AnswerHead()
      : loaded_(LoadFixture("models/" + std::string(GetParam()))),
        batch_(BatchOf(
            ReadTensors(FixturePath("models/" + std::string(GetParam()) +
                                    "/io.safetensors")),
            "b1")) {}

  LoadedModel loaded_;
  Batch batch_;
};

TEST_P(AnswerHead, HasWeightsOfItsOwnOnlyWhereTheTableIsNotTheEmbeddings) {
  const Model& model = loaded_.model;
  EXPECT_EQ(model.head().weights().size(), model.config().tied ? 0U : 1U);
  EXPECT_EQ(model.head().table().size(0), model.config().vocabulary);
  EXPECT_EQ(model.config().tied,
            model.head().table().const_data_ptr() ==
                model.weights().front().value.const_data_ptr());
}

TEST_P(AnswerHead, PaddingChangesNothing) {
  const at::NoGradGuard no_graph;
  const Batch wide = PadTo(48, batch_, loaded_.model.config());
  ASSERT_EQ(wide.ids.size(1), 48);
  EXPECT_LE(Furthest(loaded_.model.Forward(wide, {}),
                     loaded_.model.Forward(batch_, {})),
            1e-5);
}

TEST_P(AnswerHead, RefusesALabelBeyondTheVocabulary) {
  batch_.labels = batch_.labels.clone();
  batch_.labels.select(1, 0).fill_(loaded_.model.config().vocabulary);
  EXPECT_EQ(loaded_.model.Check(batch_).fault().kind, FaultKind::kInconsistent);
}

INSTANTIATE_TEST_SUITE_P(Recorded, AnswerHead,
                         testing::Values("llama-lm", "qwen2-lm", "qwen3-lm"),
                         [](const auto& folder) {
                           return std::string(folder.param).substr(0, 5);
                         });

TEST(AnswerHeads, AnEncoderHasNone) {
  const HeadSpec head = {.task = Task::kAnswers, .outputs = 1};
  const auto loaded = LoadModel(FixturePath("models/bert-seq2"), head, 1);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.fault().kind, FaultKind::kMisuse);
}

}  // namespace
}  // namespace frostline::trainer
