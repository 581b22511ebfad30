// SPDX-License-Identifier: Apache-2.0
//
// File: named_subsets.h
//
// Sets of parameters that a caller names: what they explain, and which of them
// are answered.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_NAMED_SUBSETS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_NAMED_SUBSETS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"

namespace frostline::importance {

// Indices of parameters in the space, in any order.
using NamedSubsets = std::vector<std::vector<int>>;

inline constexpr std::size_t kMaxSubset = 8;    // parameters in one
inline constexpr std::size_t kMaxSubsets = 64;  // in one report

// What one set explains: variances of the target, or shares of its variance;
// the function that returns it says which.
struct SubsetShare {
  double together = 0.0;  // Var E[f | x_S]: with all effects within S
  // The effect that has all of S and is in no smaller set: `together` less the
  // effects of all of its subsets (Hutter et al., 2014, eq. 7).
  double beyond = 0.0;
};

// REQUEST_INVALID at options.subsets[…] for an empty set, an unknown parameter,
// one that is named twice, more than kMaxSubset of them; at options.subsets for
// more than kMaxSubsets.
absl::Status CheckSubsets(const NamedSubsets& subsets, std::size_t parameters);

// A set of one is a main effect; each parameter of a larger one costs about
// `work` steps. REQUEST_INVALID at options.subsets where all of them would hold
// up a machine for minutes.
absl::Status CheckSubsetWork(const NamedSubsets& subsets, double work);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_NAMED_SUBSETS_H_
