// SPDX-License-Identifier: Apache-2.0
#include "tests/search/search_run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "sampler/factory.h"

namespace frostline::test {
namespace {

class SearchRun {
 public:
  SearchRun(const SearchObjective& objective, const SearchSetup& setup)
      : objective_(objective),
        setup_(setup),
        luck_(setup.seed, 0x5eed),
        sampler_(Make()) {}

  std::vector<double> Run() {
    std::vector<double> best;
    int started = 0;
    while (static_cast<int>(best.size()) < setup_.trials) {
      while (!covered_ && started < setup_.trials &&
             AtATime() > static_cast<std::int64_t>(running_.size())) {
        if (Start(started)) ++started;
      }
      if (!running_.empty()) EndOne();
      best.push_back(best_true_);
    }
    return best;
  }

 private:
  template <typename T>
  T Made(absl::StatusOr<T> made) const {
    if (made.ok()) return *std::move(made);
    std::cerr << setup_.sampler.name << " on " << objective_.name << ": "
              << std::string(made.status().message()) << "\n";
    std::exit(1);
  }

  std::unique_ptr<sampler::Sampler> Make() const {
    sampler::SamplerSpec spec = setup_.sampler;
    spec.seed = setup_.seed;
    return Made(sampler::MakeSampler(spec, objective_.space,
                                     {{"loss", Direction::kMinimize}}));
  }

  std::int64_t AtATime() const {
    if (!setup_.ramps) return setup_.workers;
    return std::min<std::int64_t>(
        setup_.workers, sampler::TeachingParallelism(
                            setup_.sampler, objective_.space,
                            {{"loss", Direction::kMinimize}}, results_));
  }

  bool Start(int number) {
    Rng rng(setup_.seed, static_cast<std::uint64_t>(number));
    auto point = sampler_->Propose(history_, number, rng);
    covered_ = HasErrorId(point.status(), ErrorId::kSpaceExhausted);
    if (covered_) return false;
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kRunning;
    trial.point = Made(std::move(point));
    history_.Put(trial);
    running_.push_back(std::move(trial));
    return true;
  }

  void EndOne() {
    const std::size_t i = luck_.Below(running_.size());
    Observation trial = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    const bool fails = luck_.Uniform() < setup_.failure_share;
    trial.state = fails ? TrialState::kFailed : TrialState::kSucceeded;
    if (!fails) {
      const double loss = objective_.loss(trial.point);
      const double told = loss + setup_.noise_sd * luck_.Normal();
      ++results_;
      trial.values = {told};
      double broken = 0.0;
      if (objective_.constraint) broken = objective_.constraint(trial.point);
      if (objective_.constraint && setup_.tells_constraint) {
        trial.constraints = {broken};
      }
      if (told < best_told_ && broken <= 0.0) {
        best_told_ = told;
        best_true_ = loss;
      }
    }
    history_.Put(std::move(trial));
  }

  const SearchObjective& objective_;
  const SearchSetup& setup_;
  Rng luck_;
  History history_;
  std::vector<Observation> running_;
  bool covered_ = false;
  std::int64_t results_ = 0;
  double best_told_ = std::numeric_limits<double>::infinity();
  double best_true_ = std::numeric_limits<double>::infinity();
  std::unique_ptr<sampler::Sampler> sampler_;
};

}  // namespace

std::vector<double> RunSearch(const SearchObjective& objective,
                              const SearchSetup& setup) {
  return SearchRun(objective, setup).Run();
}

Sweep RunSweep(const SearchObjective& objective, const SearchSetup& setup,
               int seeds) {
  std::vector<std::vector<double>> runs(static_cast<std::size_t>(seeds));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t seed = next++; seed < runs.size(); seed = next++) {
      SearchSetup one = setup;
      one.trials = 200;
      one.seed = seed;
      runs[seed] = RunSearch(objective, one);
    }
  };
  std::vector<std::thread> threads;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < cores; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  Sweep sweep;
  for (const int trials : {50, 100, 200}) {
    for (const std::vector<double>& best : runs) {
      sweep[trials].push_back(best[static_cast<std::size_t>(trials - 1)]);
    }
  }
  return sweep;
}

double ProbabilityNotGreater(const std::vector<double>& values,
                             const std::vector<double>& others) {
  std::vector<double> all = values;
  all.insert(all.end(), others.begin(), others.end());
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(all.size());
  const auto n1 = static_cast<double>(values.size());
  const auto n2 = static_cast<double>(others.size());
  double wins = 0.0;
  for (const double value : values) {
    for (const double other : others) {
      wins += value > other ? 1.0 : value == other ? 0.5 : 0.0;
    }
  }
  double ties = 0.0;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    const auto t = static_cast<double>(last - first);
    ties += t * (t * t - 1.0);
    first = last;
  }
  const double variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
  if (variance <= 0.0) return 1.0;
  const double z = (wins - n1 * n2 / 2.0 - 0.5) / std::sqrt(variance);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

}  // namespace frostline::test
