// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost/point_work.h"

#include "gmock/gmock.h"
#include "tests/sampler/cost/cost_cases.h"

namespace frostline::sampler {
namespace {

TEST(PointWork, CountsPassesThroughLayers) {
  const Space space = FourLayers();
  const WorkCounter counter(space);
  // Layers 1 and 2 and the top train: 1 is the lowest, and needs no gradient
  // of its input.
  const PointWork some = counter.CountOf(AllAbove(1));
  EXPECT_EQ(some.prefix, 1.0);
  EXPECT_EQ(some.forward, 2.0);
  EXPECT_EQ(some.backward, 1.0);
  EXPECT_EQ(some.weights, 2.0);
  EXPECT_EQ(some.top, 3.0);
  const PointWork none = counter.CountOf(AllAbove(4));
  EXPECT_EQ(none.passes(), 0.0);
  EXPECT_EQ(none.prefix, 4.0);
}

TEST(PointWork, AGradientThatReachesEmbeddingsPassesEveryLayer) {
  const Space space({{"embeddings", Levels{{0, 1e-4}}, {}}},
                    {{"embeddings", 0, 0.0, {}},
                     {"layer.0.attention", {}, 0.0, {}},
                     {"layer.0.ffn", {}, 1e-4, {}},
                     {"layer.1", {}, 0.0, {}}},
                    std::nullopt);
  const WorkCounter counter(space);
  const PointWork trained = counter.CountOf({1.0});
  EXPECT_EQ(trained.embeddings, 1.0);
  EXPECT_EQ(trained.backward, 1.0);
  EXPECT_EQ(trained.weights, 0.5);  // half of layer 0
  EXPECT_EQ(trained.top, 2.0);
  EXPECT_FALSE(WorkCounter::BoundaryOf(trained).has_value());
  EXPECT_EQ(counter.CountOf({0.0}).backward, 0.0);
}

TEST(PointWork, ReadsSearchedNumbersAndChoices) {
  const Space space =
      FourLayers({{"epochs", IntRange{1, 4, 1, false}, {}},
                  {"batch_size", Categorical{{"16", "32"}}, {}},
                  {"max_length", IntRange{16, 128, 1, true}, {}}});
  const PointWork work =
      WorkCounter(space).CountOf(AllAbove(2, {3.0, 1.0, 64.0}));
  EXPECT_EQ(work.epochs, 3.0);
  EXPECT_EQ(work.steps(), 3.0 / 32.0);
  EXPECT_EQ(WorkCounter::BoundaryOf(work), (WorkCounter::Boundary{2, 64.0}));
}

TEST(PointWork, TakesRatesForLayersWhereNoModulesAreNamed) {
  const Space space({{"a", Levels{{0, 1e-4}}, {}},
                     {"b", LogUniform{1e-5, 1e-3, true}, {}},
                     {"c", FloatRange{0.0, 1.0, 0.0, false}, {}}},
                    {}, std::nullopt);
  const PointWork work = WorkCounter(space).CountOf({1.0, 0.0, 0.5});
  EXPECT_EQ(work.forward + work.weights, 2.0);
  EXPECT_EQ(work.top, 2.0);  // forward, and the gradient for what is below
  EXPECT_EQ(work.prefix, 0.0);
}

}  // namespace
}  // namespace frostline::sampler
