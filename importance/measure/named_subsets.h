// SPDX-License-Identifier: Apache-2.0
//
// File: named_subsets.h
#ifndef FROSTLINE_IMPORTANCE_MEASURE_NAMED_SUBSETS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_NAMED_SUBSETS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"

namespace frostline::importance {

using NamedSubsets = std::vector<std::vector<int>>;  // in any order

inline constexpr std::size_t kMaxSubset = 8;    // parameters in one
inline constexpr std::size_t kMaxSubsets = 64;  // in one report

// Variances or shares stand here, as who returns them says.
struct SubsetShare {
  double together = 0.0;  // Var E[f | x_S]: all effects within S
  // All of S has this alone: `together` less effects of all subsets (Hutter et
  // al., 2014, eq. 7).
  double beyond = 0.0;
};

// Answers REQUEST_INVALID at options.subsets[…] for an empty set, one above
// kMaxSubset, an unknown parameter or one named twice; at options.subsets above
// kMaxSubsets.
absl::Status CheckSubsets(const NamedSubsets& subsets, std::size_t parameters);

// Counts about `work` steps for each parameter of a larger set than one.
// Answers REQUEST_INVALID where all would take minutes.
absl::Status CheckSubsetWork(const NamedSubsets& subsets, double work);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_NAMED_SUBSETS_H_
