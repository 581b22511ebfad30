// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/ped_anova.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/statistics.h"
#include "base/rng.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {
namespace {

// How much the kernel for the unseen weighs beside one trial.
constexpr double kPriorWeight = 1.0;

double DensitySumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The place at which the running sum of counts reaches `sum`, or passes it.
double PlaceAt(const std::vector<double>& counts, double sum, bool passes) {
  double seen = 0.0, place = 0.0;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    if (counts[g] == 0.0) continue;
    seen += counts[g];
    place = static_cast<double>(g);
    if (passes ? seen > sum : seen >= sum) break;
  }
  return place;
}

// What lies further than `distance` to one side of a normal's center.
double TailOf(double distance, double width) {
  return 0.5 * std::erfc(distance / (width * std::numbers::sqrt2));
}

// The prior's kernel: around the middle, as wide as the grid, and cut to it.
void AddPrior(double weight, std::vector<double>& density) {
  const auto size = static_cast<double>(density.size());
  const double whole = 1.0 - 2.0 * TailOf(size / 2.0, size);
  double before = TailOf(size / 2.0, size);
  // The two halves mirror each other.
  for (std::size_t g = 0; g < (density.size() + 1) / 2; ++g) {
    const double at = static_cast<double>(g) + 1.0 - size / 2.0;
    const double up_to = TailOf(-at, size);
    const double share = weight * (up_to - before) / whole;
    density[g] += share;
    const std::size_t mirror = density.size() - 1 - g;
    if (mirror != g) density[mirror] += share;
    before = up_to;
  }
}

}  // namespace

double ScottWidth(const std::vector<double>& counts) {
  const double n = DensitySumOf(counts);
  double mean = 0.0, squares = 0.0;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    mean += counts[g] * static_cast<double>(g) / n;
  }
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const double away = static_cast<double>(g) - mean;
    squares += counts[g] * away * away;
  }
  const double deviation = std::sqrt(squares / std::max(1.0, n - 1.0));
  const double quartiles = PlaceAt(counts, std::floor(n * 3.0 / 4.0), true) -
                           PlaceAt(counts, std::floor(n / 4.0), false);
  const double width =
      1.059 * std::min(quartiles / 1.34, deviation) * std::pow(n, -0.2);
  // Half a step lies within 1.64 deviations: 90 % of the kernel.
  return std::max(width, 0.5 / 1.64);
}

std::vector<double> DensityOnGrid(const std::vector<double>& counts) {
  const double width = ScottWidth(counts);
  const double n = DensitySumOf(counts) + kPriorWeight;
  std::vector<double> density(counts.size(), 0.0);
  AddPrior(kPriorWeight / n, density);
  // All kernels are one, moved: what it has beyond each distance, and between
  // two of them, is found once.
  std::vector<double> tail, mass;
  tail.reserve(density.size() + 1);
  mass.reserve(density.size());
  for (std::size_t away = 0; away <= density.size(); ++away) {
    tail.push_back(TailOf(static_cast<double>(away) - 0.5, width));
    if (away > 0) mass.push_back(tail[away - 1] - tail[away]);
  }
  for (std::size_t center = 0; center < counts.size(); ++center) {
    if (counts[center] == 0.0) continue;
    const double weight =
        counts[center] / n /
        (1.0 - tail[center + 1] - tail[counts.size() - center]);
    for (std::size_t g = 0; g < center; ++g) {
      density[g] += weight * mass[center - g];
    }
    for (std::size_t g = center; g < counts.size(); ++g) {
      density[g] += weight * mass[g - center];
    }
  }
  return density;
}

std::vector<double> DensityOfChoices(const std::vector<double>& counts) {
  const double n = DensitySumOf(counts);
  const auto choices = static_cast<double>(counts.size());
  const double kernels = 1.0 + static_cast<double>(std::count_if(
                                   counts.begin(), counts.end(),
                                   [](double count) { return count > 0.0; }));
  // A seen choice's kernel has one for itself and for each choice a share of
  // the prior's weight.
  const double share = kPriorWeight / kernels;
  const double row = 1.0 + share * choices;
  std::vector<double> density;
  density.reserve(counts.size());
  for (const double count : counts) {
    density.push_back(((count + n * share) / row + kPriorWeight / choices) /
                      (n + kPriorWeight));
  }
  return density;
}

double PearsonDivergence(const std::vector<double>& part,
                         const std::vector<double>& whole) {
  double sum = 0.0;
  for (std::size_t g = 0; g < whole.size(); ++g) {
    const double ratio = part[g] / whole[g] - 1.0;
    sum += whole[g] * ratio * ratio;
  }
  return sum;
}

namespace {

constexpr std::size_t kMostPlaces = 50;

struct Range {
  double low = 0.0;
  double high = 0.0;
  bool log = false;
  std::size_t places = kMostPlaces;
};

std::size_t AtMost(double places) {
  return static_cast<std::size_t>(
      std::clamp(places, 1.0, static_cast<double>(kMostPlaces)));
}

Range PedRangeOf(const FloatRange& domain) {
  Range range{domain.lo, domain.hi, domain.log, kMostPlaces};
  if (domain.step > 0.0) {
    const double values = CountValues(domain);
    range.high = domain.lo + (values - 1.0) * domain.step;
    range.places = AtMost(values);
  }
  return range;
}

Range PedRangeOf(const IntRange& domain) {
  Range range{static_cast<double>(domain.lo), static_cast<double>(domain.hi),
              domain.log, kMostPlaces};
  if (domain.log) {
    const double values = range.high - range.low + 1.0;
    range.places = AtMost(std::ceil(std::log(values) / std::log(2.0)) + 1.0);
  } else {
    const double values = CountValues(domain);
    range.high = range.low + (values - 1.0) * static_cast<double>(domain.step);
    range.places = AtMost(values);
  }
  return range;
}

}  // namespace

PedGrid::PedGrid(const Domain& domain, bool compares_places)
    : compares_places_(compares_places) {
  Range range;
  if (const auto* number = std::get_if<FloatRange>(&domain)) {
    range = PedRangeOf(*number);
  } else if (const auto* integer = std::get_if<IntRange>(&domain)) {
    range = PedRangeOf(*integer);
  } else if (const auto* rate = std::get_if<LogUniform>(&domain)) {
    range = {rate->lo, rate->hi, true, kMostPlaces};
  } else {
    size_ = static_cast<std::size_t>(CountValues(domain));
    return;
  }
  size_ = range.places;
  has_neighbours_ = true;
  log_ = range.log;
  if (size_ < 2) return;
  low_ = log_ ? std::log(range.low) : range.low;
  const double high = log_ ? std::log(range.high) : range.high;
  // Halves, because the range of two finite numbers need not be finite.
  half_step_ = (high / 2.0 - low_ / 2.0) / static_cast<double>(size_ - 1);
  for (std::size_t g = 0; g < size_; ++g) {
    places_.push_back(low_ + static_cast<double>(g) * (2.0 * half_step_));
  }
  places_.back() = high;
}

std::uint16_t PedGrid::PlaceOf(double value) const {
  if (!has_neighbours_) return static_cast<std::uint16_t>(value);
  if (size_ < 2) return 0;
  const double at = log_ ? std::log(value) : value;
  if (compares_places_) {
    const double half = (places_[1] - places_[0]) / 2.0;
    const auto found =
        std::lower_bound(places_.begin(), places_.end() - 1, at - half);
    return static_cast<std::uint16_t>(found - places_.begin());
  }
  const double place = std::clamp((at / 2.0 - low_ / 2.0) / half_step_ - 0.5,
                                  0.0, static_cast<double>(size_ - 1));
  const auto below = static_cast<std::uint16_t>(place);
  return static_cast<std::uint16_t>(below < place ? below + 1 : below);
}

namespace {

// Places after those of the grid.
constexpr std::size_t kFrozenPlace = 0;
constexpr std::size_t kLacking = 1;
constexpr std::ptrdiff_t kOddPlaces = 2;

// Keeps densities apart from zero.
constexpr double kFloor = 1e-12;

constexpr double kFewestTrials = 2.0;

double Square(double x) { return x * x; }

// Returns the share of frozen trials. One more trial is split as the space is,
// since trials cannot tell that a share is exactly 0.
double FrozenShareOf(double frozen, double live) {
  return (frozen + kFrozenMass) / (frozen + live + 1.0);
}

}  // namespace

PedAxis::PedAxis(const Domain& domain, const std::vector<double>& values,
                 const PedAnovaOptions& options)
    : options_(options) {
  const PedGrid grid(domain, !options.conditional);
  places_ = grid.size();
  has_neighbours_ = grid.has_neighbours();
  is_ordered_ = !std::holds_alternative<Categorical>(domain);
  const auto* const rate = std::get_if<LogUniform>(&domain);
  has_frozen_ = rate != nullptr && rate->freeze;
  place_of_trial_.reserve(values.size());
  for (const double value : values) {
    std::size_t place = places_ + kLacking;
    if (IsAbsent(value)) {
      is_partial_ = true;
    } else if (has_frozen_ && value == 0.0) {
      place = places_ + kFrozenPlace;
    } else {
      place = grid.PlaceOf(value);
    }
    place_of_trial_.push_back(static_cast<std::uint16_t>(place));
  }
}

bool PedAxis::Varies(const CountedTrials& trials) const {
  return std::any_of(trials.begin(), trials.end(), [&](const auto& trial) {
    return place_of_trial_[trial.first] !=
           place_of_trial_[trials.front().first];
  });
}

PedAxis::Counts PedAxis::Count(const CountedTrials& trials) const {
  // Whole numbers, and nothing but them in the loop: it is all the work.
  std::vector<std::uint32_t> places(places_ + kOddPlaces, 0);
  for (const auto& [trial, times] : trials) {
    places[place_of_trial_[trial]] += times;
  }
  Counts counts;
  counts.places.assign(places.begin(), places.end() - kOddPlaces);
  for (const double count : counts.places) counts.live += count;
  counts.frozen = places[places_ + kFrozenPlace];
  counts.all = counts.having() + places[places_ + kLacking];
  return counts;
}

std::vector<double> PedAxis::DensityOf(const Counts& counts) const {
  std::vector<double> density;
  if (counts.live == 0.0) {
    density.assign(places_, 1.0 / static_cast<double>(places_));
  } else {
    density = has_neighbours_ ? DensityOnGrid(counts.places)
                              : DensityOfChoices(counts.places);
  }
  for (double& share : density) share += kFloor;
  return density;
}

bool PedAxis::IsMute(const Counts& region) const {
  if (places_ < 2 && !has_frozen_) return true;
  if (region.having() < kFewestTrials) return true;
  return !options_.conditional && (is_partial_ || region.all <= kFewestTrials);
}

double PedAxis::Divergence(const Counts& region,
                           const std::vector<double>& whole,
                           const Counts& good) const {
  const double live = PearsonDivergence(DensityOf(good), whole);
  if (!has_frozen_) return live;
  const double now = FrozenShareOf(good.frozen, good.live);
  const double ever =
      options_.local ? FrozenShareOf(region.frozen, region.live) : kFrozenMass;
  // Divergences of parts add up to that of the mixture.
  return Square(now) / ever + Square(1.0 - now) / (1.0 - ever) * (live + 1.0) -
         1.0;
}

std::vector<double> PedAxis::Importances(
    const CountedTrials& region, const std::vector<CountedTrials>& good) const {
  std::vector<double> importances(good.size(), 0.0);
  const Counts all = Count(region);
  if (IsMute(all)) return importances;
  std::vector<double> whole(places_, 1.0 / static_cast<double>(places_));
  if (options_.local) whole = DensityOf(all);
  for (std::size_t g = 0; g < good.size(); ++g) {
    const Counts best = Count(good[g]);
    if (best.having() == 0.0) continue;
    importances[g] = Square(best.having() / best.all) /
                     (all.having() / all.all) * Divergence(all, whole, best) *
                     Square(best.all / all.all);
  }
  return importances;
}

std::vector<double> PedAxis::Preference(const CountedTrials& region,
                                        const CountedTrials& good) const {
  const Counts all = Count(region);
  const Counts best = Count(good);
  if (!is_ordered_ || places_ < 2 || all.live == 0.0 || best.live == 0.0) {
    return {};
  }
  const std::vector<double> whole = DensityOf(all);
  std::vector<double> ratio = DensityOf(best);
  for (std::size_t g = 0; g < ratio.size(); ++g) ratio[g] /= whole[g];
  return ratio;
}

namespace {

// How many values of a point lie in one line of a processor's memory, and are
// read together.
constexpr std::size_t kNeighbours = 8;

}  // namespace

CountedTrials BestTrials(const std::vector<double>& losses, double quantile,
                         const PedAnovaOptions& options,
                         const CountedTrials& among) {
  std::vector<double> sorted;
  sorted.reserve(among.size());
  for (const auto& [trial, times] : among) {
    sorted.insert(sorted.end(), times, losses[trial]);
  }
  const auto n = static_cast<double>(sorted.size());
  const double least = options.conditional ? 1.0 : 2.0;
  const double kept = std::min(n, std::max(least, std::ceil(quantile * n)));
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(kept) - 1;
  std::nth_element(sorted.begin(), last, sorted.end());
  CountedTrials best;
  for (const auto& [trial, times] : among) {
    if (losses[trial] <= *last) best.emplace_back(trial, times);
  }
  return best;
}

std::vector<PedAxis> MakePedAxes(const Space& space,
                                 const std::vector<const Point*>& points,
                                 const PedAnovaOptions& options, int threads) {
  const std::size_t count = space.parameters().size();
  std::vector<std::optional<PedAxis>> made(count);
  const std::size_t blocks = (count + kNeighbours - 1) / kNeighbours;
  ParallelFor(threads, blocks, [&](std::size_t block) {
    const std::size_t begin = block * kNeighbours;
    const std::size_t end = std::min(begin + kNeighbours, count);
    std::vector<std::vector<double>> columns(
        end - begin, std::vector<double>(points.size()));
    for (std::size_t t = 0; t < points.size(); ++t) {
      for (std::size_t i = begin; i < end; ++i) {
        columns[i - begin][t] = (*points[t])[i];
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      made[i].emplace(space.parameters()[i].domain, columns[i - begin],
                      options);
    }
  });
  std::vector<PedAxis> axes;
  axes.reserve(count);
  for (std::optional<PedAxis>& axis : made) axes.push_back(*std::move(axis));
  return axes;
}

std::vector<double> PedImportances(const std::vector<PedAxis>& axes,
                                   const CountedTrials& region,
                                   const CountedTrials& good) {
  std::vector<double> importances(axes.size(), 0.0);
  // If all trials are at one point, nothing can be said. The densities would
  // differ all the same, as they are of different numbers of trials.
  const bool varies = std::any_of(
      axes.begin(), axes.end(),
      [&region](const PedAxis& axis) { return axis.Varies(region); });
  if (!varies) return importances;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    importances[i] = axes[i].Importances(region, {good}).front();
  }
  return importances;
}

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

// Returns the largest importance of each parameter when as many other trials of
// the region are called good.
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
