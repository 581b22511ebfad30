// SPDX-License-Identifier: Apache-2.0
//
// File: fanova.h
//
// Functional ANOVA of a forest (Hutter et al., 2014): the share of each effect
// in the variance of a tree, averaged over trees:
//
//   share_S = mean over trees of V_S / V,   V = Var f,  V_S as in marginal.h
//
// What the shares lack to 1 is interaction of three and more parameters, and
// noise that looks like it: trees grow until their leaves are pure, so noise
// lowers all shares.
//
//   const Shares shares = ForestShares(trees, axes, {0, 1, 2});
//   shares.main[0] + shares.pairs[0];   // of axis 0, and of axes 0 and 1
#ifndef FROSTLINE_IMPORTANCE_FOREST_FANOVA_H_
#define FROSTLINE_IMPORTANCE_FOREST_FANOVA_H_

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/forest/forest.h"
#include "importance/forest/marginal.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// All axes of a set S have this only together in one tree:
//
//   f_S = sum over leaves of v m prod_s (1[x_s in side_s] / m_s - 1)
//
// with a leaf's value v and mass m, and m_s that of its side along s in S. Its
// variance is a sum over pairs of leaves split on all of S.
//
// `cells` are the tree's. Costs O(leaves² · axes of the subset).
double JointVarianceOf(const Tree& tree, const TreeCells& cells,
                       const std::vector<std::size_t>& subset);

// A set S of axes explains exactly this of one tree's variance:
//
//   Var E[f | x_S] = E f(x) f(x') - (E f)^2   (Sobol, 1993)
//
// where x' shares the axes of S alone with x: a sum over pairs of boxes that
// meet along S, on one walk with both points. Branches not split on S are one
// box.
//
// Returns variances, which are not divided by the variance of the tree.
// `subset` has different axes, at most kMaxSubset. Costs O(leaves² · axes of
// the subset).
SubsetVariance SubsetVarianceOf(const Tree& tree,
                                const std::vector<MeasuredAxis>& axes,
                                const std::vector<std::size_t>& subset);

// The shares of a forest. Subsets are shares, too.
struct Shares {
  std::vector<double> main;   // by axis
  std::vector<double> total;  // by axis
  std::vector<double> pairs;  // by pair, as asked for
  double unexplained = 0.0;   // by neither main effects nor pairs
  std::vector<SubsetVariance> subsets;
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
std::vector<SubsetVariance> ForestSubsetShares(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes,
    const NamedSubsets& subsets, int threads = 1,
    const std::stop_token& stop = {});

// Returns by axis its mean main effect at its probes; unordered axes have none.
std::vector<std::vector<double>> ForestCurves(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes,
    int threads = 1, const std::stop_token& stop = {});

// Evaluates with forests. Replicates draw trials anew and grow a small forest
// on each draw (a bootstrap of little bags: Sexton and Laake, 2009), so they
// spread with trials and trees. What chance gives an axis is measured on a copy
// of shuffled rows (the shadow features of Kursa and Rudnicki, 2010). A
// parameter is distinguishable if its lower 95 % end is above the largest main
// effect of its copies.

inline constexpr int kTreesPerBag = 8;  // of a replicate
inline constexpr int kShuffles = 16;    // as many trees, every axis twice

// Counts in trees of every axis once.
constexpr int TreesForIntervals(int replicates) {
  return (replicates + 2 * kShuffles) * kTreesPerBag;
}

// After a stop replicates are empty, and so are shares by chance.
std::vector<Shares> Replicate(const Dataset& data, int count,
                              std::uint64_t seed,
                              const std::vector<std::size_t>& pair_axes,
                              int threads = 1, const NamedSubsets& subsets = {},
                              const std::stop_token& stop = {});

// Returns by axis the largest main share of a shuffled copy.
std::vector<double> ChanceMainShares(const Dataset& data, std::uint64_t seed,
                                     int threads = 1,
                                     const std::stop_token& stop = {});

// Pairs are taken among those of largest main effect.
inline constexpr std::size_t kMaxPairParameters = 64;

absl::StatusOr<Report> EvaluateForest(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FANOVA_H_
