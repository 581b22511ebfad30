// SPDX-License-Identifier: Apache-2.0
//
// File: subsets.h
//
// With other axes averaged out, a leaf of value v and mass m is worth v · m ·
// product of (1 + r_s) at a point, r_s = 1[x_s in its side] / (mass of the
// side) - 1; each term of the product is a subset's effect.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"

namespace frostline::importance {

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

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SUBSETS_H_
