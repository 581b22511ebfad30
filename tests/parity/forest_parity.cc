// SPDX-License-Identifier: Apache-2.0
//
// Optuna's importances of the forests that it grew: variances tree by tree,
// marginals of one parameter and of two, shares, impurity.
#include "importance/cube/cube_evaluator.h"
#include "importance/cube/cube_forest.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr double kForestTolerance = 1e-10;

const json& ResultOf(const json& file, const std::string& version) {
  const json& result = file.at("results").at(version);
  return result.contains("same_as")
             ? file.at("results").at(result["same_as"].get<std::string>())
             : result;
}

importance::ColumnTree TreeOf(const json& recorded, std::size_t columns) {
  importance::TreeArrays arrays;
  arrays.feature = recorded.at("feature").get<std::vector<int>>();
  arrays.threshold = recorded.at("threshold").get<std::vector<double>>();
  arrays.left = recorded.at("children_left").get<std::vector<int>>();
  arrays.right = recorded.at("children_right").get<std::vector<int>>();
  arrays.value = recorded.at("value").get<std::vector<double>>();
  if (recorded.contains("weight")) {
    arrays.weight = recorded["weight"].get<std::vector<double>>();
  }
  return importance::ImportTree(arrays, columns).value();
}

void CheckForest(const json& input, const json& recorded,
                 ParityResult& result) {
  std::vector<importance::Column> columns;
  for (const json& bound : input.at("bounds")) {
    columns.push_back({bound[0], bound[1]});
  }
  const auto groups = input.at("column_to_encoded_columns")
                          .get<std::vector<importance::ColumnGroup>>();
  std::vector<importance::ColumnTree> trees;
  for (const json& tree : input.at("trees")) {
    trees.push_back(TreeOf(tree, columns.size()));
  }
  const auto params = input.at("params").get<std::vector<std::string>>();
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const importance::CubeTree cube(trees[t], columns);
    result.Near("variance", recorded.at("tree_total_variance")[t],
                cube.variance(), kForestTolerance);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      result.Near("marginal of " + params[g],
                  recorded.at("tree_marginal_variance").at(params[g])[t],
                  cube.MarginalVariance(groups[g]), kForestTolerance);
    }
    const json& pair = recorded.at("tree_pair_marginal_variance_first_two");
    if (pair.is_null()) continue;
    importance::ColumnGroup both = groups[0];
    both.insert(both.end(), groups[1].begin(), groups[1].end());
    result.Near("marginal of two", pair[t], cube.MarginalVariance(both),
                kForestTolerance);
  }
  const std::vector<double> shares =
      importance::CubeShares(trees, columns, groups);
  const std::vector<double> impurity =
      importance::ImpurityShares(trees, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    result.Near("share of " + params[g],
                recorded.at("importance_mean").at(params[g]), shares[g],
                kForestTolerance);
    if (!recorded.contains("mdi")) continue;
    result.Near("mdi of " + params[g], recorded["mdi"].at(params[g]),
                impurity[g], kForestTolerance);
  }
}

void CheckFanova(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  for (const auto& [version, unused] : file.at("results").items()) {
    CheckForest(file.at("input"), ResultOf(file, version), result);
  }
}

const bool kForestRegistered =
    RegisterParity("fanova", R"(fanova_[0-9].*\.json)", CheckFanova);

}  // namespace
}  // namespace frostline::test
