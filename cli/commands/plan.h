// SPDX-License-Identifier: Apache-2.0
//
// File: plan.h
#ifndef FROSTLINE_CLI_COMMANDS_PLAN_H_
#define FROSTLINE_CLI_COMMANDS_PLAN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/process/child_process.h"
#include "cli/term/terminal.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

struct PlanAsked {
  std::string study;  // "studies/imdb"
  v1::ImportanceOptions options;
  double tolerance = 0.0;
  Terminal terminal = {};  // shows that a call is under way
};

// They run before the sampler's. The budget grows by what it lacks, and a
// completed study goes on; the answer says so.
absl::StatusOr<v1::EnqueueTrialsReply> EnqueuePlanned(
    Client& client, const std::string& study,
    const std::vector<v1::EnqueuedTrial>& trials);

std::string EnqueuedText(const v1::EnqueueTrialsReply& reply);

// Enqueues the plan too, each with so many seeds.
absl::StatusOr<v1::EnqueueTrialsReply> EnqueueRivals(Client& client,
                                                     const PlanAsked& plan,
                                                     int seeds);

// Fetches what came of those enqueued last, if any.
absl::StatusOr<std::optional<v1::PlanVerification>> FetchVerification(
    Client& client, const std::string& study);

// Waits until all have ended. `look` is called now and then and ends the wait
// with its error. Ctrl-C is CANCELLED.
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
  OutputFlags output;
};

// They show it in the form and at the place that `args` name; `width` is a
// table's.
absl::Status ShowPlan(Client& client, const PlanArgs& args,
                      const PlanAsked& plan, int width);
absl::Status ShowFrontier(Client& client, const PlanArgs& args,
                          const PlanAsked& plan, int width);
absl::Status ShowAsked(Client& client, const PlanArgs& args,
                       const PlanAsked& plan, int width);
// Shows the last verification, enqueued where there is none, or anew. It waits
// for its end where `signals` is given.
absl::Status ShowVerification(Session& session, Client& client,
                              const PlanArgs& args, const PlanAsked& plan,
                              int width, StopSignals* signals);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_PLAN_H_
