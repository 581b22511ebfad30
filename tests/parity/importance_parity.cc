// SPDX-License-Identifier: Apache-2.0
//
// Exact fANOVA of recorded forests over levels, against brute force over
// every point of their grid.
#include <algorithm>

#include "importance/forest/fanova.h"
#include "importance/forest/marginal.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr double kImportanceTolerance = 1e-10;

importance::Tree ReportedTreeOf(const json& recorded) {
  importance::Tree tree;
  for (std::size_t i = 0; i < recorded.at("feature").size(); ++i) {
    importance::TreeNode node;
    node.axis = std::max(recorded.at("feature")[i].get<int>(), -1);
    node.threshold = recorded.at("threshold")[i];
    node.left = recorded.at("children_left")[i];
    node.right = recorded.at("children_right")[i];
    node.value = recorded.at("value")[i];
    tree.nodes.push_back(node);
  }
  return tree;
}

void CheckReportedFanova(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const json& input = file.at("input");
  Levels levels;
  for (int k = 0; k < input.at("n_levels"); ++k) levels.rates.push_back(k);
  std::vector<importance::MeasuredAxis> axes;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < input.at("n_params").get<std::size_t>(); ++i) {
    axes.emplace_back(levels, 1.0);
    all.push_back(i);
  }
  std::vector<importance::Tree> trees;
  for (const json& tree : input.at("trees"))
    trees.push_back(ReportedTreeOf(tree));
  const json& recorded = file.at("results").at("5.0.0");
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const importance::TreeMarginals marginals(trees[t], axes);
    const double variance = marginals.variance();
    result.Near("variance", recorded.at("tree_total_variance")[t], variance,
                kImportanceTolerance);
    for (const std::size_t i : all) {
      result.Near("main", recorded.at("tree_main_fraction")[t][i],
                  marginals.MainVariance(i) / variance, kImportanceTolerance);
    }
    const std::vector<double> pairs = marginals.PairVariances(all);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      result.Near("pair", recorded.at("tree_pair_fraction_01_02_12")[t][p],
                  pairs[p] / variance, kImportanceTolerance);
    }
  }
  const importance::Shares shares = importance::ForestShares(trees, axes, all);
  for (const std::size_t i : all) {
    result.Near("mean main", recorded.at("main_mean")[i], shares.main[i],
                kImportanceTolerance);
  }
  for (std::size_t p = 0; p < shares.pairs.size(); ++p) {
    result.Near("mean pair", recorded.at("pair_mean")[p], shares.pairs[p],
                kImportanceTolerance);
  }
}

const bool kImportanceRegistered = RegisterParity(
    "fanova_native", R"(fanova_native_.*\.json)", CheckReportedFanova);

}  // namespace
}  // namespace frostline::test
