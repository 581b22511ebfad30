// SPDX-License-Identifier: Apache-2.0
//
// File: part_counts.h
//
// So many parts are evaluated that no odd one decides, fewer where each takes
// seconds by trials times parameters: no verdict depends on the machine.
#ifndef FROSTLINE_IMPORTANCE_RANKING_PART_COUNTS_H_
#define FROSTLINE_IMPORTANCE_RANKING_PART_COUNTS_H_

#include <cstddef>

namespace frostline::importance {

struct PartCounts {
  int points = 20;    // beginnings, and all trials
  int halvings = 10;  // of two halves each
  int trees = 64;     // of an evaluator that grows them
};

inline constexpr PartCounts kUsualParts;
// Some still lie before the last fifth, and a half may disagree.
inline constexpr PartCounts kLeastParts{5, 5, 16};

// Returns `wanted`, or what is not too much work, down to kLeastParts.
PartCounts BoundParts(std::size_t trials, std::size_t parameters,
                      const PartCounts& wanted);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_PART_COUNTS_H_
