// SPDX-License-Identifier: Apache-2.0
//
// File: rungs.h
//
// Trials climb ladders in the order in which they report. A trial that was
// refused at a rung stays refused.
#ifndef FROSTLINE_SAMPLER_PRUNER_RUNGS_H_
#define FROSTLINE_SAMPLER_PRUNER_RUNGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sampler/options.h"
#include "sampler/pruner/ladder.h"
#include "sampler/pruner/pruner.h"
#include "sampler/pruner/report_log.h"

namespace frostline::sampler {

class RungPruner : public Pruner, private ReportReader {
 public:
  explicit RungPruner(Objective objective) : objective_(std::move(objective)) {}

  PruneDecision Judge(const History& history, std::int64_t number) override;

 protected:
  // Returns the rules of each bracket's ladder; these are empty, and asked
  // again at the next report, while they cannot be known. `longest` is the last
  // step among the trials that have succeeded.
  virtual std::vector<LadderRules> Plan(
      std::optional<std::int64_t> longest) const = 0;
  // The bracket is in [0, brackets).
  virtual std::size_t BracketOf(std::int64_t number,
                                std::size_t brackets) const = 0;

 private:
  struct Climber {
    Climb climb;
    PruneDecision decision;
  };

  void OnReport(const Observation& trial, std::size_t index) override;
  void OnSuccess(const Observation& trial) override;
  void OnRestart(const Observation& trial) override;
  void OnAnew() override;

  Objective objective_;
  ReportLog log_;
  std::optional<std::int64_t> longest_;
  std::vector<Ladder> ladders_;  // one a bracket
  std::unordered_map<std::int64_t, Climber> climbers_;
};

// Resources are steps.
inline constexpr std::int64_t kMostResource = 1'000'000'000'000;

// Reads "auto", the default, or a whole number from 1.
std::optional<std::int64_t> ReadResource(OptionReader& reader,
                                         const Options& options,
                                         const std::string& name);

// Refuses bootstrap_count while `resource` is to be found out.
absl::Status CheckBootstrap(const PrunerSpec& spec, std::int64_t count,
                            const std::string& resource);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_RUNGS_H_
