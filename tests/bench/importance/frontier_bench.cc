// SPDX-License-Identifier: Apache-2.0
//
// What a frontier says where the truth is known: seven modules of four levels,
// noise .01. T: `none` (no module does anything), `two` (layers 1 and 3 add .1
// each where they are trained), `either` (one of these two is enough), `rates`
// (they lose as their rate is far from the third level, and .1 frozen).
// H: random, qmc, best, both, understand (the last three: sampler auto, with
// that purpose). N: 36, 100, 300 trials; 8 seeds (with --quick 3).
//
//   within.T.H.nN.kK        chance to be within the tolerance, of the best set
//                           of K modules, mean over seeds
//   spread.T.H.nN           largest less smallest of these, of sets that are
//                           equally good: 0 is unbiased
//   named, right, size      a smallest set is named; it is truly within the
//                           tolerance; modules in it, less the fewest needed
//   seconds.T.H.nN          processor seconds of one frontier
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "importance/plan/frontier.h"
#include "sampler/auto.h"
#include "sampler/factory.h"
#include "tests/bench/bench_main.h"
#include "tests/importance/plan/plan_trials.h"

namespace frostline::bench {
namespace {

struct Truth {
  std::string name;
  std::size_t needed;  // modules
  double (*score)(const Point&);
};

bool IsTrained(const Point& p, std::size_t m) { return p[m] > 0.0; }

double OfNone(const Point& /*p*/) { return 0.8; }
double OfTwo(const Point& p) {
  return 0.7 + 0.1 * IsTrained(p, 1) + 0.1 * IsTrained(p, 3);
}
double OfEither(const Point& p) {
  return 0.7 + 0.2 * (IsTrained(p, 1) || IsTrained(p, 3));
}
double OfRates(const Point& p) {
  double score = 0.9;
  for (const std::size_t m : {std::size_t{1}, std::size_t{3}}) {
    score -= IsTrained(p, m) ? 0.03 * std::abs(p[m] - 2.0) : 0.1;
  }
  return score;
}

const std::vector<Truth>& Truths() {
  static const auto* const kTruths = new std::vector<Truth>{
      {"none", 0, OfNone},
      {"two", 2, OfTwo},
      {"either", 1, OfEither},
      {"rates", 2, OfRates},
  };
  return *kTruths;
}

const std::vector<Objective>& Accuracy() {
  static const auto* const kAccuracy = new std::vector<Objective>{
      {.metric = "accuracy", .direction = Direction::kMaximize}};
  return *kAccuracy;
}

struct Kind {
  std::string name;
  std::string sampler;
  Purpose purpose;
};

const std::vector<Kind>& Kinds() {
  static const auto* const kKinds = new std::vector<Kind>{
      {"random", "random", Purpose::kBest},
      {"qmc", "qmc", Purpose::kBest},
      {"best", "levels-gp", Purpose::kBest},
      {"both", "levels-gp", Purpose::kBoth},
      {"understand", "levels-gp", Purpose::kUnderstand},
  };
  return *kKinds;
}

History RunStudy(const Space& space, const Truth& truth, const Kind& kind,
                 int trials, std::uint64_t seed) {
  auto sampler = sampler::MakeSampler({kind.sampler, {}, seed, kind.purpose},
                                      space, Accuracy());
  if (!sampler.ok()) std::abort();
  Rng luck(seed, 0xf1a7);
  History history;
  for (int n = 0; n < trials; ++n) {
    Rng rng(seed, static_cast<std::uint64_t>(n));
    auto point = (*sampler)->Propose(history, n, rng);
    if (!point.ok()) break;
    const double score = truth.score(*point) + 0.01 * luck.Normal();
    history.Put(importance::Succeeded(n, *std::move(point), score));
  }
  return history;
}

struct Sums {
  std::vector<double> within = std::vector<double>(8, 0.0);
  double named = 0.0, right = 0.0, size = 0.0, seconds = 0.0;
};

void Judge(const Space& space, const Truth& truth, const History& history,
           Sums& sums) {
  const std::clock_t begun = std::clock();
  const auto frontier =
      importance::MakeFrontier(space, Accuracy(), history, {});
  sums.seconds += static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  if (!frontier.ok()) std::abort();
  for (const auto& set : frontier->by_modules) {
    sums.within[set.trained.size()] += set.within_tolerance_probability;
  }
  if (frontier->chosen < 0) return;
  const auto& chosen =
      frontier->by_modules[static_cast<std::size_t>(frontier->chosen)];
  double best = 0.0;
  for (const double level : {1.0, 2.0, 3.0}) {
    best = std::max(best, truth.score(Point(7, level)));
  }
  sums.named += 1.0;
  sums.right += best - truth.score(chosen.point) <= frontier->tolerance;
  sums.size += static_cast<double>(chosen.trained.size()) -
               static_cast<double>(truth.needed);
}

int Run(int argc, char** argv) {
  const Bench bench(argc, argv);
  const Space space = importance::Modules(7, 4);
  const int seeds = bench.quick() ? 3 : 8;
  for (const Truth& truth : Truths()) {
    for (const Kind& kind : Kinds()) {
      for (const int trials : {36, 100, 300}) {
        Sums sums;
        for (int seed = 0; seed < seeds; ++seed) {
          Judge(space, truth,
                RunStudy(space, truth, kind, trials,
                         static_cast<std::uint64_t>(seed) + 1),
                sums);
        }
        const std::string end =
            absl::StrCat(".", truth.name, ".", kind.name, ".n", trials);
        double least = 1.0, most = 0.0;
        for (std::size_t k = 0; k < sums.within.size(); ++k) {
          const double within = sums.within[k] / seeds;
          bench.Figure(absl::StrCat("within", end, ".k", k), within);
          if (k < truth.needed) continue;
          least = std::min(least, within);
          most = std::max(most, within);
        }
        bench.Figure("spread" + end, most - least);
        bench.Figure("named" + end, sums.named / seeds);
        if (sums.named > 0.0) {
          bench.Figure("right" + end, sums.right / sums.named);
          bench.Figure("size" + end, sums.size / sums.named);
        }
        bench.Figure("seconds" + end, sums.seconds / seeds);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) { return frostline::bench::Run(argc, argv); }
