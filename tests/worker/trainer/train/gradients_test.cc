// SPDX-License-Identifier: Apache-2.0
//
// Gradient surgery, against scripts/task_fixtures.py and by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/optimizer.h"

namespace frostline::trainer {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

using Vectors = std::vector<std::vector<double>>;

double Product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

InnerProducts ProductsOf(const Vectors& gradients) {
  InnerProducts products;
  for (const auto& a : gradients) {
    products.emplace_back();
    for (const auto& b : gradients) products.back().push_back(Product(a, b));
  }
  return products;
}

std::vector<double> Mixed(Surgery surgery, const Vectors& gradients,
                          const SurgeryChance& chance = {}) {
  const Mixture mixture = MixGradients(surgery, ProductsOf(gradients), chance);
  std::vector<double> sum(gradients[0].size(), 0.0);
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += mixture.weights[t] * gradients[t][i];
    }
  }
  return sum;
}

// (1, 0) loses what points along (-2, 1): (.2, .4) is left of it.
TEST(GradientSurgery, TheShorterOneGivesWayToTheDominantOne) {
  EXPECT_THAT(Mixed(Surgery::kDominant, {{1, 0}, {-2, 1}}),
              ElementsAre(DoubleNear(-1.8, 1e-12), DoubleNear(1.4, 1e-12)));
}

// (-2, 1) becomes (0, 1) besides.
TEST(GradientSurgery, InPcGradBothGiveWay) {
  EXPECT_THAT(Mixed(Surgery::kPcGrad, {{1, 0}, {-2, 1}}),
              ElementsAre(DoubleNear(0.2, 1e-12), DoubleNear(1.4, 1e-12)));
}

TEST(GradientSurgery, WhatAgreesIsSummedAsItIs) {
  const InnerProducts products = ProductsOf({{1, 0}, {2, 1}});
  for (const Surgery surgery : {Surgery::kDominant, Surgery::kPcGrad}) {
    const Mixture mixture = MixGradients(surgery, products, {});
    EXPECT_FALSE(mixture.conflict);
    EXPECT_THAT(mixture.weights, ElementsAre(1.0, 1.0));
  }
}

TEST(GradientSurgery, MixesAsRecorded) {
  for (const char* seed : {"seed-11", "seed-23"}) {
    const JsonFixture recorded(FixturePath(std::string("tasks/") + seed) +
                               "/surgery.json");
    for (const JsonValue* v = recorded["cases"].first; v != nullptr;
         v = v->next) {
      Vectors gradients;
      for (const JsonValue* g = v->Find("gradients")->first; g != nullptr;
           g = g->next) {
        gradients.push_back(Numbers(*g));
      }
      const SurgeryChance chance = {
          std::stoull(std::string(v->Find("seed")->text)),
          static_cast<std::uint64_t>(v->Find("step")->number)};
      EXPECT_THAT(Mixed(Surgery::kDominant, gradients),
                  Pointwise(DoubleNear(1e-9), Numbers(*v->Find("dominant"))));
      EXPECT_THAT(Mixed(Surgery::kPcGrad, gradients, chance),
                  Pointwise(DoubleNear(1e-9), Numbers(*v->Find("pcgrad"))));
      EXPECT_EQ(
          MixGradients(Surgery::kPcGrad, ProductsOf(gradients), {}).conflict,
          v->Find("conflict")->truth);
    }
  }
}

using Verdict = LossScale::Verdict;

TEST(LossScale, IsHalvedByEachOverflowAndDoubledByGoodSteps) {
  LossScale scale({.exponent = 4, .double_after = 3});
  EXPECT_EQ(scale.Judge(false), Verdict::kSkip);
  EXPECT_EQ(scale.value(), 8.0);
  EXPECT_EQ(scale.Judge(true), Verdict::kMove);
  EXPECT_EQ(scale.Judge(true), Verdict::kMove);
  EXPECT_EQ(scale.value(), 8.0);
  EXPECT_EQ(scale.Judge(true), Verdict::kMove);
  EXPECT_EQ(scale.value(), 16.0);
  EXPECT_EQ(scale.skipped(), 1);
}

TEST(LossScale, BeginsAtTwoToTheSixteenAndWaitsForTwoThousand) {
  LossScale scale;
  EXPECT_EQ(scale.value(), 65536.0);
  for (int i = 0; i < 1999; ++i) scale.Judge(true);
  EXPECT_EQ(scale.value(), 65536.0);
  scale.Judge(true);
  EXPECT_EQ(scale.value(), 131072.0);
}

// Below 1 it would make overflows of what fp16 holds.
TEST(LossScale, SaysWhenASmallerOneWouldNotHelp) {
  LossScale scale({.exponent = 1, .double_after = 2});
  EXPECT_EQ(scale.Judge(false), Verdict::kSkip);
  EXPECT_EQ(scale.Judge(false), Verdict::kHopeless);
  EXPECT_EQ(scale.value(), 1.0);
  EXPECT_EQ(scale.skipped(), 1);
}

TEST(LossScale, AnswersAsGradScalerDid) {
  const JsonFixture recorded(
      FixturePath("../../worker/trainer/train/data/fp16.json"));
  const JsonValue& scaler = recorded["scaler"];
  LossScale scale(
      {.exponent = 16, .double_after = *recorded["double_after"].Index()});
  const JsonValue* after = scaler.Find("scales")->first;
  int judged = 0;
  for (const JsonValue* finite = scaler.Find("finite")->first;
       finite != nullptr; finite = finite->next, after = after->next) {
    scale.Judge(finite->truth);
    ASSERT_EQ(scale.value(), after->number) << "after " << ++judged;
  }
}

TEST(LossScale, ComesBackFromItsText) {
  LossScale scale({.exponent = 9, .double_after = 3});
  scale.Judge(false);
  scale.Judge(true);
  LossScale other({.exponent = 16, .double_after = 3});
  ASSERT_TRUE(other.Restore(scale.Print()));
  EXPECT_EQ(other.Print(), "8 1 1");
  other.Judge(true);
  other.Judge(true);
  EXPECT_EQ(other.value(), 512.0);
}

TEST(LossScale, TakesNoOtherText) {
  LossScale scale;
  for (const char* const text :
       {"", "8", "8 1", "8 1 ", "8 1 1 1", "8 1 1x", "-1 0 0", "128 0 0",
        "8  1 1", "1e3 0 0", "99999999999999999999 0 0"}) {
    EXPECT_FALSE(scale.Restore(text)) << text;
  }
  EXPECT_EQ(scale.value(), 65536.0);
}

}  // namespace
}  // namespace frostline::trainer
