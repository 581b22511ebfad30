// SPDX-License-Identifier: Apache-2.0
//
// File: plan_show.h
#ifndef FROSTLINE_CLI_COMMANDS_PLAN_SHOW_H_
#define FROSTLINE_CLI_COMMANDS_PLAN_SHOW_H_

#include <string>

#include "cli/commands/command.h"
#include "cli/commands/importance_flags.h"
#include "cli/commands/plan.h"

namespace frostline::cli {

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

#endif  // FROSTLINE_CLI_COMMANDS_PLAN_SHOW_H_
