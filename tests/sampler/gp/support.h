// SPDX-License-Identifier: Apache-2.0
//
// File: support.h
//
// Spaces and little studies for the tests of the Gaussian process.
#ifndef FROSTLINE_TESTS_SAMPLER_GP_SUPPORT_H_
#define FROSTLINE_TESTS_SAMPLER_GP_SUPPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sampler/factory.h"
#include "sampler/gp/levels.h"

namespace frostline::sampler {

inline const Levels kSevenLevels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}};

inline Space SpaceOf(const std::vector<Domain>& domains) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    parameters.push_back({"p" + std::to_string(i), domains[i], {}});
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

inline Space SevenLevelModules(std::size_t modules) {
  return SpaceOf(std::vector<Domain>(modules, kSevenLevels));
}

// A study that a test runs by hand: asks, and tells what it likes.
struct LittleStudy {
  Space space;
  std::vector<Objective> objectives = {{"loss", Direction::kMinimize}};
  std::unique_ptr<Sampler> sampler;
  History history;
  std::uint64_t seed = 1;

  LittleStudy(Space of, std::map<std::string, std::string> options = {},
              std::vector<PriorStudy> earlier = {})
      : space(std::move(of)),
        sampler(*MakeSampler({.name = "levels-gp", .options = options}, space,
                             objectives, std::move(earlier))) {}

  std::int64_t next() const {
    return static_cast<std::int64_t>(history.size());
  }
  Point Ask() {
    Rng rng(seed, static_cast<std::uint64_t>(next()));
    return *sampler->Propose(history, next(), rng);
  }
  void Tell(const Point& point, TrialState state, std::vector<double> values) {
    Observation trial;
    trial.number = next();
    trial.state = state;
    trial.point = point;
    trial.values = std::move(values);
    history.Put(std::move(trial));
  }
  // Runs `trials` trials of `loss`; the best.
  double Run(int trials, const std::function<double(const Point&)>& loss) {
    double best = 1e300;
    for (int i = 0; i < trials; ++i) {
      const Point point = Ask();
      best = std::min(best, loss(point));
      Tell(point, TrialState::kSucceeded, {loss(point)});
    }
    return best;
  }
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_TESTS_SAMPLER_GP_SUPPORT_H_
