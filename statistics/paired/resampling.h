// SPDX-License-Identifier: Apache-2.0
//
// File: resampling.h
//
// The paired bootstrap: units are drawn with replacement, and every run is
// scored on the same draw, so that what an easy draw does to all cancels.
#ifndef FROSTLINE_STATISTICS_PAIRED_RESAMPLING_H_
#define FROSTLINE_STATISTICS_PAIRED_RESAMPLING_H_

#include <cstddef>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "statistics/run_score.h"

namespace frostline::statistics {

inline constexpr std::size_t kMostDraws = 10'000;
inline constexpr std::size_t kFewestDraws = 1'000;

// As many as cost about a second of so many runs of so many examples.
std::size_t DrawsFor(std::size_t runs, std::size_t examples);

// Scores by run, then by draw. After a stop they are of no use. REQUIRES: all
// have the same units.
std::vector<std::vector<double>> ResampledScores(
    const std::vector<const RunScore*>& runs, std::size_t draws, Rng& rng,
    const std::stop_token& stop);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_RESAMPLING_H_
