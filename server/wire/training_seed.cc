// SPDX-License-Identifier: Apache-2.0
#include "server/wire/training_seed.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::server {
namespace {

constexpr int kMostRuns = 100;
constexpr int kDefaultLeaders = 3;
// Streams of the study's seed that no sampler draws from.
constexpr std::uint64_t kOfTrials = 1ull << 62;
constexpr std::uint64_t kOfRuns = 1ull << 61;

// Returns a seed that a 32-bit signed integer holds; never 0, which means
// "none".
std::uint64_t Draw(std::uint64_t study_seed, std::uint64_t stream) {
  Rng rng(study_seed, stream);
  return 1 + rng.Below((1ull << 31) - 1);
}

absl::Status Bad(const std::string& cause, const std::string& fix,
                 const std::string& field) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

std::int64_t TrialsToRepeat(const v1::RepeatLeaders& repeat) {
  return std::int64_t{repeat.leaders()} * (repeat.times() - 1);
}

absl::Status CheckListed(const v1::StudySpec& spec) {
  if (spec.seeds() != v1::SEED_MODE_PAIRED) {
    return Bad("training_seeds are listed for runs that are not paired",
               "say seeds: paired, or leave them out", "training_seeds");
  }
  if (spec.training_seeds_size() > kMostRuns) {
    return Bad(absl::StrCat(spec.training_seeds_size(), " seeds are listed"),
               absl::StrCat("list at most ", kMostRuns), "training_seeds");
  }
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : spec.training_seeds()) {
    if (seed != 0 && seen.insert(seed).second) continue;
    return Bad(
        absl::StrCat("training_seeds has ", seed, seed == 0 ? "" : " twice"),
        "list seeds above 0, each once", "training_seeds");
  }
  return absl::OkStatus();
}

absl::Status CheckRepeat(const v1::RepeatLeaders& repeat,
                         const v1::StudySettings& settings) {
  if (repeat.times() < 2 || repeat.times() > kMostRuns) {
    return Bad(absl::StrCat("leading points are to run ", repeat.times(),
                            " times in all"),
               absl::StrCat("give 2 to ", kMostRuns, ", or leave repeat out"),
               "repeat.times");
  }
  if (repeat.leaders() < 0 || repeat.leaders() > kMostRuns) {
    return Bad(absl::StrCat(repeat.leaders(), " points are to lead"),
               absl::StrCat("give 1 to ", kMostRuns, ", or leave it out for ",
                            kDefaultLeaders),
               "repeat.leaders");
  }
  if (repeat.after() < 0) {
    return Bad(absl::StrCat("repeats after trial ", repeat.after()),
               "give 1 or more, or leave it out", "repeat.after");
  }
  if (repeat.after() > 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kBudgetInvalid,
      absl::StrCat("repeating the leaders takes ", TrialsToRepeat(repeat),
                   " trials, all of a budget of ", settings.budget().trials()),
      "raise the budget, or repeat fewer leaders", "repeat");
}

}  // namespace

v1::SeedMode SeedModeOf(const v1::StudySpec& spec) {
  if (spec.seeds() != v1::SEED_MODE_UNSPECIFIED) return spec.seeds();
  return spec.training().seed() != 0 ? v1::SEED_MODE_FIXED
                                     : v1::SEED_MODE_PER_TRIAL;
}

absl::Status CheckSeeds(const v1::StudySpec& spec,
                        const v1::StudySettings& settings) {
  if (!v1::SeedMode_IsValid(spec.seeds())) {
    return Bad("seeds is none of the ways there are",
               "say per_trial, paired or fixed", "seeds");
  }
  const bool fixed = SeedModeOf(spec) == v1::SEED_MODE_FIXED;
  if (spec.training().seed() != 0 && !fixed) {
    return Bad(absl::StrCat("training.seed is ", spec.training().seed(),
                            " for all trials, and seeds asks for others"),
               "leave training.seed out, or seeds", "seeds");
  }
  if (spec.training_seeds_size() > 0) RETURN_IF_ERROR(CheckListed(spec));
  if (!spec.has_repeat()) return absl::OkStatus();
  if (fixed) {
    return Bad(
        "all trials have one seed: a point run again gives its result "
        "again",
        "leave training.seed and seeds: fixed out, or repeat", "repeat");
  }
  return CheckRepeat(spec.repeat(), settings);
}

void FillRepeat(const v1::StudySettings& settings, v1::StudySpec& spec) {
  if (!spec.has_repeat()) return;
  v1::RepeatLeaders& repeat = *spec.mutable_repeat();
  if (repeat.leaders() == 0) repeat.set_leaders(kDefaultLeaders);
  if (repeat.after() != 0) return;
  repeat.set_after(std::max<std::int64_t>(
      0, settings.budget().trials() - TrialsToRepeat(repeat)));
}

RepeatRule RepeatRuleOf(const v1::StudySpec& spec) {
  if (!spec.has_repeat()) return {};
  return {.times = spec.repeat().times(),
          .leaders = spec.repeat().leaders(),
          .after = spec.repeat().after()};
}

bool SharesSeeds(const v1::StudySpec& spec) {
  return SeedModeOf(spec) != v1::SEED_MODE_PER_TRIAL;
}

bool CountsRuns(const v1::StudySpec& spec) {
  return spec.has_repeat() || SeedModeOf(spec) == v1::SEED_MODE_PAIRED;
}

std::uint64_t TrainingSeed(const v1::StudySpec& spec, std::int64_t number,
                           std::int64_t repeat) {
  if (spec.training().seed() != 0) return spec.training().seed();
  switch (SeedModeOf(spec)) {
    case v1::SEED_MODE_PAIRED:
      if (repeat < spec.training_seeds_size()) {
        return spec.training_seeds(static_cast<int>(repeat));
      }
      return Draw(spec.seed(), kOfRuns | static_cast<std::uint64_t>(repeat));
    case v1::SEED_MODE_FIXED:
      return Draw(spec.seed(), kOfRuns);
    default:
      return Draw(spec.seed(), kOfTrials | static_cast<std::uint64_t>(number));
  }
}

void NoteSeed(const NotedSeed& noted, storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  kept.set_seed(noted.seed);
  kept.set_repeat(noted.repeat);
  row.labels = kept.SerializeAsString();
}

NotedSeed NotedSeedOf(const storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  return {.seed = kept.seed(), .repeat = kept.repeat()};
}

std::uint64_t SeedToTrainWith(const storage::TrialRow& row,
                              const v1::StudySpec& spec) {
  const std::uint64_t noted = NotedSeedOf(row).seed;
  if (noted != 0) return noted;
  if (spec.training().seed() != 0) return spec.training().seed();
  // All 64 bits, as earlier versions drew it.
  return Rng(spec.seed(), static_cast<std::uint64_t>(row.number) | kOfTrials)
      .Next();
}

}  // namespace frostline::server
