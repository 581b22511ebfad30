// SPDX-License-Identifier: Apache-2.0
//
// File: sampler_contract.h
//
// What every sampler promises, whatever its name (sampler/sampler.h). Each
// function makes one promise true or fails the running test; the suite in
// sampler_contract_test.cc runs all of them on all names the factory knows.
#ifndef FROSTLINE_TESTS_CONTRACT_SAMPLER_CONTRACT_H_
#define FROSTLINE_TESTS_CONTRACT_SAMPLER_CONTRACT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "sampler/factory.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::test {

// A space, a history to go with it, and how to make samplers for both.
struct SamplerCase {
  std::string name;
  Purpose purpose;
  sampler::Options options;
  Rng rng;
  Space space;
  std::vector<Objective> objectives;
  History history;
  std::vector<sampler::PriorStudy> priors;

  // Some samplers only take finite spaces or several objectives; they are only
  // given such.
  SamplerCase(const std::string& sampler, std::uint64_t seed,
              Purpose what_for = Purpose::kBest)
      : name(sampler),
        purpose(what_for),
        rng(seed),
        space(sampler::OddSpace(rng, sampler == "grid" || sampler == "brute")),
        objectives(sampler::OddObjectives(rng)) {
    if (sampler == "motpe" && objectives.size() == 1) {
      objectives.push_back({"seconds", Direction::kMinimize});
    }
    // With several objectives a purpose changes nothing.
    if (purpose != Purpose::kBest) objectives.resize(1);
  }

  void Grow(int trials) {
    history = sampler::OddHistory(space, objectives.size(), trials, rng);
  }
  std::unique_ptr<sampler::Sampler> Make() const {
    auto made = sampler::MakeSampler(
        {.name = name, .options = options, .purpose = purpose}, space,
        objectives, priors);
    EXPECT_OK(made);
    return made.ok() ? *std::move(made) : nullptr;
  }
  // A covered space has no more points; that is no broken promise.
  absl::StatusOr<Point> Propose(sampler::Sampler& sampler,
                                std::int64_t number) const {
    Rng stream(17, static_cast<std::uint64_t>(number));
    auto point = sampler.Propose(history, number, stream);
    if (!point.ok()) {
      EXPECT_THAT(point, FailsWith(ErrorId::kSpaceExhausted));
    }
    return point;
  }
};

inline bool SameProposal(const absl::StatusOr<Point>& a,
                         const absl::StatusOr<Point>& b) {
  if (!a.ok() || !b.ok()) return a.ok() == b.ok();
  return SamePoint(*a, *b);
}

// Every proposal is a point of the space, whatever the history holds.
void ProposesPointsOfTheSpace(SamplerCase& one);

// A sampler that has seen the history grow proposes what a fresh one does.
void RemembersNothingButTheHistory(SamplerCase& one);

// One that is stopped says so, and proposes afterwards what a fresh one does.
void AStopChangesNoLaterProposal(SamplerCase& one);

// Proposals made at once, each seen as running by the next, are all valid.
void ServesTrialsInParallel(SamplerCase& one);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_SAMPLER_CONTRACT_H_
