// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/subsets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/mixture/tree_effects.h"

namespace frostline::importance {
namespace {

class LeafWalk {
 public:
  LeafWalk(const std::vector<FineAxis>& axes,
           const std::vector<std::size_t>& subset, const SubsetPoints& points)
      : box_(axes), subset_(subset), points_(points) {
    rest_.together.assign(points_.masses.size(), 0.0);
    rest_.beyond.assign(points_.masses.size(), 0.0);
  }

  void Add(const Tree& tree, double weight) {
    tree_ = &tree;
    splits_subset_ = SplitsOn(tree, subset_);
    Visit(0, weight);
  }

  const SubsetRest& rest() const { return rest_; }

 private:
  // The integral over the node's box; `mass` times the tree's weight.
  double Integral(std::size_t at, double mass) {
    const TreeNode& node = tree_->nodes[at];
    if (node.axis < 0) return mass * node.value;
    double sum = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      sum += Integral(child, mass * share);
    });
    return sum;
  }

  // What the set does not split any further is one leaf.
  void Visit(std::size_t at, double mass) {
    if (!splits_subset_[at]) return AddLeaf(at, mass);
    box_.EnterChildren(tree_->nodes[at], [&](std::size_t child, double share) {
      Visit(child, mass * share);
    });
  }

  void AddLeaf(std::size_t at, double mass) {
    std::vector<const std::uint16_t*> codes;
    std::vector<std::vector<double>> ratios;  // r, by split axis, by code
    for (std::size_t s = 0; s < subset_.size(); ++s) {
      const std::vector<bool>& inside = box_.inside(subset_[s]);
      if (std::find(inside.begin(), inside.end(), false) == inside.end()) {
        continue;
      }
      codes.push_back(points_.codes[s].data());
      std::vector<double>& ratio = ratios.emplace_back(inside.size(), -1.0);
      for (std::size_t k = 0; k < inside.size(); ++k) {
        if (inside[k]) ratio[k] += 1.0 / box_.mass(subset_[s]);
      }
    }
    if (ratios.size() < 3) return;
    const double integral = Integral(at, mass);
    const bool has_all = ratios.size() == subset_.size();
    for (std::size_t n = 0; n < points_.masses.size(); ++n) {
      double sum = 0.0, squares = 0.0, grown = 1.0, product = 1.0;
      for (std::size_t s = 0; s < ratios.size(); ++s) {
        const double ratio = ratios[s][codes[s][n]];
        sum += ratio;
        squares += ratio * ratio;
        grown *= 1.0 + ratio;
        product *= ratio;
      }
      // Less the constant, main effects and pairs.
      rest_.together[n] +=
          integral * (grown - 1.0 - sum - 0.5 * (sum * sum - squares));
      if (has_all) rest_.beyond[n] += integral * product;
    }
  }

  FineBox box_;
  const std::vector<std::size_t>& subset_;
  const SubsetPoints& points_;
  const Tree* tree_ = nullptr;
  std::vector<bool> splits_subset_;  // by node of the tree
  SubsetRest rest_;
};

}  // namespace

std::uint16_t DrawCode(const FineAxis& axis, Rng& rng) {
  double place = rng.Uniform();
  for (std::size_t k = 0; k < axis.size(); ++k) {
    place -= axis.masses[k];
    if (place < 0.0) return static_cast<std::uint16_t>(k);
  }
  return static_cast<std::uint16_t>(axis.size() - 1);
}

SubsetPoints MakeSubsetPoints(const std::vector<FineAxis>& axes,
                              const std::vector<std::size_t>& subset,
                              Rng& rng) {
  std::size_t combinations = 1;
  for (const std::size_t axis : subset) {
    // An axis has fewer codes than this: no overflow.
    combinations =
        std::min(combinations * axes[axis].size(), kMostCombinations + 1);
  }
  const bool all = combinations <= kMostCombinations;
  const std::size_t count = all ? combinations : kDrawnPoints;
  SubsetPoints points;
  points.codes.resize(subset.size());
  points.masses.assign(count, all ? 1.0 : 1.0 / static_cast<double>(count));
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t place = n;
    for (std::size_t s = 0; s < subset.size(); ++s) {
      const FineAxis& axis = axes[subset[s]];
      if (!all) {
        points.codes[s].push_back(DrawCode(axis, rng));
        continue;
      }
      const std::size_t code = place % axis.size();
      place /= axis.size();
      points.codes[s].push_back(static_cast<std::uint16_t>(code));
      points.masses[n] *= axis.masses[code];
    }
  }
  return points;
}

SubsetRest FindSubsetRest(const std::vector<FineAxis>& axes,
                          std::span<const Tree> trees,
                          const std::vector<std::size_t>& subset,
                          const SubsetPoints& points) {
  LeafWalk walk(axes, subset, points);
  for (const Tree& tree : trees) {
    walk.Add(tree, 1.0 / static_cast<double>(trees.size()));
  }
  return walk.rest();
}

namespace {

bool IsWithin(const EffectTerm& term, const std::vector<std::size_t>& axes) {
  return std::includes(axes.begin(), axes.end(), term.begin(), term.end());
}

}  // namespace

std::vector<AskedSubset> FindAsked(const LevelEffects& model,
                                   const std::vector<AxisPair>& pairs,
                                   const NamedSubsets& subsets) {
  std::vector<AskedSubset> found;
  found.reserve(subsets.size());
  for (const std::vector<int>& subset : subsets) {
    AskedSubset asked;
    asked.axes.assign(subset.begin(), subset.end());
    std::sort(asked.axes.begin(), asked.axes.end());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (IsWithin({pairs[p].first, pairs[p].second}, asked.axes)) {
        asked.pairs.push_back(p);
      }
    }
    for (std::size_t t = 0; t < model.terms().size(); ++t) {
      const EffectTerm& term = model.terms()[t];
      if (term.size() < 3 || !IsWithin(term, asked.axes)) continue;
      asked.terms.push_back(t);
      if (term == asked.axes) asked.is_sought = true;
    }
    for (const LeftOutTerm& one : model.left_out()) {
      if (one.term == asked.axes) asked.is_sought = true;
    }
    found.push_back(std::move(asked));
  }
  return found;
}

LeftOutEvidence LeftOutWithin(const LevelEffects& model,
                              const std::vector<int>& subset, bool own) {
  EffectTerm axes(subset.begin(), subset.end());
  std::sort(axes.begin(), axes.end());
  LeftOutEvidence found;
  double squares = 0.0;
  for (const LeftOutTerm& one : model.left_out()) {
    if (own ? one.term != axes : !IsWithin(one.term, axes)) continue;
    found.evidence.variance += one.evidence.variance;
    squares += one.evidence.deviation * one.evidence.deviation;
    found.functions += static_cast<double>(WidthOf(model.axes(), one.term));
  }
  found.evidence.deviation = std::sqrt(squares);
  return found;
}

}  // namespace frostline::importance
