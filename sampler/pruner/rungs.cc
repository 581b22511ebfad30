// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/rungs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/plain/sums.h"

namespace frostline::sampler {

bool Ladder::HasReached(std::int64_t step, std::size_t rung) const {
  std::int64_t needed = rules_.min_resource;
  const auto times =
      static_cast<std::size_t>(rules_.early_stopping_rate) + rung;
  for (std::size_t i = 0; i < times; ++i) {
    // A rung that no number of steps can name is never reached.
    if (needed > std::numeric_limits<std::int64_t>::max() / rules_.reduction) {
      return false;
    }
    needed *= rules_.reduction;
  }
  return step >= needed;
}

PruneDecision Ladder::Enter(std::int64_t step, double loss, Climb& climb) {
  while (HasReached(step, climb.size())) {
    const std::size_t rung = climb.size();
    if (std::isnan(loss)) {
      return {true, absl::StrFormat("NaN at step %d, rung %d", step, rung)};
    }
    if (rung >= rungs_.size()) rungs_.resize(rung + 1);
    std::vector<double>& losses = rungs_[rung];
    losses.insert(std::upper_bound(losses.begin(), losses.end(), loss), loss);
    climb.push_back(loss);
    const auto count = static_cast<std::int64_t>(losses.size());
    if (count <= rules_.bootstrap_count) {
      return {true, absl::StrFormat("nobody goes on from rung %d before %d "
                                    "have come to it",
                                    rung, rules_.bootstrap_count + 1)};
    }
    const std::int64_t promoted =
        std::max<std::int64_t>(count / rules_.reduction, 1);
    if (loss > losses[static_cast<std::size_t>(promoted - 1)]) {
      return {true, absl::StrFormat("not among the best %d of %d at step %d, "
                                    "rung %d",
                                    promoted, count, step, rung)};
    }
  }
  return {};
}

void Ladder::Remove(Climb& climb) {
  for (std::size_t rung = 0; rung < climb.size(); ++rung) {
    std::vector<double>& losses = rungs_[rung];
    losses.erase(std::lower_bound(losses.begin(), losses.end(), climb[rung]));
  }
  climb.clear();
}

std::size_t ReportLog::CountReports(const Observation& trial,
                                    std::size_t later) {
  const std::size_t reports = trial.intermediate.size();
  // The last change of an ended trial is its end; each one before that is
  // taken to have brought one report.
  const std::size_t end = IsTerminal(trial.state) ? 1 : 0;
  const std::size_t unseen = later < end ? 0 : later - end;
  return unseen < reports ? reports - unseen : 0;
}

void ReportLog::CatchUp(const History& history, ReportReader& reader) {
  if (history.revision() < revision_) {
    revision_ = 0;
    told_.clear();
    reader.OnAnew();
  }
  const auto& changes = history.changes();
  const auto first = static_cast<std::size_t>(revision_);
  std::unordered_map<std::uint32_t, std::size_t> later;
  for (std::size_t i = first; i < changes.size(); ++i) ++later[changes[i]];
  told_.resize(history.size());
  for (std::size_t i = first; i < changes.size(); ++i) {
    const std::uint32_t index = changes[i];
    const Observation& trial = history.trials()[index];
    Told& told = told_[index];
    const std::uint32_t curves_before = history.CurvesBefore(index);
    if (told.curves_before != curves_before) {
      if (told.reports > 0) reader.OnRestart(trial);
      told = {.curves_before = curves_before};
    }
    Tell(trial, --later[index], told, reader);
  }
  revision_ = history.revision();
}

void ReportLog::Tell(const Observation& trial, std::size_t later, Told& told,
                     ReportReader& reader) {
  const std::size_t reports = CountReports(trial, later);
  while (told.reports < reports) reader.OnReport(trial, told.reports++);
  if (later > 0 || told.ended || !IsTerminal(trial.state)) return;
  told.ended = true;
  if (trial.state == TrialState::kSucceeded) reader.OnSuccess(trial);
}

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

namespace {

class AshaPruner final : public RungPruner {
 public:
  AshaPruner(const LadderRules& rules, bool find_resource, Objective objective)
      : RungPruner(std::move(objective)),
        rules_(rules),
        find_resource_(find_resource) {}

 protected:
  std::vector<LadderRules> Plan(
      std::optional<std::int64_t> longest) const override {
    if (!find_resource_) return {rules_};
    if (!longest.has_value()) return {};
    LadderRules found = rules_;
    found.min_resource = std::max<std::int64_t>(*longest / 100, 1);
    return {found};
  }

  std::size_t BracketOf(std::int64_t /*number*/,
                        std::size_t /*brackets*/) const override {
    return 0;
  }

 private:
  LadderRules rules_;
  bool find_resource_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeAshaPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner asha", spec.field,
                      spec.options);
  LadderRules rules;
  const auto min_resource = ReadResource(reader, spec.options, "min_resource");
  rules.min_resource = min_resource.value_or(1);
  rules.reduction = reader.Int("reduction_factor", 4, 2, 1'000'000);
  rules.early_stopping_rate = reader.Int("min_early_stopping_rate", 0, 0, 64);
  rules.bootstrap_count = reader.Int("bootstrap_count", 0, 0, 1'000'000'000);
  RETURN_IF_ERROR(reader.Finish());
  if (!min_resource.has_value()) {
    RETURN_IF_ERROR(
        CheckBootstrap(spec, rules.bootstrap_count, "min_resource"));
  }
  return std::make_unique<AshaPruner>(rules, !min_resource.has_value(),
                                      objective);
}

std::size_t CountBrackets(std::int64_t min_resource, std::int64_t max_resource,
                          std::int64_t reduction) {
  const double ratio =
      static_cast<double>(max_resource) / static_cast<double>(min_resource);
  const double levels =
      std::log(ratio) / std::log(static_cast<double>(reduction));
  return static_cast<std::size_t>(std::floor(levels)) + 1;
}

std::vector<std::int64_t> BracketShares(std::size_t brackets,
                                        std::int64_t reduction) {
  const auto count = static_cast<std::int64_t>(brackets);
  std::vector<std::int64_t> shares(brackets);
  std::int64_t power = 1;
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t sum = count * power;
    shares[static_cast<std::size_t>(count - 1 - s)] = (sum + s) / (s + 1);
    power *= reduction;
  }
  return shares;
}

std::size_t BracketOf(std::string_view study, std::int64_t number,
                      const std::vector<std::int64_t>& shares) {
  const std::int64_t sum =
      std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  const std::string name =
      absl::StrCat(absl::string_view(study.data(), study.size()), "_", number);
  std::int64_t place =
      static_cast<std::int64_t>(Crc32(0, name.data(), name.size())) % sum;
  std::size_t bracket = 0;
  while (place >= shares[bracket]) place -= shares[bracket++];
  return bracket;
}

namespace {

class HyperbandPruner final : public RungPruner {
 public:
  // `rules` are those of the first bracket; no `max_resource`: to be found out.
  HyperbandPruner(const LadderRules& rules,
                  std::optional<std::int64_t> max_resource, std::string study,
                  Objective objective)
      : RungPruner(std::move(objective)),
        rules_(rules),
        max_resource_(max_resource),
        study_(std::move(study)) {}

 protected:
  std::vector<LadderRules> Plan(
      std::optional<std::int64_t> longest) const override {
    if (!max_resource_.has_value() && !longest.has_value()) return {};
    // No step counts for more than an option could say.
    const std::int64_t most = max_resource_.has_value()
                                  ? *max_resource_
                                  : std::min(*longest, kMostResource - 1) + 1;
    // Trials too short for a first rung: nobody can be judged by them.
    if (most < rules_.min_resource) return {};
    std::vector<LadderRules> plan(
        CountBrackets(rules_.min_resource, most, rules_.reduction), rules_);
    for (std::size_t b = 0; b < plan.size(); ++b) {
      plan[b].early_stopping_rate = static_cast<std::int64_t>(b);
    }
    return plan;
  }

  std::size_t BracketOf(std::int64_t number,
                        std::size_t brackets) const override {
    return frostline::sampler::BracketOf(
        study_, number, BracketShares(brackets, rules_.reduction));
  }

 private:
  LadderRules rules_;
  std::optional<std::int64_t> max_resource_;
  std::string study_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeHyperbandPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner hyperband", spec.field,
                      spec.options);
  LadderRules rules;
  rules.min_resource = reader.Int("min_resource", 1, 1, kMostResource);
  const auto max_resource = ReadResource(reader, spec.options, "max_resource");
  rules.reduction = reader.Int("reduction_factor", 3, 2, 1'000'000);
  rules.bootstrap_count = reader.Int("bootstrap_count", 0, 0, 1'000'000'000);
  RETURN_IF_ERROR(reader.Finish());
  if (!max_resource.has_value()) {
    RETURN_IF_ERROR(
        CheckBootstrap(spec, rules.bootstrap_count, "max_resource"));
  } else if (*max_resource < rules.min_resource) {
    return MakeError(
        ErrorId::kPrunerInvalid,
        absl::StrCat("option max_resource of pruner hyperband is ",
                     *max_resource, ", below min_resource, which is ",
                     rules.min_resource),
        "give a max_resource at or above min_resource",
        absl::StrCat(spec.field, ".max_resource"));
  }
  return std::make_unique<HyperbandPruner>(rules, max_resource, spec.study,
                                           objective);
}

}  // namespace frostline::sampler
