// SPDX-License-Identifier: Apache-2.0
//
// What one proposal costs, with n finished trials behind it:
//
//   suggest_p50_ms.nN.dD.levels      D parameters of seven levels; also p99
//   suggest_p50_ms.nN.dD.float       D log-uniform rates
//   suggest_p50_ms.nN.d14.levels-gp  the Gaussian process
//   suggest_growth.dD.KIND           exponent of n, from 1,000 to 100,000
//   bytes_per_trial.dD               history and sampler together
//
// Between two proposals one trial starts and ends, as in a study, so keeping
// the sampler's structures up to date is part of the cost.
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/statistics.h"
#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "tests/bench/bench_main.h"
#include "tests/search/truths.h"

namespace frostline::bench {
namespace {

const std::vector<Objective> kLoss = {{"loss", Direction::kMinimize}};

Space LogUniformRates(int parameters) {
  std::vector<Parameter> made;
  for (int i = 0; i < parameters; ++i) {
    made.push_back(
        {"p" + std::to_string(i), LogUniform{1e-7, 1e-3, false}, {}});
  }
  return Space(std::move(made), {}, std::nullopt);
}

// A bowl over the coordinates' places in their domain, and some noise.
double LossOf(const Point& point, Rng& rng) {
  double sum = 0.1 * rng.Normal();
  for (const double x : point) {
    const double off = x < 1e-2 && x > 0.0 ? std::log10(x) + 4.5 : x - 3.0;
    sum += off * off;
  }
  return sum;
}

class Study {
 public:
  Study(Space space, const std::string& sampler)
      : space_(std::move(space)), luck_(7) {
    auto made =
        sampler::MakeSampler({.name = sampler, .options = {}}, space_, kLoss);
    if (!made.ok()) {
      std::cerr << sampler << ": " << std::string(made.status().message())
                << "\n";
      std::exit(1);
    }
    sampler_ = *std::move(made);
  }

  void GrowTo(std::size_t trials) {
    while (history_.size() < trials)
      End(sampler::DrawPoint(space_, 0.0, luck_));
  }

  // Milliseconds of each of `count` proposals.
  std::vector<double> Propose(int count) {
    using Steady = std::chrono::steady_clock;
    Ask();  // catches up with everything before
    std::vector<double> spent_ms;
    for (int i = 0; i < count; ++i) {
      const Steady::time_point start = Steady::now();
      Point point = Ask();
      const std::chrono::duration<double, std::milli> spent =
          Steady::now() - start;
      spent_ms.push_back(spent.count());
      End(std::move(point));
    }
    return spent_ms;
  }

 private:
  Point Ask() {
    const auto number = static_cast<std::int64_t>(history_.size());
    Rng rng(3, static_cast<std::uint64_t>(number));
    auto point = sampler_->Propose(history_, number, rng);
    if (point.ok()) return *std::move(point);
    std::cerr << std::string(point.status().message()) << "\n";
    std::exit(1);
  }

  void End(Point point) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history_.size());
    trial.state = TrialState::kRunning;
    trial.point = std::move(point);
    history_.Put(trial);
    trial.state = TrialState::kSucceeded;
    trial.values = {LossOf(trial.point, luck_)};
    history_.Put(std::move(trial));
  }

  Space space_;
  Rng luck_;
  History history_;
  std::unique_ptr<sampler::Sampler> sampler_;
};

struct Case {
  std::string sampler;
  Space (*space)(int);
  int parameters;
  std::string kind;
  std::vector<int> sizes;
};

void Measure(const Bench& bench, const Case& one) {
  double p50_at_1000 = 0.0;
  double p50_at_100000 = 0.0;
  Study study(one.space(one.parameters), one.sampler);
  for (const int n : one.sizes) {
    study.GrowTo(static_cast<std::size_t>(n));
    const auto spent = study.Propose(bench.quick() ? 20
                                     : n > 10'000  ? 60
                                                   : 200);
    const std::string size = ".n" + std::to_string(n) + ".d" +
                             std::to_string(one.parameters) + "." + one.kind;
    const double p50 = Quantile(spent, 0.5);
    bench.Figure("suggest_p50_ms" + size, p50);
    bench.Figure("suggest_p99_ms" + size, Quantile(spent, 0.99));
    if (n == 1'000) p50_at_1000 = p50;
    if (n == 100'000) p50_at_100000 = p50;
  }
  if (p50_at_100000 > 0.0) {
    bench.Figure(
        "suggest_growth.d" + std::to_string(one.parameters) + "." + one.kind,
        std::log(p50_at_100000 / p50_at_1000) / std::log(100.0));
  }
}

std::size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void MeasureBytes(const Bench& bench, int parameters) {
  constexpr std::size_t kTrials = 10'000;
  Study study(test::SevenLevels(parameters), "tpe");
  study.GrowTo(100);
  study.Propose(1);
  const std::size_t before = BytesInUse();
  study.GrowTo(100 + kTrials);
  study.Propose(1);
  bench.Figure("bytes_per_trial.d" + std::to_string(parameters),
               static_cast<double>(BytesInUse() - before) / kTrials);
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  using frostline::bench::Case;
  const frostline::bench::Bench bench(argc, argv);
  const std::vector<int> sizes = {100, 1'000, 10'000, 100'000};
  for (const Case& one :
       {Case{"tpe", frostline::test::SevenLevels, 14, "levels", sizes},
        Case{"tpe", frostline::test::SevenLevels, 26, "levels", sizes},
        Case{"tpe", frostline::bench::LogUniformRates, 14, "float", sizes},
        Case{"levels-gp",
             frostline::test::SevenLevels,
             14,
             "levels-gp",
             {200, 1'000}}}) {
    frostline::bench::Measure(bench, one);
  }
  frostline::bench::MeasureBytes(bench, 14);
  frostline::bench::MeasureBytes(bench, 26);
}
