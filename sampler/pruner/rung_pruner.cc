// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sampler/pruner/rungs.h"

namespace frostline::sampler {

PruneDecision RungPruner::Judge(const History& history, std::int64_t number) {
  log_.CatchUp(history, *this);
  const Observation* const trial = history.Find(number);
  if (trial == nullptr || IsTerminal(trial->state)) return {};
  const auto climber = climbers_.find(number);
  return climber == climbers_.end() ? PruneDecision{}
                                    : climber->second.decision;
}

void RungPruner::OnReport(const Observation& trial, std::size_t index) {
  if (ladders_.empty()) {
    for (const LadderRules& rules : Plan(longest_))
      ladders_.emplace_back(rules);
    if (ladders_.empty()) return;
  }
  const IntermediateValue& value = trial.intermediate[index];
  Climber& climber = climbers_[trial.number];
  Ladder& ladder = ladders_[BracketOf(trial.number, ladders_.size())];
  PruneDecision decision =
      ladder.Enter(value.step, AsLoss(objective_, value.value), climber.climb);
  if (decision.prune) climber.decision = std::move(decision);
}

void RungPruner::OnSuccess(const Observation& trial) {
  if (trial.intermediate.empty()) return;
  const std::int64_t last = trial.intermediate.back().step;
  longest_ = std::max(longest_.value_or(last), last);
}

void RungPruner::OnRestart(const Observation& trial) {
  const auto climber = climbers_.find(trial.number);
  if (climber == climbers_.end()) return;
  ladders_[BracketOf(trial.number, ladders_.size())].Remove(
      climber->second.climb);
  climbers_.erase(climber);
}

void RungPruner::OnAnew() {
  longest_.reset();
  ladders_.clear();
  climbers_.clear();
}

std::optional<std::int64_t> ReadResource(OptionReader& reader,
                                         const Options& options,
                                         const std::string& name) {
  const auto given = options.find(name);
  if (given == options.end() || given->second == "auto") {
    reader.OneOf(name, "auto", {"auto"});
    return std::nullopt;
  }
  return reader.Int(name, 1, 1, kMostResource);
}

absl::Status CheckBootstrap(const PrunerSpec& spec, std::int64_t count,
                            const std::string& resource) {
  if (count == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kPrunerInvalid,
      absl::StrCat("option bootstrap_count of pruner ", spec.name, " is ",
                   count, " while ", resource, " is to be found out"),
      absl::StrCat("give ", resource, ", or leave bootstrap_count out"),
      absl::StrCat(spec.field, ".bootstrap_count"));
}

}  // namespace frostline::sampler
