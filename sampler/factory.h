// SPDX-License-Identifier: Apache-2.0
//
// File: factory.h
//
// Which sampler proposes for a study, by its name, and how many trials at a
// time teach it.
#ifndef FROSTLINE_SAMPLER_FACTORY_H_
#define FROSTLINE_SAMPLER_FACTORY_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/memory.h"
#include "sampler/sampler.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

struct SamplerSpec {
  std::string name = "tpe";
  std::map<std::string, std::string> options;
  std::uint64_t seed = 0;
  // Changes nothing if ServesPurpose says no.
  Purpose purpose = Purpose::kBest;
  // The most that a point may take, in mebibytes (memory.h).
  double memory_limit = kNoMemoryLimit;
};

// Makes a sampler. Fails with SAMPLER_INVALID for an unknown name or option,
// and with SPACE_TOO_LARGE if the space does not fit; both say what to do
// instead.
absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const SamplerSpec& spec, const Space& space,
    const std::vector<Objective>& objectives,
    std::vector<PriorStudy> prior_studies = {});

// Says whether a purpose other than `best` changes what is proposed.
bool ServesPurpose(const SamplerSpec& spec, const Space& space,
                   const std::vector<Objective>& objectives);

std::vector<std::string> SamplerNames();

// A proposal made beside p - 1 others knows the results of n trials and not of
// those p - 1; one made alone would have known all. With p at most half of n it
// knows two thirds or more of what it could; that share is chosen, not
// measured. Before there is a result, as many as the sampler draws without
// looking lose nothing at all:
//
//   teaching = max(startup, n / 2), useful = min(left, teaching)
//
// What does not look at results (random, qmc, grid, brute, and trials chosen
// for what they tell) learns nothing from waiting: it can use all that are
// left.
//
//   200 trials of levels-gp, 13 modules: 14 at first, 50 after 100 results

struct TrialCounts {
  std::int64_t results = 0;  // ended with a value, or pruned
  std::int64_t ended = 0;    // in whatever way
  std::int64_t budget = 0;
};

// Returns how many trials at a time teach the sampler; any further one begins
// blind. It rises with results, and is kNoLimit if the sampler ignores them.
// Both functions are pure, and cheap.
inline constexpr std::int64_t kNoLimit =
    std::numeric_limits<std::int64_t>::max();
std::int64_t TeachingParallelism(const SamplerSpec& spec, const Space& space,
                                 const std::vector<Objective>& objectives,
                                 std::int64_t results);

// The same, but no more than there are trials, or points, left.
std::int64_t UsefulParallelism(const SamplerSpec& spec, const Space& space,
                               const std::vector<Objective>& objectives,
                               const TrialCounts& trials);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_FACTORY_H_
