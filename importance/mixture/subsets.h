// SPDX-License-Identifier: Apache-2.0
//
// File: subsets.h
//
// Finds what sets of parameters explain beyond their parts.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "importance/effects/level_effects.h"
#include "importance/forest/forest.h"
#include "importance/measure/evaluate_options.h"
#include "importance/mixture/tree_effects.h"

namespace frostline::importance {

// With other axes averaged out, a leaf of value v and mass m is worth v · m ·
// product of (1 + r_s) at a point, r_s = 1[x_s in its side] / (mass of the
// side) - 1; each term of the product is a subset's effect.

// So many combinations are all looked at; of more, kDrawnPoints are drawn.
inline constexpr std::size_t kMostCombinations = 4096;
inline constexpr std::size_t kDrawnPoints = 1024;

std::uint16_t DrawCode(const FineAxis& axis, Rng& rng);

struct SubsetPoints {
  std::vector<std::vector<std::uint16_t>> codes;  // by axis of the set
  std::vector<double> masses;                     // by point, of sum 1
};

SubsetPoints MakeSubsetPoints(const std::vector<FineAxis>& axes,
                              const std::vector<std::size_t>& subset, Rng& rng);

struct SubsetRest {
  std::vector<double> together;  // by point: of three and more axes
  std::vector<double> beyond;    // by point: of all of them
};

SubsetRest FindSubsetRest(const std::vector<FineAxis>& axes,
                          std::span<const Tree> trees,
                          const std::vector<std::size_t>& subset,
                          const SubsetPoints& points);

struct AskedSubset {
  std::vector<std::size_t> axes;   // rising
  std::vector<std::size_t> pairs;  // of the list of pairs
  std::vector<std::size_t> terms;  // of the model, of three and more axes
  bool is_sought = false;          // level effects looked for such a term
};

std::vector<AskedSubset> FindAsked(const LevelEffects& model,
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
