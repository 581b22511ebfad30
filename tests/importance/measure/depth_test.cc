// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "importance/report.h"

namespace frostline::importance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Domain kRates = Levels{{0.0, 1e-5}};

Space NamedSpace(const std::vector<std::string>& names) {
  std::vector<Parameter> parameters;
  for (const std::string& name : names)
    parameters.push_back({name, kRates, {}});
  return Space(parameters, {}, std::nullopt);
}

TEST(DepthOrder, IsThatOfTheModelNotOfTheNames) {
  const Space space = NamedSpace({"head", "layer.10", "dropout", "layer.2.ffn",
                                  "layer.2.attention", "pooler", "embeddings"});
  EXPECT_THAT(DepthOrder(space), ElementsAre(6, 3, 4, 1, 5, 0, 2));
}

TEST(DepthOrder, TakesModulesBeforeTheParametersName) {
  const Space space({{"tied", kRates, {}}, {"a", kRates, {}}},
                    {{"layer.5", 0, 0.0, {}},
                     {"layer.3", 0, 0.0, {}},
                     {"layer.4", 1, 0.0, {}}},
                    std::nullopt);
  EXPECT_THAT(DepthOrder(space), ElementsAre(0, 1));
}

TEST(LayerGroups, CutLayersIntoThirds) {
  const auto groups = LayerGroups(
      NamedSpace({"embeddings", "layer.0", "layer.1", "layer.2", "layer.3",
                  "layer.4", "layer.5", "pooler", "head", "batch"}));
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(groups[1].name, "lower");
  EXPECT_THAT(groups[0].parameters, ElementsAre(0));
  EXPECT_THAT(groups[1].parameters, ElementsAre(1, 2));
  EXPECT_THAT(groups[2].parameters, ElementsAre(3, 4));
  EXPECT_THAT(groups[3].parameters, ElementsAre(5, 6));
  EXPECT_THAT(groups[4].parameters, ElementsAre(7, 8));
}

TEST(LayerGroups, LeaveOutWhatReachesOverSeveralAndWhatIsNotThere) {
  const Space space(
      {{"all", kRates, {}}, {"head", kRates, {}}},
      {{"layer.0", 0, 0.0, {}}, {"layer.11", 0, 0.0, {}}, {"head", 1, 0.0, {}}},
      std::nullopt);
  const auto groups = LayerGroups(space);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "head");
  EXPECT_THAT(LayerGroups(NamedSpace({"x", "y"})), IsEmpty());
}

TEST(LayerGroups, TakeNoOtherNameForALayer) {
  EXPECT_THAT(LayerGroups(NamedSpace({"layer", "layer.", "layer.x", "layer.1x",
                                      "layers.1", "layer.-1"})),
              IsEmpty());
}

}  // namespace
}  // namespace frostline::importance
