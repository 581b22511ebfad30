// SPDX-License-Identifier: Apache-2.0
//
// What one more report, or one more result, costs in a study that has a hundred
// thousand trials: the judgement, and the set of the best. No coordinator runs.
#include <chrono>

#include "sampler/pruner/pruner.h"
#include "server/ledger/study_book.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

constexpr std::int64_t kTrials = 100'000;
constexpr std::int64_t kSteps = 10;

// Spread over [0, 1) without order.
double Spread(std::int64_t i) {
  return static_cast<double>(i * 7919 % kTrials) / static_cast<double>(kTrials);
}

Observation Begun(std::int64_t number) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kRunning;
  return trial;
}

frostline::History Grown() {
  frostline::History history;
  for (std::int64_t n = 0; n < kTrials; ++n) {
    history.Put(Begun(n));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      history.Append(n, {.step = step, .value = Spread(n + step)});
    }
    history.Amend(n, [n](Observation& trial) {
      trial.state = TrialState::kSucceeded;
      trial.values = {Spread(n)};
    });
  }
  return history;
}

template <typename Unit>
double Took(const ServiceBench& bench, SteadyTime begin, std::int64_t times) {
  const std::chrono::duration<double, Unit> spent =
      bench.clock().Steady() - begin;
  return spent.count() / static_cast<double>(times);
}

// Trials report and succeed one after the other.
void MeasureMedian(ServiceBench& bench) {
  frostline::History history = Grown();
  const auto pruner = sampler::MakePruner({.name = "median", .options = {}},
                                          {{"loss", Direction::kMinimize}});
  Demand(pruner.status(), "making a pruner");
  (*pruner)->Judge(history, 0);  // reads what there is
  constexpr std::int64_t kMore = 1'000;
  std::int64_t pruned = 0;
  const SteadyTime begin = bench.clock().Steady();
  for (std::int64_t n = kTrials; n < kTrials + kMore; ++n) {
    history.Put(Begun(n));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      history.Append(n, {.step = step, .value = Spread(n + step)});
      pruned += (*pruner)->Judge(history, n).prune ? 1 : 0;
    }
    history.Amend(n, [](Observation& trial) {
      trial.state = TrialState::kSucceeded;
      trial.values = {0.5};
    });
  }
  const double us = Took<std::micro>(bench, begin, kMore * kSteps);
  if (pruned == 0) Demand(absl::InternalError("nobody"), "pruning");
  bench.Figure("report_us.median.n100k", us);
}

// Nobody dominates anybody, which is the worst case.
void MeasurePareto(ServiceBench& bench) {
  server::BestTrials best(
      {{"accuracy", Direction::kMaximize}, {"seconds", Direction::kMinimize}});
  const SteadyTime begin = bench.clock().Steady();
  for (std::int64_t n = 0; n < kTrials; ++n) {
    best.Offer(n, {Spread(n), Spread(n)});
  }
  bench.Figure("pareto_ms.n100k.o2", Took<std::milli>(bench, begin, kTrials));
}

}  // namespace

void MeasureJudging(ServiceBench& bench) {
  MeasureMedian(bench);
  MeasurePareto(bench);
}

}  // namespace frostline::bench
