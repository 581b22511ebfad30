// SPDX-License-Identifier: Apache-2.0
//
// File: plan.h
#ifndef FROSTLINE_CLI_COMMANDS_PLAN_H_
#define FROSTLINE_CLI_COMMANDS_PLAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/term/terminal.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// A question about the plan of a study.
struct PlanAsked {
  std::string study;  // "studies/imdb"
  v1::ImportanceOptions options;
  double tolerance = 0.0;
  Terminal terminal = {};  // for the line about a running call
};

// Enqueues trials, which run before those of the sampler. If the budget is too
// small, it grows, and a completed study becomes active again; the answer says
// so.
absl::StatusOr<v1::EnqueueTrialsReply> EnqueuePlanned(
    Client& client, const std::string& study,
    const std::vector<v1::EnqueuedTrial>& trials);

std::string EnqueuedText(const v1::EnqueueTrialsReply& reply);

// Enqueues the plan and its rivals, each with this many seeds.
absl::StatusOr<v1::EnqueueTrialsReply> EnqueueRivals(Client& client,
                                                     const PlanAsked& plan,
                                                     int seeds);

// Fetches the result of the verification that was enqueued last, if any.
absl::StatusOr<std::optional<v1::PlanVerification>> FetchVerification(
    Client& client, const std::string& study);

// Waits until all trials of the verification have ended. Calls `look` now and
// then; an error from it ends the wait. Returns CANCELLED on Ctrl-C.
absl::StatusOr<v1::PlanVerification> AwaitVerification(
    Client& client, const std::string& study, StopSignals& signals,
    const std::function<absl::Status(const v1::PlanVerification&)>& look);

struct PlanArgs {
  std::string study;
  QuestionFlags question;
  double tolerance = 0.0;
  bool frontier = false;
  int ask = 0;
  bool verify = false;
  int seeds = 3;
  bool wait = false;
  bool anew = false;
  bool enqueue = false;
  std::string tool;  // empty: the plan in our own words
  Output output;
};

// These show the plan or the frontier in the format and at the place that
// `args` name. `width` is the width of a table.
absl::Status ShowPlan(Client& client, const PlanArgs& args,
                      const PlanAsked& plan, int width);
absl::Status ShowFrontier(Client& client, const PlanArgs& args,
                          const PlanAsked& plan, int width);
absl::Status ShowAsked(Client& client, const PlanArgs& args,
                       const PlanAsked& plan, int width);
// Shows the last verification. Enqueues one if there is none or `args` ask for
// a new one. If `signals` is given, it waits until the verification ends.
absl::Status ShowVerification(Session& session, Client& client,
                              const PlanArgs& args, const PlanAsked& plan,
                              int width, StopSignals* signals);

// The study that runs a plan. It has the settings of the searched study. Its
// trials are only the plan (or the rates of one named trial) and the baselines,
// each with the same seeds.

inline constexpr char kAppliesLabel[] = "applies";  // the searched study

// What the user asks for in a study that runs a plan.
struct AppliedSpec {
  std::string id;
  bool exports = false;  // the best trial exports its model
  // A trial that is run instead of the plan; null means the plan. It also
  // replaces a rival with the same point and takes over that rival's
  // prediction.
  const v1::Trial* named = nullptr;
};

// Builds the request for such a study. `rivals` are those of the searched study
// (GetPlanRivals). Returns REQUEST_INVALID when a model is to be exported that
// transformers does not know.
absl::StatusOr<v1::CreateStudyRequest> ApplyRequest(
    const v1::Study& searched, const v1::GetPlanRivalsReply& rivals,
    const AppliedSpec& applied);

// Returns what such a study tries first: "the plan", "trial 14".
std::string WhatIsTried(const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_PLAN_H_
