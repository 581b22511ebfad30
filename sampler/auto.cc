// SPDX-License-Identifier: Apache-2.0
#include "sampler/auto.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "sampler/draw/finite.h"
#include "sampler/draw/random.h"
#include "sampler/gp/levels_gp.h"
#include "sampler/sampler.h"
#include "sampler/tpe/tpe.h"

namespace frostline::sampler {
namespace {

struct Pick {
  const char* name;
  absl::StatusOr<std::unique_ptr<Sampler>> (*make)(const SamplerInput& input);
};

constexpr std::array kPicks = {
    Pick{"brute", MakeBruteForceSampler},
    Pick{"levels-gp", MakeLevelsGpSampler},
    Pick{"motpe", MakeMotpeSampler},
    Pick{"random", MakeRandomSampler},
    Pick{"tpe", MakeTpeSampler},
};

// As in every space that was measured.
bool IsAllLevels(const Space& space) {
  const auto& parameters = space.parameters();
  return std::all_of(parameters.begin(), parameters.end(),
                     [](const Parameter& one) {
                       return std::holds_alternative<Levels>(one.domain);
                     });
}

}  // namespace

SamplerChoice ChooseSampler(const Space& space,
                            const std::vector<Objective>& objectives,
                            std::int64_t budget_trials) {
  const double points = space.CountPoints();
  if (points <= 1.0) {
    return {"random", "the space has one point, so there is nothing to learn"};
  }
  if (points <= static_cast<double>(budget_trials)) {
    return {"brute",
            absl::StrFormat("the space has %.0f points and the budget is %d "
                            "trials: every point can be tried once",
                            points, budget_trials)};
  }
  if (objectives.size() > 1) {
    return {"motpe",
            "there are several objectives, and it searches the Pareto set"};
  }
  if (space.size() > kMostParametersOfGp) {
    return {"tpe",
            absl::StrFormat("of %d parameters levels-gp was not shown to "
                            "find more than tpe does, at more seconds",
                            space.size())};
  }
  if (!IsAllLevels(space)) {
    return {"levels-gp",
            "it learns from every trial; on a space like this it has not been "
            "measured against the others",
            false};
  }
  // The figures are in docs/measured/search.md; they are of another size.
  return {
      "levels-gp",
      "every parameter has levels, where it came nearer to the best point, in "
      "50 trials and in 100"};
}

std::string ResolveSampler(const std::string& name, const Options& options,
                           const Space& space,
                           const std::vector<Objective>& objectives) {
  std::string resolved = name;
  if (name == "auto") {
    const auto told = options.find(kPickOption);
    resolved = told == options.end() ? ChooseSampler(space, objectives, 0).name
                                     : told->second;
  }
  const bool handed_over =
      resolved == "levels-gp" && !CanServeLevelsGp(space, objectives);
  return handed_over ? "tpe" : resolved;
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeAutoSampler(
    const SamplerInput& input) {
  SamplerInput rest = input;
  const auto told = rest.options.extract(kPickOption);
  const std::string name =
      told.empty() ? ChooseSampler(input.space, input.objectives, 0).name
                   : told.mapped();
  std::vector<std::string> names;
  for (const Pick& pick : kPicks) {
    if (name == pick.name) return pick.make(rest);
    names.emplace_back(pick.name);
  }
  return UnknownName(ErrorId::kSamplerInvalid, "sampler to pick", name, names,
                     "sampler.options.pick");
}

}  // namespace frostline::sampler
