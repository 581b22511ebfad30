// SPDX-License-Identifier: Apache-2.0
//
// What a study's purpose costs its search, and what it brings importance.
// Samplers `tpe` and `levels-gp`, purposes P `best`, `both`, `understand`:
//
//   best.O.n.median.S.P   objectives i, ii, iii: the loss of the best trial
//                         after n = 50, 100, 200, median of 30 seeds
//   best.O.n.p_worse.S.P  one-sided Mann–Whitney test against P = best: small
//                         when it is worse
//   mae.K.nN.S.P          truths of 7 modules, K additive or inter: main
//                         effects of the default in parts of their sum, mean
//                         |difference|; n = 36, 100, 300
//   cover95.K.nN.S.P      its 95 % intervals that hold a share of at least .01
//   best.T.n.mean.S.P     recorded table T: true value of the trial that looks
//                         best after n = 36, 100, 200; and p_worse
//   mae.T.nN.S.P          as above, of the table's main effects
//   telling_p50_ms.nN.d14 one proposal of `understand`, 14 parameters of seven
//                         levels
//
// 12 runs of each truth; with --quick `tpe` alone, 10 seeds and 4 runs.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/plain/statistics.h"
#include "sampler/draw/random.h"
#include "tests/bench/importance/truth_trials.h"
#include "tests/bench/tables/table_history.h"
#include "tests/bench/tables/tables_run.h"
#include "tests/search/search_run.h"

namespace frostline::bench {
namespace {

constexpr double kLeastCovered = 0.01;
constexpr Purpose kPurposes[] = {Purpose::kBest, Purpose::kBoth,
                                 Purpose::kUnderstand};

std::string EndOf(const std::string& sampler, Purpose purpose) {
  return absl::StrCat(".", sampler, ".", NameOf(purpose));
}

void RunObjectives(const Bench& bench, const std::string& sampler) {
  for (const test::SearchObjective& objective : test::LayerwiseObjectives()) {
    test::Sweep of_best;
    for (const Purpose purpose : kPurposes) {
      const test::SearchSetup setup{
          .sampler = {.name = sampler, .options = {}, .purpose = purpose}};
      const test::Sweep sweep =
          test::RunSweep(objective, setup, bench.quick() ? 10 : 30);
      if (purpose == Purpose::kBest) of_best = sweep;
      for (const auto& [trials, best] : sweep) {
        const std::string start =
            absl::StrCat("best.", objective.name, ".", trials);
        bench.Figure(start + ".median" + EndOf(sampler, purpose),
                     Quantile(best, 0.5));
        bench.Figure(start + ".p_worse" + EndOf(sampler, purpose),
                     test::ProbabilityNotGreater(best, of_best.at(trials)));
      }
    }
  }
}

void AddTruth(const test::Truth& truth, const History& history,
              const std::string& end, Means& means) {
  const std::vector<double> shares = MainShares(truth);
  const importance::Report report =
      Evaluated(truth.MakeSpace(), history, "default", true);
  means.Add("mae." + end,
            MeanDifference(InPartsOfSum(shares), InPartsOfSum(MainOf(report))));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] < kLeastCovered - 1e-9) continue;
    const importance::Interval& main = report.parameters[i].main;
    means.Add("cover95." + end,
              shares[i] >= main.lo95 && shares[i] <= main.hi95 ? 1.0 : 0.0);
  }
}

void RunTruths(const Bench& bench, const std::string& sampler, Means& means) {
  for (const test::Truth& truth : BenchTruths(bench)) {
    if (truth.modules != 7) continue;
    const std::string kind = IsAdditive(truth) ? "additive" : "inter";
    for (const Purpose purpose : kPurposes) {
      for (int run = 0; run < (bench.quick() ? 4 : 12); ++run) {
        for (const int trials : {36, 100, 300}) {
          const History history = SearchedTrials(
              truth.MakeSpace(), trials, SeedOf(truth.name, 5000 + run),
              [&truth](const Point& point) { return truth.Target(point); },
              sampler, purpose);
          AddTruth(truth, history,
                   absl::StrCat(kind, ".n", trials, EndOf(sampler, purpose)),
                   means);
        }
      }
    }
  }
}

// True values of what looks best, by size, as losses.
using Best = std::map<int, std::vector<double>>;

Best RunTable(const RecordedTable& table, const TableTruth& truth,
              const std::string& sampler, Purpose purpose, int seeds,
              Means& means) {
  Best best;
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<Observation> trials =
        RecordedTrials(table, {.sampler = sampler,
                               .seed = static_cast<std::uint64_t>(seed),
                               .purpose = purpose});
    for (const int size : {36, 100, 200}) {
      if (static_cast<int>(trials.size()) < size) break;
      const History history = Beginning(trials, size);
      const JudgedStudy judged =
          Judge({table,
                 truth,
                 history,
                 {.plan = false,
                  .rivals = {},
                  .seed = static_cast<std::uint64_t>(seed)}});
      best[size].push_back(-table.Score(judged.best));
      for (const JudgedFigure& figure : judged.figures) {
        means.Add(absl::StrCat(figure.key, ".", table.name, ".n", size,
                               EndOf(sampler, purpose)),
                  figure.value);
      }
    }
  }
  return best;
}

void RunTables(const Bench& bench, const std::string& sampler, Means& means) {
  TablesOptions options;
  options.folder =
      std::string(FROSTLINE_SOURCE_DIR) + "/tests/bench/tables/data";
  for (const RecordedTable& table : TablesOf(options)) {
    const TableTruth truth = TruthOf(table);
    Best of_best;
    for (const Purpose purpose : kPurposes) {
      const Best best = RunTable(table, truth, sampler, purpose,
                                 bench.quick() ? 10 : 30, means);
      if (purpose == Purpose::kBest) of_best = best;
      for (const auto& [size, losses] : best) {
        const std::string start = absl::StrCat("best.", table.name, ".", size);
        double mean = 0.0;
        for (const double loss : losses) {
          mean -= loss / static_cast<double>(losses.size());
        }
        bench.Figure(start + ".mean" + EndOf(sampler, purpose), mean);
        bench.Figure(start + ".p_worse" + EndOf(sampler, purpose),
                     test::ProbabilityNotGreater(losses, of_best.at(size)));
      }
    }
  }
}

void TimeTelling(const Bench& bench, int trials) {
  using Steady = std::chrono::steady_clock;
  const Space space = test::SevenLevels(14);
  const auto sampler = *sampler::MakeSampler(
      {.name = "tpe", .options = {}, .purpose = Purpose::kUnderstand}, space,
      {{"loss", Direction::kMinimize}});
  History history;
  Rng luck(7);
  for (int i = 0; i < trials; ++i) {
    Observation trial;
    trial.number = i;
    trial.state = TrialState::kSucceeded;
    trial.point = sampler::DrawPoint(space, sampler::kFrozenShare, luck);
    trial.values = {luck.Uniform()};
    history.Put(std::move(trial));
  }
  std::vector<double> spent_ms;
  for (int i = 0; i < 21; ++i) {
    Rng rng(3, static_cast<std::uint64_t>(i));
    const Steady::time_point start = Steady::now();
    Keep(sampler->Propose(history, trials, rng));
    const std::chrono::duration<double, std::milli> spent =
        Steady::now() - start;
    spent_ms.push_back(spent.count());
  }
  bench.Figure(absl::StrCat("telling_p50_ms.n", trials, ".d14"),
               Quantile(spent_ms, 0.5));
}

void Run(const Bench& bench) {
  TimeTelling(bench, 200);
  TimeTelling(bench, 1000);
  for (const std::string sampler : {"tpe", "levels-gp"}) {
    if (bench.quick() && sampler != "tpe") break;
    Means of_truths, of_tables;
    RunTruths(bench, sampler, of_truths);
    of_truths.Print(bench);
    RunObjectives(bench, sampler);
    RunTables(bench, sampler, of_tables);
    of_tables.Print(bench);
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
