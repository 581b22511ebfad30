// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "importance/curves.h"
#include "importance/plan/study_plan.h"
#include "sampler/factory.h"
#include "study/history.h"
#include "study/space.h"
#include "tests/bench/bench_main.h"
#include "tests/importance/trials.h"
#include "tests/search/truths.h"

namespace frostline::bench {

// The best that a plan can be: the extremes of a truth, and what anybody could
// know of it who is told beforehand which terms it has, how large each is and
// how loud the noise, and learns the rest from the trials.
struct Extremes {
  double lowest = 0.0;
  double highest = 0.0;
  Point best;
};

// Exact: module by module where there are no interactions, else every point.
Extremes ExtremesOf(const test::Truth& truth);

// The truth with each table replaced by its expectation, given the trials: a
// table is normal, with the variance of its share, and sums to 0 over each of
// its modules (Gaussian process regression: Rasmussen and Williams, 2006,
// equation 2.25). `noise` is above 0.
test::Truth ExpectedTruth(const test::Truth& truth, const History& history,
                          double noise);

namespace {

Extremes ExtremesOfSum(const test::Truth& truth) {
  Point point(static_cast<std::size_t>(truth.modules), 0.0);
  const double base = truth.Target(point);
  Extremes extremes{base, base, point};
  for (std::size_t m = 0; m < point.size(); ++m) {
    double lowest = base, highest = base;
    for (point[m] = 0.0; point[m] < truth.levels; point[m] += 1.0) {
      const double score = truth.Target(point);
      lowest = std::min(lowest, score);
      if (score <= highest) continue;
      highest = score;
      extremes.best[m] = point[m];
    }
    point[m] = 0.0;
    extremes.lowest += lowest - base;
    extremes.highest += highest - base;
  }
  return extremes;
}

// Covariance of a term's values at two points.
double Covariance(const test::TruthTerm& term, int levels, const Point& a,
                  const Point& b) {
  double value = term.share;
  for (const std::size_t axis : term.axes) {
    if (a[axis] != b[axis]) value /= 1.0 - levels;
  }
  return value;
}

// Solves a x = y in place, a symmetric and positive definite: by Cholesky.
void Solve(std::vector<std::vector<double>> a, std::vector<double>& y) {
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) y[i] -= a[i][k] * y[k];
    y[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= a[k][i] * y[k];
    y[i] /= a[i][i];
  }
}

}  // namespace

Extremes ExtremesOf(const test::Truth& truth) {
  if (std::all_of(
          truth.terms.begin(), truth.terms.end(),
          [](const test::TruthTerm& t) { return t.axes.size() == 1; })) {
    return ExtremesOfSum(truth);
  }
  Point point(static_cast<std::size_t>(truth.modules), 0.0);
  Extremes extremes{truth.Target(point), truth.Target(point), point};
  for (std::size_t at = 0; at < point.size();) {
    const double score = truth.Target(point);
    extremes.lowest = std::min(extremes.lowest, score);
    if (score > extremes.highest) {
      extremes.highest = score;
      extremes.best = point;
    }
    for (at = 0; at < point.size(); ++at) {
      point[at] += 1.0;
      if (point[at] < truth.levels) break;
      point[at] = 0.0;
    }
  }
  return extremes;
}

test::Truth ExpectedTruth(const test::Truth& truth, const History& history,
                          double noise) {
  const auto& trials = history.trials();
  std::vector<std::vector<double>> covariance(trials.size());
  std::vector<double> weights;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? noise * noise : 0.0;
      for (const test::TruthTerm& term : truth.terms) {
        sum += Covariance(term, truth.levels, trials[i].point, trials[j].point);
      }
      covariance[i].push_back(sum);
    }
    weights.push_back(trials[i].values[0]);
  }
  Solve(std::move(covariance), weights);
  test::Truth expected = truth;
  for (test::TruthTerm& term : expected.terms) {
    Point point(static_cast<std::size_t>(truth.modules), 0.0);
    for (double& cell : term.table) {
      cell = 0.0;
      for (std::size_t i = 0; i < trials.size(); ++i) {
        cell +=
            weights[i] * Covariance(term, truth.levels, point, trials[i].point);
      }
      // The last axis fastest.
      for (std::size_t k = term.axes.size(); k-- > 0;) {
        double& level = point[term.axes[k]];
        level += 1.0;
        if (level < truth.levels) break;
        level = 0.0;
      }
    }
  }
  return expected;
}

namespace {

// How good freeze plans are on truths that are known: 10 histories of each case
// of a file of truths (with --quick 3), normal noise of 0.3 deviations of the
// target, level 0 frozen. Regret is what the plan's true score lacks of the
// best there is, in parts of the truth's range.
//
//   plan_regret_ok.H        runs with a regret of at most 1 %
//   plan_regret_mean.H
//   plan_regret_ok.H.best_trial, .H.main_effects   two baselines
//   plan_oracle_ok.H      of who is told the terms, their sizes and the noise
//                         and takes the tables for random (plan_bench.cc)
//   plan_wrongly_frozen.H   modules frozen that cost more than 1 % of the range
//   plan_free_frozen.H      frozen ones among modules that cost nothing
//   plan_covered95.H        runs whose predicted interval holds the true score
//   plan_regret_ok.CASE.n200, plan_ms.d26.n1000
//
// H: n100, n200, n1000 uniform trials; n200.noise0; n200.tpe, n200.levels-gp:
// the sampler's own (4 histories each, with --quick 1). --truths FILE takes
// another file.

constexpr const char* kTruths = "tests/parity/data/truths.json";
constexpr double kNoise = 0.3;
constexpr double kGoodRegret = 0.01;
constexpr int kMostForOracle = 200;  // its work grows with the cube of trials
const std::vector<Objective> kScore = {{"score", Direction::kMaximize}};

class Means {
 public:
  void Add(const std::string& key, double value) {
    sums_[key] += value;
    ++counts_[key];
  }
  void Print(const Bench& bench) const {
    for (const auto& [key, sum] : sums_) {
      bench.Figure(key, sum / counts_.at(key));
    }
  }

 private:
  std::map<std::string, double> sums_;
  std::map<std::string, int> counts_;
};

Space WithModules(const test::Truth& truth) {
  std::vector<ModuleBinding> modules;
  for (int m = 0; m < truth.modules; ++m) {
    modules.push_back({"layer." + std::to_string(m), m, 0.0, std::nullopt});
  }
  return Space(truth.MakeSpace().parameters(), modules, std::nullopt);
}

// Other points and other noise for each case.
std::uint64_t SeedOf(const std::string& name, int run) {
  std::uint64_t seed = static_cast<std::uint64_t>(run) + 77;
  for (const char letter : name) {
    seed = seed * 1'000'003 + static_cast<unsigned char>(letter);
  }
  return seed;
}

template <typename T>
T Made(absl::StatusOr<T> made) {
  if (made.ok()) return *std::move(made);
  throw std::runtime_error(std::string(made.status().message()));
}

struct Setup {
  std::string name;  // H
  int trials = 200;
  double noise = kNoise;
  std::string sampler;  // empty: uniform
  int runs = 10;
};

History Sample(const test::Truth& truth, const Space& space, const Setup& setup,
               std::uint64_t seed) {
  const auto score = [&](const Point& point, Rng& rng) {
    return truth.Target(point) + setup.noise * rng.Normal();
  };
  if (setup.sampler.empty()) {
    return importance::UniformTrials(space, setup.trials, score, seed);
  }
  sampler::SamplerSpec spec;
  spec.name = setup.sampler;
  spec.seed = seed;
  const auto sampler = Made(sampler::MakeSampler(spec, space, kScore));
  History history;
  for (int number = 0; number < setup.trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    // A small space may have been covered.
    const auto point = sampler->Propose(history, number, rng);
    if (!point.ok()) break;
    history.Put(importance::Succeeded(number, *point, score(*point, rng)));
  }
  return history;
}

// What freezing truly costs, the other modules as they are in `point`.
double CostOfFreezing(const test::Truth& truth, Point point,
                      std::size_t module) {
  point[module] = 0.0;
  const double frozen = truth.Target(point);
  double best = frozen;
  for (point[module] = 1.0; point[module] < truth.levels; point[module] += 1) {
    best = std::max(best, truth.Target(point));
  }
  return best - frozen;
}

void AddRun(const test::Truth& truth, const Extremes& range, const Space& space,
            const History& history, const Setup& setup, Means& means) {
  const std::string& name = setup.name;
  const importance::StudyPlan plan =
      Made(importance::MakePlan(space, kScore, history, {}));
  const double width = range.highest - range.lowest;
  const auto regret = [&](const Point& point) {
    return (range.highest - truth.Target(point)) / width;
  };
  const auto is_good = [&](const Point& point) {
    return regret(point) <= kGoodRegret + 1e-12 ? 1.0 : 0.0;
  };
  means.Add("plan_regret_ok." + name, is_good(plan.point));
  means.Add("plan_regret_mean." + name, regret(plan.point));
  if (name == "n200") {
    means.Add("plan_regret_ok." + truth.name + "." + name, is_good(plan.point));
  }
  const auto best = std::max_element(
      history.trials().begin(), history.trials().end(),
      [](const auto& a, const auto& b) { return a.values[0] < b.values[0]; });
  means.Add("plan_regret_ok." + name + ".best_trial", is_good(best->point));
  Point favourites;
  for (const auto& curve :
       Made(importance::MarginalCurves(space, kScore, history, {}))) {
    favourites.push_back(curve.best);
  }
  means.Add("plan_regret_ok." + name + ".main_effects", is_good(favourites));
  if (setup.noise > 0.0 && setup.trials <= kMostForOracle) {
    means.Add(
        "plan_oracle_ok." + name,
        is_good(ExtremesOf(ExpectedTruth(truth, history, setup.noise)).best));
  }
  const double score = truth.Target(plan.point);
  means.Add("plan_covered95." + name, plan.predicted_score.lo95 <= score &&
                                          score <= plan.predicted_score.hi95);
  for (std::size_t m = 0; m < plan.modules.size(); ++m) {
    const double cost = CostOfFreezing(truth, plan.point, m);
    const bool frozen = plan.point[m] == 0.0;
    means.Add("plan_wrongly_frozen." + name,
              frozen && cost > kGoodRegret * width ? 1.0 : 0.0);
    if (cost < 1e-9) {
      means.Add("plan_free_frozen." + name, frozen ? 1.0 : 0.0);
    }
  }
}

void MeasureSpeed(const Bench& bench) {
  const Space plain = importance::LevelSpace(26, 7);
  std::vector<ModuleBinding> modules;
  for (int m = 0; m < plain.size(); ++m) {
    modules.push_back({"layer." + std::to_string(m), m, 0.0, std::nullopt});
  }
  const Space space(plain.parameters(), modules, std::nullopt);
  const History history =
      importance::UniformTrials(space, 1000, [](const Point& p, Rng& rng) {
        return p[20] + p[24] * p[25] + 3.0 * rng.Normal();
      });
  const auto start = std::chrono::steady_clock::now();
  const int calls = bench.quick() ? 1 : 5;
  for (int i = 0; i < calls; ++i) {
    Keep(Made(importance::MakePlan(space, kScore, history, {})));
  }
  const std::chrono::duration<double, std::milli> spent =
      std::chrono::steady_clock::now() - start;
  bench.Figure("plan_ms.d26.n1000", spent.count() / calls);
}

void Run(const Bench& bench) {
  const std::vector<test::Truth> truths = test::ReadTruths(
      bench.file().empty() ? std::string(FROSTLINE_SOURCE_DIR) + "/" + kTruths
                           : bench.file());
  std::vector<Extremes> ranges;
  for (const test::Truth& truth : truths) ranges.push_back(ExtremesOf(truth));
  const int runs = bench.quick() ? 3 : 10;
  const int sampler_runs = bench.quick() ? 1 : 4;
  for (const Setup& setup :
       {Setup{"n100", 100, kNoise, "", runs},
        Setup{"n200", 200, kNoise, "", runs},
        Setup{"n1000", 1000, kNoise, "", runs},
        Setup{"n200.noise0", 200, 0.0, "", runs},
        Setup{"n200.tpe", 200, kNoise, "tpe", sampler_runs},
        Setup{"n200.levels-gp", 200, kNoise, "levels-gp", sampler_runs}}) {
    Means means;
    for (std::size_t t = 0; t < truths.size(); ++t) {
      const test::Truth& truth = truths[t];
      const Space space = WithModules(truth);
      for (int run = 0; run < setup.runs; ++run) {
        AddRun(truth, ranges[t], space,
               Sample(truth, space, setup, SeedOf(truth.name, run)), setup,
               means);
      }
    }
    means.Print(bench);
  }
  MeasureSpeed(bench);
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
