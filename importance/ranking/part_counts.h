// SPDX-License-Identifier: Apache-2.0
//
// File: part_counts.h
//
// How many parts of a study are evaluated for its verdict. Usually so many that
// one odd part decides nothing; of thousands of trials of hundreds of
// parameters each takes seconds, and there are fewer. Counted in trials times
// parameters, never in time: the verdict is the same on any machine.
#ifndef FROSTLINE_IMPORTANCE_RANKING_PART_COUNTS_H_
#define FROSTLINE_IMPORTANCE_RANKING_PART_COUNTS_H_

#include <cstddef>

namespace frostline::importance {

struct PartCounts {
  int points = 20;    // beginnings, with that of all trials
  int halvings = 10;  // of two halves each
  int trees = 64;     // of an evaluator that grows them
};

inline constexpr PartCounts kUsualParts;
// So few still have a place before the last fifth of the study, and halves of
// which one may disagree.
inline constexpr PartCounts kLeastParts{5, 5, 16};

// `wanted`, unless that is too much work; but no fewer than kLeastParts, or
// than `wanted`.
PartCounts BoundParts(std::size_t trials, std::size_t parameters,
                      const PartCounts& wanted);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_PART_COUNTS_H_
