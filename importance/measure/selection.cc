// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/selection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/statistics.h"
#include "importance/measure/evaluate_options.h"
#include "study/space.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kBlock = 512;  // trials that one thread takes at a time

}  // namespace

std::vector<const Observation*> EndedTrials(const History& history) {
  std::vector<const Observation*> trials;
  trials.reserve(history.trials().size());
  for (const Observation& trial : history.trials()) {
    if (IsTerminal(trial.state)) trials.push_back(&trial);
  }
  const auto is_before = [](const Observation* a, const Observation* b) {
    return a->number < b->number;
  };
  // Most histories are in order as they are.
  if (!std::is_sorted(trials.begin(), trials.end(), is_before)) {
    std::sort(trials.begin(), trials.end(), is_before);
  }
  return trials;
}

std::vector<std::uint8_t> AreUsable(
    const Space& space, const std::vector<Objective>& objectives,
    const std::vector<const Observation*>& trials,
    const EvaluateOptions& options, const MetricColumns& columns) {
  std::vector<std::uint8_t> usable(trials.size(), 0);
  const std::size_t blocks = (trials.size() + kBlock - 1) / kBlock;
  ParallelFor(options.threads, blocks, [&](std::size_t block) {
    const std::size_t end = std::min(trials.size(), (block + 1) * kBlock);
    for (std::size_t i = block * kBlock; i < end; ++i) {
      const Observation& trial = *trials[i];
      const bool is_usable = trial.state == TrialState::kSucceeded &&
                             trial.values.size() == objectives.size() &&
                             std::isfinite(trial.values[columns.target]) &&
                             (options.top_quantile >= 1.0 ||
                              std::isfinite(trial.values[columns.best_by])) &&
                             space.Check(trial.point).ok();
      usable[i] = is_usable ? 1 : 0;
    }
  });
  return usable;
}

namespace {

// Leaves one of the runs that have a seed and a loss in common.
void DropReruns(const std::vector<double>& losses,
                const std::vector<std::uint64_t>& seeds,
                std::vector<std::size_t>& group) {
  if (seeds.empty()) return;
  std::set<std::pair<std::uint64_t, double>> seen;
  std::erase_if(group, [&](std::size_t i) {
    return seeds[i] != 0 && !seen.emplace(seeds[i], losses[i]).second;
  });
}

// Squared distances from the mean of some losses, and how many are free.
void AddSpread(const std::vector<double>& losses,
               const std::vector<std::size_t>& group, double& squares,
               double& freedom) {
  const auto n = static_cast<double>(group.size());
  double mean = 0.0;
  for (const std::size_t i : group) mean += losses[i] / n;
  for (const std::size_t i : group) {
    squares += (losses[i] - mean) * (losses[i] - mean);
  }
  freedom += n - 1.0;
}

}  // namespace

RepeatNoise NoiseAtEqualPoints(const std::vector<const Point*>& points,
                               const std::vector<double>& losses,
                               const std::vector<std::uint64_t>& seeds) {
  // Equal points have equal hashes and so come one after the other.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  order.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    order.emplace_back(HashPoint(*points[i]), i);
  }
  std::sort(order.begin(), order.end());
  double squares = 0.0, freedom = 0.0;
  std::vector<std::size_t> open, group, others;
  for (std::size_t i = 0; i < order.size();) {
    const std::uint64_t hash = order[i].first;
    open.clear();
    for (; i < order.size() && order[i].first == hash; ++i) {
      open.push_back(order[i].second);
    }
    // More than one round only when different points have one hash.
    while (open.size() > 1) {
      group.clear();
      others.clear();
      for (const std::size_t k : open) {
        const bool same = SamePoint(*points[k], *points[open.front()]);
        (same ? group : others).push_back(k);
      }
      DropReruns(losses, seeds, group);
      AddSpread(losses, group, squares, freedom);
      open.swap(others);
    }
  }
  return {.variance = freedom > 0.0 ? squares / freedom
                                    : std::numeric_limits<double>::quiet_NaN(),
          .freedom = freedom};
}

namespace {

// Where `metric` is among the objectives; `other` when it is not named.
absl::StatusOr<std::size_t> FindObjective(
    const std::vector<Objective>& objectives, const std::string& metric,
    std::size_t other, const std::string& field) {
  if (metric.empty() && other < objectives.size()) return other;
  std::vector<std::string> metrics;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].metric == metric) return i;
    metrics.push_back(objectives[i].metric);
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("no objective measures \"", metric, "\""),
                   absl::StrCat("name one of: ", absl::StrJoin(metrics, ", ")),
                   field);
}

absl::StatusOr<MetricColumns> FindMetrics(
    const std::vector<Objective>& objectives, const EvaluateOptions& options) {
  MetricColumns columns;
  ASSIGN_OR_RETURN(columns.target, FindObjective(objectives, options.target, 0,
                                                 "options.target"));
  ASSIGN_OR_RETURN(columns.best_by,
                   FindObjective(objectives, options.best_by, columns.target,
                                 "options.best_by"));
  return columns;
}

// Leaves out the trials whose place `is_out` names.
template <typename IsOut>
void LeaveOut(Selection& selection, const IsOut& is_out) {
  const std::size_t n = selection.trials.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_out(i)) continue;
    selection.trials[next] = selection.trials[i];
    selection.points[next] = selection.points[i];
    selection.losses[next++] = selection.losses[i];
  }
  selection.trials.resize(next);
  selection.points.resize(next);
  selection.losses.resize(next);
  selection.left_out += static_cast<std::int64_t>(n - next);
}

void KeepBest(double top_quantile, const Objective& objective,
              std::size_t best_by, Selection& selection) {
  const std::size_t n = selection.trials.size();
  const auto kept = static_cast<std::size_t>(
      std::ceil(top_quantile * static_cast<double>(n)));
  if (kept >= n || kept == 0) return;
  std::vector<double> standing;
  standing.reserve(n);
  for (const Observation* const trial : selection.trials) {
    standing.push_back(AsLoss(objective, trial->values[best_by]));
  }
  std::vector<double> sorted = standing;
  std::sort(sorted.begin(), sorted.end());
  LeaveOut(selection,
           [&](std::size_t i) { return standing[i] > sorted[kept - 1]; });
}

absl::Status CheckUsable(const Selection& selection) {
  if (selection.losses.size() < kMinTrials) {
    return MakeError(
        ErrorId::kTrialsTooFew,
        absl::StrCat(selection.losses.size(), " finished trials can be used (",
                     selection.left_out,
                     " others ended without a value, off its scale, out "
                     "of the space or outside the quantile), at least ",
                     kMinTrials, " are needed"),
        "wait for more trials, or give a study a larger budget");
  }
  const auto [lowest, highest] =
      std::minmax_element(selection.losses.begin(), selection.losses.end());
  // Halved, as the data set does it: what rounds to nothing is constant.
  if (*highest / 2.0 - *lowest / 2.0 > 0.0) return absl::OkStatus();
  return MakeError(ErrorId::kTargetConstant,
                   absl::StrCat("all ", selection.losses.size(),
                                " trials have the same value"),
                   "explain another metric, or search a space in which the "
                   "value changes",
                   "options.target");
}

void SetOffScaleAside(Selection& selection) {
  const std::vector<ValueScale> scales =
      FindOffScale(*selection.target, selection.losses);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == ValueScale::kOn) continue;
    const OffScaleTrial off = {selection.trials[i],
                               AsLoss(*selection.target, selection.losses[i])};
    if (scales[i] == ValueScale::kOffBetter) {
      selection.off_better.push_back(off);
    } else {
      selection.off_worse.push_back(off);
      selection.diverged.push_back(off.trial);
    }
  }
  LeaveOut(selection,
           [&](std::size_t i) { return scales[i] != ValueScale::kOn; });
}

Selection FindUsable(const Space& space,
                     const std::vector<Objective>& objectives,
                     const History& history, const EvaluateOptions& options,
                     const MetricColumns& columns) {
  Selection selection;
  selection.target = &objectives[columns.target];
  const std::vector<const Observation*> trials = EndedTrials(history);
  const std::vector<std::uint8_t> usable =
      AreUsable(space, objectives, trials, options, columns);
  selection.trials.reserve(trials.size());
  selection.points.reserve(trials.size());
  selection.losses.reserve(trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (usable[i] == 0) {
      ++selection.left_out;
      if (trials[i]->state == TrialState::kInfeasible &&
          space.Check(trials[i]->point).ok()) {
        selection.diverged.push_back(trials[i]);
      }
      continue;
    }
    selection.trials.push_back(trials[i]);
    selection.points.push_back(&trials[i]->point);
    selection.losses.push_back(
        AsLoss(*selection.target, trials[i]->values[columns.target]));
  }
  SetOffScaleAside(selection);
  return selection;
}

}  // namespace

absl::Status CheckTopQuantile(double top_quantile) {
  // Not "x <= 0 || x > 1", which NaN would pass.
  if (top_quantile > 0.0 && top_quantile <= 1.0) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("top_quantile is ", top_quantile),
                   "give a share of the trials, above 0 and at most 1",
                   "options.top_quantile");
}

absl::StatusOr<Selection> FindUsableTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options) {
  ASSIGN_OR_RETURN(const MetricColumns columns,
                   FindMetrics(objectives, options));
  return FindUsable(space, objectives, history, options, columns);
}

absl::StatusOr<Selection> SelectTrials(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options) {
  ASSIGN_OR_RETURN(const MetricColumns columns,
                   FindMetrics(objectives, options));
  Selection selection =
      FindUsable(space, objectives, history, options, columns);
  if (options.top_quantile < 1.0) selection.diverged.clear();
  KeepBest(options.top_quantile, objectives[columns.best_by], columns.best_by,
           selection);
  RETURN_IF_ERROR(CheckUsable(selection));
  return selection;
}

RepeatNoise NoiseOfRepeats(const Selection& selection) {
  std::vector<std::uint64_t> seeds;
  seeds.reserve(selection.trials.size());
  for (const Observation* const trial : selection.trials) {
    seeds.push_back(trial->seed);
  }
  return NoiseAtEqualPoints(selection.points, selection.losses, seeds);
}

double NoiseVariance(const Selection& selection) {
  return NoiseOfRepeats(selection).variance;
}

statistics::SeedLuck FindSharedLuck(const Selection& selection) {
  PointPlaces places;
  std::vector<statistics::PointRun> runs;
  runs.reserve(selection.trials.size());
  for (std::size_t row = 0; row < selection.trials.size(); ++row) {
    runs.push_back({places.PlaceOf(*selection.points[row]),
                    selection.trials[row]->seed, selection.losses[row]});
  }
  return statistics::FindSeedLuck(places.size(), runs);
}

void TakeOff(const statistics::SeedLuck& luck, Selection& selection) {
  for (std::size_t row = 0; row < selection.losses.size(); ++row) {
    selection.losses[row] -= luck.of_run[row];
  }
}

double DrawLuck(const statistics::SeedLuck& luck, double runs, Rng& rng) {
  if (luck.variance == 0.0) return 0.0;
  const double freedom = static_cast<double>(luck.seeds);
  double squares = 0.0;
  for (std::size_t s = 0; s < luck.seeds; ++s) {
    const double z = rng.Normal();
    squares += z * z;
  }
  const double deviation =
      std::sqrt(luck.variance * (1.0 / runs + 1.0 / freedom));
  return deviation * rng.Normal() / std::sqrt(squares / freedom);
}

}  // namespace frostline::importance
