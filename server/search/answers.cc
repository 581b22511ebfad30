// SPDX-License-Identifier: Apache-2.0
#include "server/search/answers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "importance/plan/frontier.h"
#include "importance/plan/plan_trials.h"
#include "importance/plan/study_plan.h"
#include "sampler/purpose.h"

namespace frostline::server {
namespace {

// Where in the golden ratio's turns a study's share begins.
constexpr double kDealStart = 0.0;

importance::PlanOptions OptionsWith(const std::stop_token& stop) {
  importance::PlanOptions options;
  options.evaluate.threads = 1;  // beside the samplers of other studies
  options.evaluate.stop = stop;
  return options;
}

}  // namespace

bool IsForAnswer(const CheckedStudy& study, std::int64_t number) {
  return study.sampler.purpose == Purpose::kBoth && number >= kFirstAnswer &&
         number < kMostAsked &&
         sampler::IsDealt(number, kAnswerShare, kDealStart) &&
         sampler::ServesPurpose(study.sampler, study.space, study.objectives);
}

absl::StatusOr<std::optional<Point>> PointForAnswer(
    const CheckedStudy& study, const History& history,
    const std::stop_token& stop) {
  const auto asked = importance::AskTrials(
      study.space, study.objectives, history, OptionsWith(stop), /*count=*/1);
  if (absl::IsCancelled(asked.status())) return asked.status();
  // Too few trials, all of them alike, no module to switch: nothing to ask.
  if (!asked.ok() || asked->empty()) return std::nullopt;
  return (*asked)[0].point;
}

absl::StatusOr<std::string> FindAnswer(const CheckedStudy& study,
                                       const History& history,
                                       const std::stop_token& stop) {
  const v1::FrontierKnown& asked = study.settings.stop_when().frontier();
  if (!study.settings.stop_when().has_frontier()) return "";
  const auto ended = std::count_if(
      history.trials().begin(), history.trials().end(),
      [](const Observation& trial) { return IsTerminal(trial.state); });
  if (ended < kFirstAnswer) return "";
  importance::PlanOptions options = OptionsWith(stop);
  options.tolerance = asked.tolerance();
  const auto frontier =
      importance::MakeFrontier(study.space, study.objectives, history, options);
  if (absl::IsCancelled(frontier.status())) return frontier.status();
  if (!frontier.ok()) return "";  // as where all trials are alike
  const double probability = asked.probability() == 0.0
                                 ? importance::kSureEnough
                                 : asked.probability();
  const importance::FrontierSet* const set =
      importance::FindSettledSet(*frontier, probability);
  if (set == nullptr) return "";
  return importance::SayEnough(*frontier, *set, study.objectives[0].metric);
}

}  // namespace frostline::server
