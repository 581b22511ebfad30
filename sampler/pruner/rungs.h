// SPDX-License-Identifier: Apache-2.0
//
// File: rungs.h
//
// Successive halving: ladders of rungs that trials climb in the order in which
// they report, alone (asha) or several side by side (hyperband).
#ifndef FROSTLINE_SAMPLER_PRUNER_RUNGS_H_
#define FROSTLINE_SAMPLER_PRUNER_RUNGS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sampler/pruner/pruner.h"
#include "sampler/sampler.h"
#include "study/history.h"

namespace frostline::sampler {

// The rules of a ladder. Its rungs are those of successive halving (Jamieson
// and Talwalkar, AISTATS 2016), with r_0 = min_resource, eta = reduction and s
// = early_stopping_rate:
//
//   rung k is at step r_0 eta^(s + k); the best 1 / eta of a rung go on
//
//   min_resource 1, reduction 4: rungs at steps 1, 4, 16, 64, …
struct LadderRules {
  std::int64_t min_resource = 1;
  std::int64_t reduction = 4;
  std::int64_t early_stopping_rate = 0;
  std::int64_t bootstrap_count = 0;
};

// The losses of a trial at the rungs it has completed, lowest rung first.
using Climb = std::vector<double>;

// A ladder of rungs, with the losses of the trials that have completed each
// rung. It decides who may go on from there.
class Ladder {
 public:
  explicit Ladder(const LadderRules& rules) : rules_(rules) {}

  // The trial completes every rung up to `step` from which it may go on; the
  // answer says why it may not go on from one. Each costs O(trials at a rung).
  PruneDecision Enter(std::int64_t step, double loss, Climb& climb);

  // Forgets that the trial was ever there.
  void Remove(Climb& climb);

 private:
  bool HasReached(std::int64_t step, std::size_t rung) const;

  LadderRules rules_;
  std::vector<std::vector<double>> rungs_;  // losses, the lowest first
};

// The functions of a pruner that ReportLog calls: for each report and end of a
// trial, in the order in which they happened.
class ReportReader {
 public:
  virtual ~ReportReader() = default;

  // trial.intermediate[index] was reported. Do not look at later values or the
  // state: they are as of now.
  virtual void OnReport(const Observation& trial, std::size_t index) = 0;
  virtual void OnSuccess(const Observation& trial) = 0;
  // Another attempt begins: what was told is void.
  virtual void OnRestart(const Observation& trial) = 0;
  // The history is another one: all that was told is void.
  virtual void OnAnew() = 0;
};

// A reader of a history's change log that tells its changes as reports and
// ends. A late reader is told the same, provided that each report was a change
// of its own. Each pruner to which the order matters owns one.
class ReportLog {
 public:
  // Tells each thing once, in O(changes since the last call).
  void CatchUp(const History& history, ReportReader& reader);

 private:
  struct Told {
    std::size_t reports = 0;
    std::uint32_t curves_before = 0;
    bool ended = false;
  };

  // Counts the reports there were when `later` changes were still to come.
  static std::size_t CountReports(const Observation& trial, std::size_t later);
  static void Tell(const Observation& trial, std::size_t later, Told& told,
                   ReportReader& reader);

  std::int64_t revision_ = 0;
  std::vector<Told> told_;  // as History::trials()
};

// A pruner whose trials climb ladders in the order in which they report. A
// trial that was refused at a rung stays refused. Its subclasses say which
// ladders there are.
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

// Asynchronous successive halving (Li et al., MLSys 2020) stops trials here:
// one goes on from a rung while it is among the best 1 / reduction_factor of
// those that have come there. Rung k is at step
//
//   min_resource * reduction_factor ^ (min_early_stopping_rate + k)
absl::StatusOr<std::unique_ptr<Pruner>> MakeAshaPruner(
    const PrunerSpec& spec, const Objective& objective);

// Hyperband deals trials out at random in effect, in fixed shares, always the
// same way for one study and number.

// Returns floor(log(max / min, reduction)) + 1, in floating point. REQUIRES: 1
// <= min_resource <= max_resource, reduction >= 2.
std::size_t CountBrackets(std::int64_t min_resource, std::int64_t max_resource,
                          std::int64_t reduction);

// Counts the trials of each bracket out of the sum of all.
std::vector<std::int64_t> BracketShares(std::size_t brackets,
                                        std::int64_t reduction);

// REQUIRES: shares come from BracketShares.
std::size_t BracketOf(std::string_view study, std::int64_t number,
                      const std::vector<std::int64_t>& shares);

// Hyperband (Li et al., JMLR 18, 2018) has several ladders of rungs side by
// side, the first one stopping earliest. A trial competes within its
// bracket.
absl::StatusOr<std::unique_ptr<Pruner>> MakeHyperbandPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_RUNGS_H_
