// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/importance/truth_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/rng.h"
#include "sampler/factory.h"
#include "tests/importance/trials.h"

namespace frostline::bench {
namespace {

constexpr const char* kTruths = "tests/parity/data/truths.json";

// Shares of a target of seven-level modules of which the first `count` alone
// matter.
void FindShares(int count, Cliff& cliff) {
  std::size_t points = 1;
  for (int i = 0; i < count; ++i) points *= 7;
  std::vector<double> values(points);
  double mean = 0.0;
  for (std::size_t k = 0; k < points; ++k) {
    Point point(kCliffModules, 0.0);
    std::size_t rest = k;
    for (int i = 0; i < count; ++i, rest /= 7) {
      point[static_cast<std::size_t>(i)] = static_cast<double>(rest % 7);
    }
    values[k] = cliff.target(point);
    mean += values[k] / static_cast<double>(points);
  }
  double variance = 0.0;
  for (double& value : values) {
    value -= mean;
    variance += value * value / static_cast<double>(points);
  }
  cliff.deviation = std::sqrt(variance);
  cliff.main.assign(kCliffModules, 0.0);
  cliff.total.assign(kCliffModules, 0.0);
  std::size_t stride = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::vector<double> level(7, 0.0);
    std::vector<double> others(points, 0.0);  // at the lowest level of i
    for (std::size_t k = 0; k < points; ++k) {
      const std::size_t at = k / stride % 7;
      level[at] += values[k] * 7.0 / static_cast<double>(points);
      others[k - at * stride] += values[k] / 7.0;
    }
    double without = 0.0;
    for (const double v : others) without += v * v * 7.0;
    for (const double v : level) cliff.main[i] += v * v / 7.0 / variance;
    cliff.total[i] = 1.0 - without / static_cast<double>(points) / variance;
    stride *= 7;
  }
}

}  // namespace

void Means::Add(const std::string& key, double value) {
  if (std::isnan(value)) return;
  sums_[key].first += value;
  ++sums_[key].second;
}

double Means::Of(const std::string& key) const {
  const auto found = sums_.find(key);
  return found == sums_.end() ? std::numeric_limits<double>::quiet_NaN()
                              : found->second.first / found->second.second;
}

void Means::Print(const Bench& bench) const {
  for (const auto& [key, sum] : sums_) bench.Figure(key, Of(key));
}

std::vector<test::Truth> BenchTruths(const Bench& bench) {
  return test::ReadTruths(
      bench.file().empty() ? std::string(FROSTLINE_SOURCE_DIR) + "/" + kTruths
                           : bench.file());
}

bool IsAdditive(const test::Truth& truth) {
  return std::all_of(
      truth.terms.begin(), truth.terms.end(),
      [](const test::TruthTerm& t) { return t.axes.size() == 1; });
}

std::vector<double> MainShares(const test::Truth& truth) {
  std::vector<double> shares(static_cast<std::size_t>(truth.modules), 0.0);
  for (const test::TruthTerm& term : truth.terms) {
    if (term.axes.size() == 1) shares[term.axes[0]] += term.share;
  }
  return shares;
}

std::vector<double> TotalShares(const test::Truth& truth) {
  std::vector<double> shares(static_cast<std::size_t>(truth.modules), 0.0);
  for (const test::TruthTerm& term : truth.terms) {
    for (const std::size_t axis : term.axes) shares[axis] += term.share;
  }
  return shares;
}

std::vector<double> InPartsOfSum(std::vector<double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  for (double& value : values) value /= sum;
  return values;
}

double MeanDifference(const std::vector<double>& a,
                      const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

std::uint64_t SeedOf(const std::string& name, int run) {
  std::uint64_t seed = static_cast<std::uint64_t>(run);
  for (const char letter : name) {
    seed = seed * 1'000'003 + static_cast<unsigned char>(letter);
  }
  return seed;
}

History NoisyTrials(const Space& space, int trials, std::uint64_t seed,
                    const PointTarget& target, double noise) {
  return importance::UniformTrials(
      space, trials,
      [&](const Point& point, Rng& rng) {
        return target(point) + noise * rng.Normal();
      },
      seed);
}

History SearchedTrials(const Space& space, int trials, std::uint64_t seed,
                       const PointTarget& target, const std::string& sampler,
                       Purpose purpose) {
  const auto made = sampler::MakeSampler(
      {.name = sampler, .options = {}, .seed = seed, .purpose = purpose}, space,
      {{"score", Direction::kMaximize}});
  if (!made.ok()) {
    throw std::runtime_error(std::string(made.status().message()));
  }
  Rng noise(seed, std::uint64_t{1} << 40);
  History history;
  for (int i = 0; i < trials; ++i) {
    Rng rng(seed, static_cast<std::uint64_t>(i));
    auto proposed = (*made)->Propose(history, i, rng);
    if (!proposed.ok()) {
      throw std::runtime_error(std::string(proposed.status().message()));
    }
    const double value = target(*proposed) + kTruthNoise * noise.Normal();
    history.Put(importance::Succeeded(i, *std::move(proposed), value));
  }
  return history;
}

importance::Report Evaluated(const Space& space, const History& history,
                             const std::string& evaluator, bool intervals) {
  importance::EvaluateOptions options;
  if (evaluator != "default") options.evaluator = evaluator;
  if (!intervals) options.bootstraps = 0;
  const auto report = importance::Evaluate(
      space, {{"score", Direction::kMaximize}}, history, options);
  if (!report.ok()) {
    throw std::runtime_error(std::string(report.status().message()));
  }
  return *report;
}

std::vector<double> MainOf(const importance::Report& report) {
  std::vector<double> main;
  for (const importance::ParameterImportance& one : report.parameters) {
    main.push_back(one.main.value);
  }
  return main;
}

std::vector<double> TotalOf(const importance::Report& report) {
  std::vector<double> total;
  for (const importance::ParameterImportance& one : report.parameters) {
    total.push_back(one.total.value);
  }
  return total;
}

std::vector<Cliff> Cliffs() {
  const auto above = [](const Point& point, int modules, double level) {
    int count = 0;
    for (int i = 0; i < modules; ++i) {
      count += point[static_cast<std::size_t>(i)] >= level ? 1 : 0;
    }
    return count;
  };
  std::vector<Cliff> cliffs = {
      {"any4",
       [=](const Point& p) { return above(p, 4, 5) > 0 ? 0.0 : 1.0; },
       {},
       {},
       1.0},
      {"any4_graded",
       [=](const Point& p) {
         return (above(p, 4, 5) > 0 ? 0.0 : 1.0 + 0.1 * p[4]) + 0.1 * p[4];
       },
       {},
       {},
       1.0},
      {"all3",
       [=](const Point& p) { return above(p, 3, 4) == 3 ? 0.0 : 1.0; },
       {},
       {},
       1.0},
      {"all4_graded",
       [=](const Point& p) {
         return (above(p, 4, 3) == 4 ? 0.0 : 1.0) + 0.05 * p[4];
       },
       {},
       {},
       1.0}};
  for (Cliff& cliff : cliffs) FindShares(5, cliff);
  return cliffs;
}

}  // namespace frostline::bench
