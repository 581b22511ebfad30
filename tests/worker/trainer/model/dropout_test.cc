// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace frostline::trainer {
namespace {

at::Generator Chance() {
  return at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{5});
}

TEST(Dropout, AShareOfZeroIsTheTensorItself) {
  const at::Tensor x = at::ones({3});
  EXPECT_TRUE(Dropout(x, 0.0, nullptr).is_same(x));
}

TEST(Dropout, KeepsTheMeanAndScalesWhatStays) {
  at::Generator chance = Chance();
  const at::Tensor y = Dropout(at::ones({1000, 1000}), 0.25, &chance);
  const at::Tensor stays = y.ne(0);
  const double share = stays.to(at::kDouble).sum().item<double>() / 1e6;
  EXPECT_NEAR(share, 0.75, 5.0 * std::sqrt(0.1875 / 1e6));
  EXPECT_NEAR(y.max().item<double>(), 1.0 / 0.75, 1e-6);
}

// What was zeroed has no gradient, what stayed the scale.
TEST(Dropout, BackwardUsesTheMaskOfForward) {
  at::Generator chance = Chance();
  const at::Tensor x = at::ones({70, 33}).set_requires_grad(true);
  const at::Tensor y = Dropout(x, 0.1, &chance);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(y.detach()));
  EXPECT_GT(y.detach().eq(0).sum().item<std::int64_t>(), 100);
}

TEST(Dropout, EachCallDrawsAnewAndAStateComesBack) {
  at::Generator chance = Chance();
  const at::Tensor x = at::ones({64});
  const at::Tensor first = Dropout(x, 0.5, &chance);
  const at::Tensor state = chance.get_state();
  const at::Tensor second = Dropout(x, 0.5, &chance);
  EXPECT_FALSE(first.equal(second));
  chance.set_state(state);
  EXPECT_TRUE(Dropout(x, 0.5, &chance).equal(second));
}

TEST(Dropout, IsTheSameOnAnyNumberOfThreadsAndWithoutAGraph) {
  at::Generator chance = Chance();
  const at::Tensor state = chance.get_state();
  const at::Tensor x = at::ones({300, 400});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = Dropout(x, 0.1, &chance);
  at::set_num_threads(3);
  chance.set_state(state);
  const at::Tensor three =
      Dropout(at::ones({300, 400}).set_requires_grad(true), 0.1, &chance);
  at::set_num_threads(threads);
  EXPECT_TRUE(one.equal(three.detach()));
}

TEST(Dropout, DropsViewsAndBf16) {
  at::Generator chance = Chance();
  const at::Tensor turned = at::ones({40, 30}).transpose(0, 1);
  EXPECT_EQ(Dropout(turned, 0.1, &chance).sizes(), turned.sizes());
  const at::Tensor half = at::ones({64}, at::kBFloat16).set_requires_grad(true);
  const at::Tensor y = Dropout(half, 0.1, &chance);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  y.sum().backward();
  EXPECT_TRUE(half.grad().equal(y.detach()));
}

}  // namespace
}  // namespace frostline::trainer
