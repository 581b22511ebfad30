// SPDX-License-Identifier: Apache-2.0
//
// File: subsets.h
//
// The mean of trees, taken apart exactly: its main effects and pairs as tables,
// and what a set of parameters explains beyond them. (forest/fanova.h takes
// each tree apart and averages shares. Here what a tree has from its own draw
// averages out first.)
//
// A leaf of value v and mass m covers a side of each axis s that was split on
// the way to it. With r_s = 1[x_s in its side] / (mass of the side) - 1, it is
// worth
//
//   v m prod over s of (1 + r_s)
//
// at a point, and each term of the product is the effect of a set of axes.
//
//   one axis, two codes of equal mass, one split: values 1 and 3
//   mean 2, main effect {-1, 1}
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "importance/cells.h"
#include "importance/effects/level_effects.h"
#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"

namespace frostline::importance {

// An axis in fine codes. Trees are exact on levels and choices, and to a 48th
// of a range.
struct FineAxis {
  std::vector<double> codes;  // rising, if ordered
  std::vector<double> masses;
  std::vector<std::uint16_t> effect_cell;  // of the effect axis, by code
  bool is_ordered = true;

  std::size_t size() const { return codes.size(); }
  // Needs no trial that had the code.
  std::uint16_t NearestTo(double code) const;
  bool GoesLeft(const TreeNode& node, std::size_t at) const;
};

// An axis as level effects see it, and in fine codes.
struct EffectAndFineAxis {
  EffectAxis effect;
  FineAxis fine;
};

EffectAndFineAxis MakeFineAxis(const MeasuredAxis& axis,
                               const std::vector<double>& codes);

// The part of the space that a walk down a tree leaves, in fine codes; the
// whole space at first. It keeps a reference.
class FineBox {
 public:
  explicit FineBox(const std::vector<FineAxis>& axes)
      : axes_(axes), masses_(axes.size(), 1.0) {
    inside_.reserve(axes.size());
    for (const FineAxis& axis : axes) inside_.emplace_back(axis.size(), true);
  }

  const std::vector<bool>& inside(std::size_t axis) const {
    return inside_[axis];
  }
  double mass(std::size_t axis) const { return masses_[axis]; }

  // Calls visit(child, share) for the children reached, left first, cut down to
  // each; `share` is the child's part.
  template <typename Visitor>
  void EnterChildren(const TreeNode& node, const Visitor& visit) {
    const auto axis = static_cast<std::size_t>(node.axis);
    const std::vector<bool> before = inside_[axis];
    const double whole = masses_[axis];
    for (const bool left : {true, false}) {
      double part = 0.0;
      for (std::size_t k = 0; k < before.size(); ++k) {
        inside_[axis][k] = before[k] && axes_[axis].GoesLeft(node, k) == left;
        if (inside_[axis][k]) part += axes_[axis].masses[k];
      }
      if (!(part > 0.0)) continue;
      masses_[axis] = part;
      visit(static_cast<std::size_t>(left ? node.left : node.right),
            part / whole);
    }
    inside_[axis] = before;
    masses_[axis] = whole;
  }

 private:
  const std::vector<FineAxis>& axes_;
  std::vector<std::vector<bool>> inside_;  // by axis and code
  std::vector<double> masses_;             // by axis
};

// Thousands of leaves split on hundreds of axes, most for noise, and tables for
// all would be gigabytes, so axes with most of the trees' variance are paired.

using AxisPair = std::pair<std::size_t, std::size_t>;  // rising

inline constexpr std::size_t kMaxForestPairAxes = 64;  // as level effects

// Returns by axis the variance over the space that its splits take away.
std::vector<double> FindSplitGains(const std::vector<FineAxis>& axes,
                                   std::span<const Tree> trees);

// Pairs the axes of largest gain, and adds `always`; each comes once, in order.
std::vector<AxisPair> ChoosePairs(const std::vector<double>& gains,
                                  const std::vector<AxisPair>& always);

using FinePoint = std::vector<std::uint16_t>;  // by axis an index into codes

// `way` gets the axes split on the way, each once.
double PredictAt(const std::vector<FineAxis>& axes, const Tree& tree,
                 const FinePoint& point,
                 std::vector<std::size_t>* way = nullptr);

double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point);

// The main effects and pairs of a mean of trees.
struct TreeEffects {
  double mean = 0.0;
  // Goes by axis and code, and is orthogonal to the constant.
  std::vector<std::vector<double>> main;
  // Goes by code of the first, then the second, and is orthogonal to main
  // effects. Pairs split on no path are left out, as 0.
  std::map<AxisPair, std::vector<double>> pairs;
};

TreeEffects FindTreeEffects(const std::vector<FineAxis>& axes,
                            std::span<const Tree> trees,
                            const std::vector<AxisPair>& pairs);

// A subset of at most so many combinations of codes is looked at in all of
// them; of more, kDrawnPoints are drawn.
inline constexpr std::size_t kMostCombinations = 4096;
inline constexpr std::size_t kDrawnPoints = 1024;

std::uint16_t DrawCode(const FineAxis& axis, Rng& rng);

// The points at which a subset is looked at.
struct SubsetPoints {
  std::vector<std::vector<std::uint16_t>> codes;  // by axis of the set
  std::vector<double> masses;                     // by point, of sum 1
};

SubsetPoints MakeSubsetPoints(const std::vector<FineAxis>& axes,
                              const std::vector<std::size_t>& subset, Rng& rng);

// What the axes of a subset have beyond main effects and pairs.
struct SubsetRest {
  std::vector<double> together;  // by point: of three and more axes
  std::vector<double> beyond;    // by point: of all of them
};

SubsetRest FindSubsetRest(const std::vector<FineAxis>& axes,
                          std::span<const Tree> trees,
                          const std::vector<std::size_t>& subset,
                          const SubsetPoints& points);

// A subset that was asked for, and which terms of both models lie within it.
struct SubsetTerms {
  std::vector<std::size_t> axes;   // rising
  std::vector<std::size_t> pairs;  // of the list of pairs
  std::vector<std::size_t> terms;  // of the model, of three and more axes
  bool is_sought = false;          // level effects looked for such a term
};

std::vector<SubsetTerms> FindSubsetTerms(const LevelEffects& model,
                                         const std::vector<AxisPair>& pairs,
                                         const NamedSubsets& subsets);

// What residuals tell about all terms that did not enter, together.
struct LeftOutEvidence {
  TermEvidence evidence;
  double functions = 0.0;  // that span them; 0: no terms
};

// Takes the set's own term (`own`), or all within it.
LeftOutEvidence LeftOutWithin(const LevelEffects& model,
                              const std::vector<int>& subset, bool own);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_
