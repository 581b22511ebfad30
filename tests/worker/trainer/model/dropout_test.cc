// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "worker/trainer/model/layers.h"

namespace frostline::trainer {
namespace {

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

}  // namespace
}  // namespace frostline::trainer
