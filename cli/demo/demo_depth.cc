// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_depth.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/demo/demo_follow.h"
#include "cli/demo/demo_recipe.h"
#include "cli/study_file/study_file.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "cli/view/usage_view.h"

namespace frostline::cli {
namespace {

absl::StatusOr<v1::Study> CreateDepthStudy(Client& client, int trials) {
  ASSIGN_OR_RETURN(const StudyFile file,
                   ParseStudyFile(kDepthRecipe, "recipes/demo/depth.yaml"));
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(file.id);
  *request.mutable_spec() = file.spec;
  *request.mutable_settings() = file.settings;
  v1::Budget& budget = *request.mutable_settings()->mutable_budget();
  if (trials > 0) {
    budget.set_trials(std::min<std::int64_t>(budget.trials(), trials));
  }
  const auto there = FetchStudy(client, StudyNameOf(file.id));
  if (there.ok()) *request.mutable_settings() = there->settings();
  const auto reply = client.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!reply.ok()) return PlaceError(reply.status(), file);
  std::cout << RenderPlanInShort(*reply) << std::flush;
  return reply->study();
}

// "prefix_depth 3, above 0.0003".
std::string PointText(const v1::Trial& trial) {
  std::string text;
  for (const v1::ParameterValue& value : trial.parameters()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", value.name(), " ",
                    FormatValue(value.value()));
  }
  return text;
}

}  // namespace

absl::Status ShowDepths(Client& client, int trials, LocalFleet& fleet,
                        StopSignals& signals, const Terminal& terminal) {
  std::cout << "\nA second, short study: how deep can one freeze? Its trials "
               "share what is frozen.\n";
  ASSIGN_OR_RETURN(v1::Study study, CreateDepthStudy(client, trials));
  DemoTimes times = {SystemClock().Steady(), std::nullopt,
                     SystemClock().Steady()};
  ASSIGN_OR_RETURN(study, FollowDemo(client, std::move(study), fleet, signals,
                                     terminal, times));
  ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
  if (best.has_value()) {
    std::cout << "best trial " << best->number() << ": "
              << ObjectiveText(*best, study.spec()) << " at "
              << PointText(*best) << "\n";
  }
  std::cout << UsageLines(study.usage()) << "\n" << std::flush;
  return absl::OkStatus();
}

}  // namespace frostline::cli
