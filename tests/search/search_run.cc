// SPDX-License-Identifier: Apache-2.0
#include "tests/search/search_run.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
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

}  // namespace frostline::test
