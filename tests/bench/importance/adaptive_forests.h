// SPDX-License-Identifier: Apache-2.0
//
// File: adaptive_forests.h
//
// What could be done about trials that a sampler chose, to be measured beside
// what importance does: forests in which trials count by how seldom their like
// was tried, and trees whose leaves are filled by trials that had no say in the
// splits (Wager and Athey, "Estimation and Inference of
// Heterogeneous Treatment Effects using Random Forests", 2018, procedure 1).
#ifndef FROSTLINE_TESTS_BENCH_IMPORTANCE_ADAPTIVE_FORESTS_H_
#define FROSTLINE_TESTS_BENCH_IMPORTANCE_ADAPTIVE_FORESTS_H_

#include <cstdint>
#include <vector>

#include "importance/measure/dataset.h"
#include "study/history.h"
#include "study/space.h"

namespace frostline::bench {

// Returns the data of trials whose levels are counted; their one target is
// maximised.
importance::Dataset DatasetOf(const Space& space, const History& history);

// Density of the space by that of the trials, by trial, on average 1. Of the
// trials it is a product over axes of how often each level was tried, half a
// trial added to each; no weight is above ten times the median.
std::vector<double> SamplingWeights(const importance::Dataset& data);

// (Σw)² / Σw²: how many trials of equal weight tell as much (Kish, "Survey
// Sampling", 1965, §11.7).
double EffectiveTrials(const std::vector<double>& weights);

struct ForestKind {
  bool weighted = false;
  bool honest = false;
};

// By axis, as the evaluator `forest` has them: 64 trees; equal to its own
// where the forest is of neither kind.
std::vector<double> ForestMain(const importance::Dataset& data,
                               const ForestKind& kind, std::uint64_t seed);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_IMPORTANCE_ADAPTIVE_FORESTS_H_
