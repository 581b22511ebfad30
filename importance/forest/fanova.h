// SPDX-License-Identifier: Apache-2.0
//
// File: fanova.h
//
// Functional ANOVA of a forest (Hutter et al., 2014) averages over trees each
// effect's share of a tree's variance:
//
//   share_S = mean over trees of V_S / V,   V = Var f,  V_S as in marginal.h
//
// What shares lack of 1 is interaction of three and more parameters, and noise
// taken for such.
//
//   const Shares shares = ForestShares(trees, axes, {0, 1, 2});
//   shares.main[0] + shares.pairs[0];   // of axis 0, and of axes 0 and 1
#ifndef FROSTLINE_IMPORTANCE_FOREST_FANOVA_H_
#define FROSTLINE_IMPORTANCE_FOREST_FANOVA_H_

#include <stop_token>
#include <utility>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"
#include "importance/measure/named_subsets.h"

namespace frostline::importance {

struct Shares {
  std::vector<double> main;   // by axis
  std::vector<double> total;  // by axis
  std::vector<double> pairs;  // by pair, as asked for
  double unexplained = 0.0;   // by neither main effects nor pairs
  std::vector<SubsetShare> subsets;
};

// `pair_axes` rise, pairs are ordered as in TreeMarginals::PairVariances. Trees
// without variance do not count; if all are such, everything is unexplained.
Shares ForestShares(const std::vector<Tree>& trees,
                    const std::vector<MeasuredAxis>& axes,
                    const std::vector<std::size_t>& pair_axes, int threads = 1,
                    const std::stop_token& stop = {});

// Does a tenth of the work.
std::vector<double> ForestMainShares(const std::vector<Tree>& trees,
                                     const std::vector<MeasuredAxis>& axes,
                                     int threads = 1,
                                     const std::stop_token& stop = {});

// REQUIRES: CheckSubsets is OK.
std::vector<SubsetShare> ForestSubsetShares(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes,
    const NamedSubsets& subsets, int threads = 1,
    const std::stop_token& stop = {});

// Returns by axis its mean main effect at its probes; unordered axes have none.
std::vector<std::vector<double>> ForestCurves(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes,
    int threads = 1, const std::stop_token& stop = {});

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FANOVA_H_
