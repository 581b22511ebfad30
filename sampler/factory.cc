// SPDX-License-Identifier: Apache-2.0
#include "sampler/factory.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/error.h"
#include "sampler/auto.h"
#include "sampler/draw/finite.h"
#include "sampler/draw/qmc.h"
#include "sampler/draw/random.h"
#include "sampler/fitting.h"
#include "sampler/gp/levels_gp.h"
#include "sampler/purpose.h"
#include "sampler/sampler.h"
#include "sampler/tpe/tpe.h"
#include "sampler/tpe/tpe_model.h"

namespace frostline::sampler {
namespace {

struct SamplerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<Sampler>> (*make)(const SamplerInput& input);
};

// Sorted by name. A new sampler is one row here and one pair of files.
constexpr std::array kSamplers = {
    SamplerKind{"auto", MakeAutoSampler},
    SamplerKind{"brute", MakeBruteForceSampler},
    SamplerKind{"grid", MakeGridSampler},
    SamplerKind{"levels-gp", MakeLevelsGpSampler},
    SamplerKind{"motpe", MakeMotpeSampler},
    SamplerKind{"qmc", MakeQmcSampler},
    SamplerKind{"random", MakeRandomSampler},
    SamplerKind{"tpe", MakeTpeSampler},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const SamplerSpec& spec, const Space& space,
    const std::vector<Objective>& objectives,
    std::vector<PriorStudy> prior_studies) {
  const SamplerInput input{.options = spec.options,
                           .space = space,
                           .objectives = objectives,
                           .prior_studies = std::move(prior_studies),
                           .study_seed = spec.seed};
  for (const SamplerKind& kind : kSamplers) {
    if (spec.name != kind.name) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<Sampler> sampler, kind.make(input));
    if (spec.purpose != Purpose::kBest && CanServePurpose(spec.name, input)) {
      sampler = MakePurposeSampler(spec.purpose, input, std::move(sampler));
    }
    // Optuna's to the bit, unless a limit is asked for.
    const bool as_it_is =
        input.options.contains("compat") && spec.memory_limit == kNoMemoryLimit;
    if (as_it_is) return sampler;
    const bool lists = spec.name == "grid" || spec.name == "brute";
    const LooksFor looks_for = lists                ? LooksFor::kItsPoints
                               : spec.name == "qmc" ? LooksFor::kItsSequence
                                                    : LooksFor::kResults;
    return MakeFittingSampler(
        space, spec.memory_limit, std::move(sampler), looks_for,
        [make = kind.make, input] { return *make(input); });
  }
  return UnknownName(ErrorId::kSamplerInvalid, "sampler", spec.name,
                     SamplerNames(), "sampler.name");
}

bool ServesPurpose(const SamplerSpec& spec, const Space& space,
                   const std::vector<Objective>& objectives) {
  return CanServePurpose(spec.name, {.options = spec.options,
                                     .space = space,
                                     .objectives = objectives,
                                     .prior_studies = {},
                                     .study_seed = spec.seed});
}

std::vector<std::string> SamplerNames() {
  std::vector<std::string> names;
  names.reserve(kSamplers.size());
  for (const SamplerKind& kind : kSamplers) names.push_back(kind.name);
  return names;
}

namespace {

// Results to each trial that runs: fewer, and too much is proposed blind.
constexpr std::int64_t kResultsForEach = 2;

bool LooksAtResults(const std::string& name) {
  return name == "levels-gp" || name == "tpe" || name == "motpe";
}

// So many trials the sampler draws before it looks at one.
std::int64_t StartupOf(const SamplerSpec& spec, const std::string& name,
                       const Space& space) {
  const std::int64_t usual =
      name == "levels-gp"
          ? UsualStartupOfLevelsGp(space)
          : static_cast<std::int64_t>(TpeOptions().startup_trials);
  constexpr std::int64_t kMostStartup = 1'000'000;
  // Where the option is wrong the study was refused.
  OptionReader reader(ErrorId::kSamplerInvalid, name, "sampler.options",
                      spec.options);
  return reader.Int("startup_trials", usual, 0, kMostStartup);
}

}  // namespace

std::int64_t TeachingParallelism(const SamplerSpec& spec, const Space& space,
                                 const std::vector<Objective>& objectives,
                                 std::int64_t results) {
  const std::string name =
      ResolveSampler(spec.name, spec.options, space, objectives);
  const bool has_purpose =
      spec.purpose != Purpose::kBest && ServesPurpose(spec, space, objectives);
  const bool tells = has_purpose && spec.purpose == Purpose::kUnderstand;
  if (!LooksAtResults(name) || tells) return kNoLimit;
  std::int64_t startup = StartupOf(spec, name, space);
  if (has_purpose) startup = std::max(startup, kDesignTrials);
  return std::max({startup, results / kResultsForEach, std::int64_t{1}});
}

std::int64_t UsefulParallelism(const SamplerSpec& spec, const Space& space,
                               const std::vector<Objective>& objectives,
                               const TrialCounts& trials) {
  const std::string name =
      ResolveSampler(spec.name, spec.options, space, objectives);
  std::int64_t left = std::max<std::int64_t>(trials.budget - trials.ended, 0);
  if (name == "brute" || name == "grid") {  // they end with the space
    const double points =
        space.CountPoints() - static_cast<double>(trials.ended);
    if (points < static_cast<double>(left)) {
      left = static_cast<std::int64_t>(std::max(points, 0.0));
    }
  }
  return std::min(left,
                  TeachingParallelism(spec, space, objectives, trials.results));
}

}  // namespace frostline::sampler
