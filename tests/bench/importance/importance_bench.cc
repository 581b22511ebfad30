// SPDX-License-Identifier: Apache-2.0
//
// How long an importance report takes, and how much memory it needs, for
// uniform trials of d seven-level modules or 32 floats with noise:
//
//   main_s.nN.dD.KIND[.E]        main effects alone
//   main_ci_s…                   with intervals
//   pairs_s…                     and all pairs
//   full_s…                      pairs and intervals
//   ped_s.nN.d32.float           ped-anova (.ci with intervals)
//   refresh_ms.nN                main effects of 26 modules anew after one
//                                more trial than N
//   report_s.nN.dD               all that a person's report needs: pairs,
//                                intervals, and whether the ranking is settled
//   threads2_over_1.WHAT         time on two threads by time on one
//   growth.WHAT                  time at 5,000 trials by that at 1,000
//   many_s.n10000.d500.E         main effects of what is too much of all
//   memory_mib.WHAT              most that was allocated at one time
//
// No E: the default evaluator. Median of several rounds; with --quick one, and
// nothing of more than 1,000 trials but ped-anova. A report after one more
// trial is computed from nothing (docs/adr/0017).
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "importance/evaluator.h"
#include "importance/ranking.h"
#include "tests/bench/bench_main.h"
#include "tests/importance/trials.h"

namespace {
// What the program has allocated and not given back, and the most of it.
std::atomic<long long> live_bytes{0};
std::atomic<long long> most_bytes{0};

void* Allocated(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const auto size = static_cast<long long>(malloc_usable_size(memory));
  const long long now = live_bytes.fetch_add(size) + size;
  long long most = most_bytes.load();
  while (now > most && !most_bytes.compare_exchange_weak(most, now)) {
  }
  return memory;
}
void Released(void* memory) {
  live_bytes.fetch_sub(static_cast<long long>(malloc_usable_size(memory)));
  std::free(memory);
}
}  // namespace

void* operator new(std::size_t size) { return Allocated(std::malloc(size)); }
void operator delete(void* memory) noexcept { Released(memory); }
void operator delete(void* memory, std::size_t) noexcept { Released(memory); }

namespace frostline::bench {
namespace {

constexpr double kNoise = 0.3;
constexpr double kMib = 1024.0 * 1024.0;

struct Study {
  std::string size;  // "n1000.d26.levels"
  Space space;
  History history;
};

// Some parameters matter, the first ones most, and the first two together.
double Target(const Point& point, double unit, Rng& rng) {
  double sum = kNoise * rng.Normal();
  for (std::size_t i = 0; i < std::min<std::size_t>(point.size(), 7); ++i) {
    sum += point[i] / unit / (1.0 + static_cast<double>(i));
  }
  return sum + (point[0] > unit / 2.0 && point[1] > unit / 2.0 ? 0.3 : 0.0);
}

Study MakeStudy(int trials, int parameters, bool levels) {
  std::vector<Parameter> floats;
  for (int i = 0; i < parameters; ++i) {
    floats.push_back({"x" + std::to_string(i), FloatRange{0, 1, 0, false}, {}});
  }
  const Space space = levels ? importance::LevelSpace(parameters, 7)
                             : Space(floats, {}, std::nullopt);
  return {"n" + std::to_string(trials) + ".d" + std::to_string(parameters) +
              (levels ? ".levels" : ".float"),
          space,
          importance::UniformTrials(space, trials,
                                    [levels](const Point& p, Rng& rng) {
                                      return Target(p, levels ? 6.0 : 1.0, rng);
                                    })};
}

importance::EvaluateOptions Asked(const std::string& evaluator, bool pairs,
                                  bool intervals) {
  importance::EvaluateOptions options;
  if (!evaluator.empty()) options.evaluator = evaluator;
  options.pairs = pairs;
  if (!intervals) options.bootstraps = 0;
  return options;
}

double SecondsOf(const Study& study,
                 const importance::EvaluateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto report = importance::Evaluate(
      study.space, {{"loss", Direction::kMinimize}}, study.history, options);
  const std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  if (!report.ok()) {
    throw std::runtime_error(std::string(report.status().message()));
  }
  return spent.count();
}

class Clock {
 public:
  explicit Clock(const Bench& bench) : bench_(bench) {}

  // Few rounds of what is slow.
  double Median(const Study& study,
                const importance::EvaluateOptions& options) const {
    std::vector<double> seconds = {SecondsOf(study, options)};
    const std::size_t rounds = bench_.quick() || seconds[0] > 5.0 ? 1
                               : seconds[0] > 1.0                 ? 3
                                                                  : 7;
    while (seconds.size() < rounds) {
      seconds.push_back(SecondsOf(study, options));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }

  double Figure(const std::string& key, const Study& study,
                const importance::EvaluateOptions& options) const {
    const double seconds = Median(study, options);
    bench_.Figure(key, seconds);
    return seconds;
  }

 private:
  const Bench& bench_;
};

void MeasureDefault(const Bench& bench, const Clock& clock) {
  struct Kind {
    const char* name;
    bool pairs;
    bool intervals;
  };
  for (const auto& [d, levels] :
       {std::pair{7, true}, {14, true}, {26, true}, {32, false}}) {
    const Study small = MakeStudy(200, d, levels);
    const Study middle = MakeStudy(1000, d, levels);
    const Study large = MakeStudy(5000, d, levels);
    for (const auto& [name, pairs, intervals] :
         {Kind{"main", false, false}, Kind{"main_ci", false, true},
          Kind{"pairs", true, false}, Kind{"full", true, true}}) {
      const importance::EvaluateOptions options = Asked("", pairs, intervals);
      const std::string key = std::string(name) + "_s.";
      clock.Figure(key + small.size, small, options);
      const double at_1000 = clock.Figure(key + middle.size, middle, options);
      if (bench.quick()) continue;
      const double at_5000 = clock.Figure(key + large.size, large, options);
      bench.Figure("growth." + std::string(name) + ".d" + std::to_string(d) +
                       (levels ? ".levels" : ".float"),
                   at_5000 / at_1000);
    }
  }
}

void MeasureOthers(const Bench& bench, const Clock& clock) {
  const Study levels = MakeStudy(1000, 26, true);
  const Study floats = MakeStudy(1000, 32, false);
  const auto names = importance::EvaluatorNames();
  for (const std::string name :
       {"forest", "levels", "levels_only", "fanova-optuna", "mdi"}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    clock.Figure("main_s." + floats.size + "." + name, floats,
                 Asked(name, false, false));
    // 26 modules of seven columns: half a minute, and more with intervals.
    if (name == "fanova-optuna" && bench.quick()) continue;
    clock.Figure("main_s." + levels.size + "." + name, levels,
                 Asked(name, false, false));
    if (name == "fanova-optuna" || name == "mdi") continue;
    clock.Figure("pairs_s." + levels.size + "." + name, levels,
                 Asked(name, true, false));
  }
  const Study many = MakeStudy(10000, 32, false);
  clock.Figure("ped_s." + many.size, many, Asked("ped-anova", false, false));
  clock.Figure("ped_s." + many.size + ".ci", many,
               Asked("ped-anova", false, true));
}

void MeasureThreads(const Bench& bench, const Clock& clock) {
  const Study study = MakeStudy(1000, 26, true);
  const auto names = importance::EvaluatorNames();
  for (const std::string name : {"", "forest"}) {
    if (!name.empty() &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      continue;
    }
    importance::EvaluateOptions options = Asked(name, true, true);
    options.threads = 1;
    const double one = clock.Median(study, options);
    options.threads = 2;
    bench.Figure(
        "threads2_over_1.full." + study.size + (name.empty() ? "" : "." + name),
        clock.Median(study, options) / one);
  }
}

// One report with its verdict, as a person sees it.
double ReportSecondsOf(const Study& study) {
  const auto start = std::chrono::steady_clock::now();
  const auto report =
      importance::Evaluate(study.space, {{"loss", Direction::kMinimize}},
                           study.history, Asked("", true, true));
  if (!report.ok()) {
    throw std::runtime_error(std::string(report.status().message()));
  }
  Keep(importance::ReportVerdict(study.space, *report));
  const std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  return spent.count();
}

void MeasureReports(const Bench& bench) {
  constexpr std::pair<int, int> kSizes[] = {
      {36, 7}, {200, 14}, {1000, 14}, {1000, 26}};
  for (const auto& [trials, parameters] : kSizes) {
    bench.Figure(absl::StrCat("report_s.n", trials, ".d", parameters),
                 ReportSecondsOf(MakeStudy(trials, parameters, true)));
  }
}

void MeasureRefresh(const Bench& bench, const Clock& clock) {
  for (const int trials : {100, 1000, 10000}) {
    if (bench.quick() && trials > 1000) continue;
    Study study = MakeStudy(trials, 26, true);
    Rng rng(7);
    const Point point =
        sampler::DrawPoint(study.space, sampler::kFrozenShare, rng);
    study.history.Put(
        importance::Succeeded(trials, point, Target(point, 6.0, rng)));
    const std::string size = "n" + std::to_string(trials);
    bench.Figure("refresh_ms." + size,
                 1000.0 * clock.Median(study, Asked("", false, false)));
  }
}

void MeasureMany(const Bench& bench) {
  if (bench.quick()) return;
  const Study study = MakeStudy(10000, 500, false);
  for (const std::string& name : importance::EvaluatorNames()) {
    // A forest of columns sorts all numbers at every node: minutes.
    if (name == "fanova-optuna" || name == "mdi") continue;
    bench.Figure("many_s.n10000.d500." + name,
                 SecondsOf(study, Asked(name, false, false)));
  }
}

void MeasureMemory(const Bench& bench) {
  std::vector<int> sizes = {1000};
  if (!bench.quick()) sizes.push_back(5000);
  for (const int trials : sizes) {
    const Study study = MakeStudy(trials, 26, true);
    for (const bool pairs : {false, true}) {
      const long long before = live_bytes.load();
      most_bytes.store(before);
      SecondsOf(study, Asked("", pairs, pairs));
      bench.Figure(
          "memory_mib." + std::string(pairs ? "full." : "main.") + study.size,
          static_cast<double>(most_bytes.load() - before) / kMib);
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(
      argc, argv, "", [](const frostline::bench::Bench& bench) {
        const frostline::bench::Clock clock(bench);
        frostline::bench::MeasureDefault(bench, clock);
        frostline::bench::MeasureOthers(bench, clock);
        frostline::bench::MeasureThreads(bench, clock);
        frostline::bench::MeasureReports(bench);
        frostline::bench::MeasureRefresh(bench, clock);
        frostline::bench::MeasureMany(bench);
        frostline::bench::MeasureMemory(bench);
      });
}
