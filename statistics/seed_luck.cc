// SPDX-License-Identifier: Apache-2.0
#include "statistics/seed_luck.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "statistics/compare.h"

namespace frostline::statistics {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kNoLuck = ~std::size_t{0};
// A share of the squared length of what has to be explained.
constexpr double kExplained = 1e-24;
// The least share of luck in the variance among runs of a point.
constexpr double kLeastLuck = 0.01;

struct Layout {
  const std::vector<PointRun>& runs;
  std::vector<double> runs_of;       // by point
  std::vector<std::size_t> luck_of;  // by run: its seed's place, or kNoLuck
  std::size_t lucks = 0;
};

// Gives each known seed a place, in the seeds' order.
Layout MakeLayout(std::size_t points, const std::vector<PointRun>& runs) {
  Layout layout = {runs, std::vector<double>(points), {}, 0};
  std::map<std::uint64_t, std::size_t> places;
  for (const PointRun& run : runs) {
    layout.runs_of[run.point] += 1.0;
    if (run.seed != 0) places.emplace(run.seed, 0);
  }
  for (auto& [seed, place] : places) place = layout.lucks++;
  layout.luck_of.reserve(runs.size());
  for (const PointRun& run : runs) {
    layout.luck_of.push_back(run.seed == 0 ? kNoLuck : places.at(run.seed));
  }
  return layout;
}

std::vector<Contender> ContendersOf(const Layout& layout) {
  std::vector<Contender> points(layout.runs_of.size());
  for (const PointRun& run : layout.runs) {
    if (run.seed == 0) continue;
    points[run.point].runs.push_back({run.seed, run.value, {}});
  }
  return points;
}

std::vector<BySeed> RepeatedOf(const std::vector<Contender>& points) {
  std::vector<BySeed> repeated;
  for (const Contender& point : points) {
    BySeed runs = WithResult(point);
    if (runs.size() > 1) repeated.push_back(std::move(runs));
  }
  return repeated;
}

// Leaves those that ran with the two seeds that most of them ran with: one odd
// seed of one of them must not hide what the others tell.
void KeepBlock(std::vector<BySeed>& repeated) {
  std::map<std::uint64_t, std::size_t> points_of;
  for (const BySeed& runs : repeated) {
    for (const auto& [seed, run] : runs) ++points_of[seed];
  }
  std::vector<std::pair<std::size_t, std::uint64_t>> seeds;
  seeds.reserve(points_of.size());
  for (const auto& [seed, points] : points_of) seeds.emplace_back(points, seed);
  std::stable_sort(
      seeds.begin(), seeds.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::erase_if(repeated, [&seeds](const BySeed& runs) {
    return !runs.contains(seeds[0].second) || !runs.contains(seeds[1].second);
  });
}

struct Variances {
  double luck = 0.0;
  double rest = 0.0;
};

std::optional<Variances> FindVariances(const Layout& layout) {
  const std::vector<Contender> points = ContendersOf(layout);
  std::vector<BySeed> repeated = RepeatedOf(points);
  const Noise of_both = OverSeeds(repeated);
  if (repeated.size() < 2 || of_both.squares == 0.0) return std::nullopt;
  KeepBlock(repeated);
  const Noise of_rest = WithinBlocks(repeated);
  if (!of_rest.known()) return std::nullopt;
  const double both = of_both.squares / of_both.freedom;
  const double rest = (of_rest.squares + both / 2.0) / (of_rest.freedom + 1.0);
  return Variances{std::max(both - rest, kLeastLuck * both), rest};
}

// By point, the mean of one number for each run.
Vector MeansOf(const Layout& layout, const Vector& of_runs) {
  Vector means(layout.runs_of.size());
  for (std::size_t r = 0; r < of_runs.size(); ++r) {
    const std::size_t point = layout.runs[r].point;
    means[point] += of_runs[r] / layout.runs_of[point];
  }
  return means;
}

// By seed, the sum over its runs of what is left above their points' means.
Vector RestOf(const Layout& layout, const Vector& of_runs) {
  const Vector means = MeansOf(layout, of_runs);
  Vector rest(layout.lucks);
  for (std::size_t r = 0; r < of_runs.size(); ++r) {
    if (layout.luck_of[r] == kNoLuck) continue;
    rest[layout.luck_of[r]] += of_runs[r] - means[layout.runs[r].point];
  }
  return rest;
}

Vector SpreadOver(const Layout& layout, const Vector& lucks) {
  Vector of_runs(layout.runs.size());
  for (std::size_t r = 0; r < of_runs.size(); ++r) {
    if (layout.luck_of[r] != kNoLuck) of_runs[r] = lucks[layout.luck_of[r]];
  }
  return of_runs;
}

std::size_t SharedSeeds(const Layout& layout) {
  std::vector<std::set<std::size_t>> points_of(layout.lucks);
  for (std::size_t r = 0; r < layout.runs.size(); ++r) {
    if (layout.luck_of[r] == kNoLuck) continue;
    points_of[layout.luck_of[r]].insert(layout.runs[r].point);
  }
  return static_cast<std::size_t>(
      std::count_if(points_of.begin(), points_of.end(),
                    [](const auto& points) { return points.size() > 1; }));
}

double Dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The normal equations, with the scores eliminated, by conjugate gradients
// (Hestenes & Stiefel, 1952): a matrix of all seeds is never formed.
Vector SolveForLuck(const Layout& layout, const Vector& values, double weight) {
  Vector lucks(layout.lucks);
  Vector left = RestOf(layout, values);
  Vector step = left;
  double size = Dot(left, left);
  const double enough = kExplained * size;
  for (std::size_t i = 0; i <= 2 * layout.lucks && size > enough; ++i) {
    Vector moved = RestOf(layout, SpreadOver(layout, step));
    for (std::size_t s = 0; s < moved.size(); ++s) moved[s] += weight * step[s];
    const double length = size / Dot(step, moved);
    for (std::size_t s = 0; s < moved.size(); ++s) {
      lucks[s] += length * step[s];
      left[s] -= length * moved[s];
    }
    const double before = size;
    size = Dot(left, left);
    for (std::size_t s = 0; s < step.size(); ++s) {
      step[s] = left[s] + size / before * step[s];
    }
  }
  return lucks;
}

}  // namespace

SeedLuck FindSeedLuck(std::size_t points, const std::vector<PointRun>& runs) {
  const Layout layout = MakeLayout(points, runs);
  const std::optional<Variances> variances = FindVariances(layout);
  if (!variances.has_value()) return {Vector(runs.size()), 0.0, 0};
  Vector values;
  values.reserve(runs.size());
  for (const PointRun& run : runs) values.push_back(run.value);
  const double weight = variances->rest / variances->luck;
  return {SpreadOver(layout, SolveForLuck(layout, values, weight)),
          variances->luck, SharedSeeds(layout)};
}

std::vector<double> JudgePoints(std::size_t points,
                                const std::vector<PointRun>& runs) {
  const SeedLuck luck = FindSeedLuck(points, runs);
  std::vector<double> sums(points), counts(points);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    sums[runs[r].point] += runs[r].value - luck.of_run[r];
    counts[runs[r].point] += 1.0;
  }
  double usual = 0.0, ran = 0.0;
  for (std::size_t p = 0; p < points; ++p) {
    if (counts[p] == 0.0) continue;
    usual += sums[p] / counts[p];
    ran += 1.0;
  }
  std::vector<double> judged(points, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t p = 0; p < points; ++p) {
    if (counts[p] == 0.0) continue;
    judged[p] = (sums[p] + usual / ran) / (counts[p] + 1.0);
  }
  return judged;
}

}  // namespace frostline::statistics
