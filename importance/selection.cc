// SPDX-License-Identifier: Apache-2.0
#include "importance/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

absl::StatusOr<std::size_t> FindTarget(const std::vector<Objective>& objectives,
                                       const std::string& target) {
  if (target.empty()) return std::size_t{0};
  std::vector<std::string> metrics;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].metric == target) return i;
    metrics.push_back(objectives[i].metric);
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("no objective measures \"", target, "\""),
                   absl::StrCat("name one of: ", absl::StrJoin(metrics, ", ")),
                   "options.target");
}

void KeepBest(double top_quantile, Selection& selection) {
  const std::size_t n = selection.losses.size();
  const auto kept = static_cast<std::size_t>(
      std::ceil(top_quantile * static_cast<double>(n)));
  if (kept >= n || kept == 0) return;
  std::vector<double> sorted = selection.losses;
  std::sort(sorted.begin(), sorted.end());
  const double worst = sorted[kept - 1];
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (selection.losses[i] > worst) continue;
    selection.points[next] = selection.points[i];
    selection.losses[next++] = selection.losses[i];
  }
  selection.points.resize(next);
  selection.losses.resize(next);
  selection.left_out += static_cast<std::int64_t>(n - next);
}

absl::Status CheckUsable(const Selection& selection) {
  if (selection.losses.size() < kMinTrials) {
    return MakeError(
        ErrorId::kTrialsTooFew,
        absl::StrCat(selection.losses.size(), " finished trials can be used (",
                     selection.left_out,
                     " others ended without a value, out "
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

absl::StatusOr<Selection> SelectTrials(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options) {
  ASSIGN_OR_RETURN(const std::size_t target,
                   FindTarget(objectives, options.target));
  std::vector<const Observation*> trials;
  for (const Observation& trial : history.trials()) {
    if (IsTerminal(trial.state)) trials.push_back(&trial);
  }
  // The order in which trials were seen is no property of the study.
  std::sort(trials.begin(), trials.end(),
            [](const Observation* a, const Observation* b) {
              return a->number < b->number;
            });
  Selection selection;
  for (const Observation* const trial : trials) {
    const bool usable = trial->state == TrialState::kSucceeded &&
                        trial->values.size() == objectives.size() &&
                        std::isfinite(trial->values[target]) &&
                        space.Check(trial->point).ok();
    if (usable) {
      selection.points.push_back(&trial->point);
      selection.losses.push_back(
          AsLoss(objectives[target], trial->values[target]));
    } else {
      ++selection.left_out;
    }
  }
  KeepBest(options.top_quantile, selection);
  RETURN_IF_ERROR(CheckUsable(selection));
  return selection;
}

double NoiseVariance(const Selection& selection) {
  // Equal points have equal hashes and so come one after the other.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  order.reserve(selection.points.size());
  for (std::size_t i = 0; i < selection.points.size(); ++i) {
    order.emplace_back(HashPoint(*selection.points[i]), i);
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
        const bool same =
            SamePoint(*selection.points[k], *selection.points[open.front()]);
        (same ? group : others).push_back(k);
      }
      AddSpread(selection.losses, group, squares, freedom);
      open.swap(others);
    }
  }
  return freedom > 0.0 ? squares / freedom
                       : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace frostline
