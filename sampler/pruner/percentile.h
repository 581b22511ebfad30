// SPDX-License-Identifier: Apache-2.0
//
// File: percentile.h
//
// Stops a trial whose best value so far is worse than a percentile of the
// others' at the same step.
#ifndef FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
#define FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sampler/pruner/pruner.h"
#include "sampler/sampler.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

// Returns the lowest loss among `best` and the values from `begin` to `end`.
// NaN is passed over: it is the answer when there is nothing else.
double BestLoss(const Objective& objective, const Observation& trial,
                std::size_t begin, std::size_t end, double best);

// The best loss that each running trial has reported so far. It is carried on
// from report to report, so that a judgement does not read the whole curve
// again. Each pruner that needs it owns one.
class BestSoFar {
 public:
  explicit BestSoFar(Objective objective) : objective_(std::move(objective)) {}

  // Returns the best loss of the trial's first `count` values. It costs O(what
  // came since the last time). REQUIRES: the running trial is of `history` and
  // has `count` values.
  double Of(const History& history, const Observation& trial,
            std::size_t count);

 private:
  // What has ended, or begun again, is forgotten.
  void CatchUp(const History& history);

  struct Best {
    std::uint32_t curves_before = 0;
    std::size_t count = 0;
    double loss = std::numeric_limits<double>::quiet_NaN();
  };
  Objective objective_;
  std::int64_t revision_ = 0;
  std::unordered_map<std::int64_t, Best> trials_;  // by number
};

// One percentile of numbers as they come. Two heaps meet at its place: the low
// one has every number up to there, so both neighbours are on top.
//
//   25 % of .2 .4 .6 .8 is at place .75, between .2 and .4: .35
class RunningPercentile {
 public:
  // REQUIRES: 0 <= percentile <= 100.
  explicit RunningPercentile(double percentile) : percentile_(percentile) {}

  // Takes O(log n). REQUIRES: it is not NaN.
  void Add(double value);
  std::size_t count() const { return low_.size() + high_.size(); }
  // It is interpolated in a straight line, in O(1). REQUIRES: there are values.
  double Value() const;

 private:
  double Place() const {
    return static_cast<double>(count() - 1) * (percentile_ / 100.0);
  }

  double percentile_;
  std::vector<double> low_;   // a heap, the largest on top
  std::vector<double> high_;  // a heap, the smallest on top
};

// One percentile of what succeeded trials reported, for each step. It reads the
// history's changes: each value is taken in once, when its trial succeeds.
class StepPercentiles {
 public:
  // Steps before `first_step` are left out.
  StepPercentiles(double percentile, std::int64_t first_step)
      : percentile_(percentile), first_step_(first_step) {}

  // Takes O(log trials) for each value that is new. All are read again only
  // when a trial that had succeeded becomes another one.
  void CatchUp(const History& history);

  std::int64_t succeeded() const { return succeeded_; }
  struct Step {
    std::int64_t reported = 0;  // trials, also those with NaN
    RunningPercentile values;
  };
  // Returns nullptr if no trial has reported.
  const Step* Find(std::int64_t step) const;
  // Counts the values that were ever looked at.
  std::int64_t values_read() const { return values_read_; }

 private:
  struct Taken {
    bool is_counted = false;
    std::uint32_t curves_before = 0;
    std::size_t values = 0;
  };
  // Returns false when what was taken of the trial is void.
  bool Take(const History& history, std::size_t index);
  void Forget();
  void ReadAll(const History& history);

  double percentile_;
  std::int64_t first_step_;
  std::int64_t revision_ = 0;
  std::int64_t succeeded_ = 0;
  std::int64_t values_read_ = 0;
  std::vector<Taken> taken_;  // as History::trials()
  std::unordered_map<std::int64_t, Step> steps_;
};

// Options of the percentile pruner. As in Optuna, a trial stops if its best
// value so far is worse than the percentile of what succeeded trials reported
// at the same step. (Golovin et al., KDD 2017, section 3.2.2, take running
// averages.)
//
//   percentile 25 and losses .2 .4 .6 .8 at step 3: stops above .35

struct PercentileOptions {
  double percentile = 50.0;
  std::int64_t startup_trials = 5;
  std::int64_t warmup_steps = 0;
  std::int64_t interval = 1;
  std::int64_t min_trials = 1;
};

// Reads all but the percentile.
PercentileOptions ReadPercentileOptions(OptionReader& reader);

// `name` is what reasons call the percentile.
std::unique_ptr<Pruner> MakePercentileRule(const PercentileOptions& options,
                                           std::string name,
                                           const Objective& objective);

// Stops a trial by percentile.h, or when it has reported nothing but NaN.
absl::StatusOr<std::unique_ptr<Pruner>> MakePercentilePruner(
    const PrunerSpec& spec, const Objective& objective);

// The median is percentile.h at 50 (Golovin et al., 2017).
absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
