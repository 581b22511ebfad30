// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/ped_evaluator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/statistics.h"
#include "base/rng.h"
#include "importance/measure/parallel.h"
#include "importance/ped/ped_anova.h"
#include "importance/report.h"

namespace frostline::importance {
namespace {

constexpr int kPedShuffles = 16;
constexpr std::size_t kPedFewGood = 5;

// Streams of one seed, far apart.
constexpr std::uint64_t kPedDrawStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kPedShuffleStream = std::uint64_t{2} << 32;

absl::Status CheckQuantiles(const EvaluateOptions& options) {
  const double target = options.ped_anova.target_quantile;
  // Not "x <= 0 || x >= 1", which NaN would pass.
  if (!(target > 0.0 && target < 1.0)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("target_quantile is ", target),
                     "give a share of the trials, above 0 and below 1",
                     "options.ped_anova.target_quantile");
  }
  if (options.top_quantile > target) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("the best ", target,
                                " of the trials are to be set beside the best ",
                                options.top_quantile),
                   "give a top_quantile above target_quantile",
                   "options.top_quantile");
}

absl::Status CheckSets(const CountedTrials& region, const CountedTrials& good) {
  if (region.size() < kMinTrials) {
    return MakeError(ErrorId::kTrialsTooFew,
                     absl::StrCat(region.size(),
                                  " trials are in the region, "
                                  "at least ",
                                  kMinTrials, " are needed"),
                     "wait for more trials, or give a larger top_quantile");
  }
  if (good.size() < region.size()) return absl::OkStatus();
  return MakeError(ErrorId::kTargetConstant,
                   absl::StrCat("all ", region.size(),
                                " trials are as good as the best: too many "
                                "have the same value"),
                   "explain another metric, or search a space in which the "
                   "value changes",
                   "options.target");
}

CountedTrials DrawTrials(std::size_t count, Rng& rng) {
  std::vector<std::uint32_t> times(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    ++times[static_cast<std::size_t>(rng.Below(count))];
  }
  CountedTrials drawn;
  for (std::uint32_t t = 0; t < count; ++t) {
    if (times[t] > 0) drawn.emplace_back(t, times[t]);
  }
  return drawn;
}

// For each parameter the largest importance it has when other trials of the
// region, as many, are called good.
std::vector<double> ChanceImportances(const std::vector<PedAxis>& axes,
                                      CountedTrials region, std::size_t good,
                                      const EvaluateOptions& options) {
  const CountedTrials all = region;
  std::vector<CountedTrials> draws;
  draws.reserve(kPedShuffles);
  for (std::uint64_t s = 0; s < kPedShuffles; ++s) {
    Rng rng(options.seed, kPedShuffleStream + s);
    for (std::size_t i = 0; i < good; ++i) {
      const auto other =
          i + static_cast<std::size_t>(rng.Below(region.size() - i));
      std::swap(region[i], region[other]);
    }
    draws.emplace_back(region.begin(),
                       region.begin() + static_cast<std::ptrdiff_t>(good));
  }
  std::vector<double> most(axes.size(), 0.0);
  ParallelFor(
      options.threads, axes.size(),
      [&](std::size_t i) {
        const std::vector<double> chance = axes[i].Importances(all, draws);
        most[i] = *std::max_element(chance.begin(), chance.end());
      },
      options.stop);
  return most;
}

std::vector<ReportWarning> WarnOfFewGood(std::size_t good) {
  if (good >= kPedFewGood) return {};
  return {
      {"FEW_GOOD_TRIALS",
       absl::StrCat("Only ", good, " trials count as good; with fewer than ",
                    kPedFewGood, " the answer is mostly chance."),
       {}}};
}

// The axes of all trials, and which of them are compared.
struct Gaps {
  std::vector<PedAxis> axes;
  CountedTrials region;
  CountedTrials good;
};

PlainShares FindShares(const Gaps& all, const std::vector<double>& losses,
                       const EvaluateOptions& options) {
  const PedAnovaOptions& how = options.ped_anova;
  const std::vector<double> found =
      PedImportances(all.axes, all.region, all.good);
  PlainShares shares;
  shares.shares = Normalized(found);
  shares.replicates.resize(static_cast<std::size_t>(options.bootstraps));
  ParallelFor(
      options.threads, shares.replicates.size(),
      [&](std::size_t b) {
        Rng rng(options.seed, kPedDrawStream + b);
        const CountedTrials drawn = DrawTrials(losses.size(), rng);
        shares.replicates[b] = Normalized(PedImportances(
            all.axes, BestTrials(losses, options.top_quantile, how, drawn),
            BestTrials(losses, how.target_quantile, how, drawn)));
      },
      options.stop);
  const double sum = std::accumulate(found.begin(), found.end(), 0.0);
  shares.chance =
      ChanceImportances(all.axes, all.region, all.good.size(), options);
  for (double& chance : shares.chance) chance /= sum > 0.0 ? sum : 1.0;
  return shares;
}

void AddDirections(const Gaps& all, Report& report) {
  for (std::size_t i = 0; i < all.axes.size(); ++i) {
    const std::vector<double> preference =
        all.axes[i].Preference(all.region, all.good);
    if (preference.empty()) continue;
    std::vector<double> order(preference.size());
    std::iota(order.begin(), order.end(), 0.0);
    report.parameters[i].direction = RankCorrelation(order, preference);
  }
}

std::vector<int> PartialAxes(const std::vector<PedAxis>& axes) {
  std::vector<int> partial;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].is_partial()) partial.push_back(static_cast<int>(i));
  }
  return partial;
}

}  // namespace

absl::StatusOr<Report> EvaluatePedAnova(const Space& space,
                                        const Selection& selection,
                                        const EvaluateOptions& options) {
  RETURN_IF_ERROR(CheckQuantiles(options));
  const PedAnovaOptions& how = options.ped_anova;
  const std::vector<double>& losses = selection.losses;
  CountedTrials trials;
  trials.reserve(losses.size());
  for (std::uint32_t t = 0; t < losses.size(); ++t) trials.emplace_back(t, 1);
  Gaps all;
  all.region = BestTrials(losses, options.top_quantile, how, trials);
  all.good = BestTrials(losses, how.target_quantile, how, trials);
  RETURN_IF_ERROR(CheckSets(all.region, all.good));
  all.axes = MakePedAxes(space, selection.points, how, options.threads);
  RETURN_IF_ERROR(CheckStop(options.stop));
  const PlainShares shares = FindShares(all, losses, options);
  RETURN_IF_ERROR(CheckStop(options.stop));
  Report report = MakePlainReport(shares);
  AddDirections(all, report);
  report.trials_used = static_cast<std::int64_t>(all.region.size());
  report.trials_left_out =
      selection.left_out +
      static_cast<std::int64_t>(trials.size() - all.region.size());
  report.warnings = WarnOfFewGood(all.good.size());
  if (!how.conditional) {
    for (ReportWarning& warning : WarnOfLeftOut(PartialAxes(all.axes))) {
      report.warnings.push_back(std::move(warning));
    }
  }
  return report;
}

}  // namespace frostline::importance
