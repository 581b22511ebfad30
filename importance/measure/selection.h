// SPDX-License-Identifier: Apache-2.0
//
// File: selection.h
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/rng.h"
#include "importance/measure/evaluate_options.h"
#include "statistics/seed_luck.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

struct MetricColumns {
  std::size_t target = 0;
  std::size_t best_by = 0;
};

// Sorts by number, since the order of arrival is no property of the study.
// Points into the history.
std::vector<const Observation*> EndedTrials(const History& history);

// Returns 1 for a trial that succeeded, in the space, with the numbers that
// `options` ask for; else 0.
std::vector<std::uint8_t> AreUsable(
    const Space& space, const std::vector<Objective>& objectives,
    const std::vector<const Observation*>& trials,
    const EvaluateOptions& options, const MetricColumns& columns);

// Repeated trials tell of the noise, whatever the model, pooled over points p:
//
//   variance = sum over p, i of (loss_pi - mean_p)^2 / sum over p of (n_p - 1)
//
//   two runs of one point at 0.80 and 0.82: variance 0.0002, freedom 1

struct RepeatNoise {
  double variance;  // of one trial; NaN: none was repeated
  double freedom;   // runs beyond the first of each point
};

// Counts runs of one point that share seed and loss once: a program that
// repeats itself tells nothing; a seed of 0 is unknown. REQUIRES: there are as
// many losses as points, and as many seeds, or none.
RepeatNoise NoiseAtEqualPoints(const std::vector<const Point*>& points,
                               const std::vector<double>& losses,
                               const std::vector<std::uint64_t>& seeds = {});

// A trial whose value is off the scale (study/objective.h).
struct OffScaleTrial {
  const Observation* trial;
  double value;  // of the target
};

// The trials that an evaluation uses. Points into its history and objectives.
struct Selection {
  std::vector<const Observation*> trials;  // by number
  std::vector<const Point*> points;        // in the same order
  std::vector<double> losses;              // lower is better
  std::int64_t left_out = 0;               // others that have ended
  // Some of those left out could not be trained at a point of the space, or
  // their value is off the scale for the worse. They say where not to go, but
  // are in no quantile.
  std::vector<const Observation*> diverged;
  std::vector<OffScaleTrial> off_better;  // left out; they tell nothing
  std::vector<OffScaleTrial> off_worse;   // these are diverged, too
  const Objective* target = nullptr;
};

// Fails with REQUEST_INVALID unless it is a share.
absl::Status CheckTopQuantile(double top_quantile);

// Takes trials that succeeded, lie in the space and have a finite target; below
// a top_quantile of 1 the best by best_by (finite too), ties included. Its
// errors are Evaluate's.
absl::StatusOr<Selection> SelectTrials(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options);

// Takes them before the quantile, however few.
absl::StatusOr<Selection> FindUsableTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options);

RepeatNoise NoiseOfRepeats(const Selection& selection);
double NoiseVariance(const Selection& selection);  // NaN: nothing repeated

// What training seeds gave to the trials of a study that shares them
// (statistics/seed_luck.h), and what that leaves open of new seeds. A
// search whose points all ran with a lucky seed promises too much of each, and
// the modules of its leaders, which ran with others, too, look worse than they
// are.

// Returns the luck of losses, by the selection's trials; all 0 where no seeds
// are shared, or too few points ran with several.
statistics::SeedLuck FindSharedLuck(const Selection& selection);

// Its losses become what they were with seeds that are neither lucky nor not.
void TakeOff(const statistics::SeedLuck& luck, Selection& selection);

// Draws what the mean of `runs` runs with new seeds gets beside the mean of the
// seeds that were seen:
//
//   variance = variance of luck * (1 / runs + 1 / seeds)
//
// Student's, with the seeds as degrees of freedom: few tell little of how far
// others may lie. Takes nothing from `rng` where the variance is 0.
double DrawLuck(const statistics::SeedLuck& luck, double runs, Rng& rng);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_
