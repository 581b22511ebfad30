// SPDX-License-Identifier: Apache-2.0
//
// File: demo_plan.h
//
// What to try next after a small study: which modules to freeze, and a study
// file that does. A suggestion to be checked by that study, not a finding.
#ifndef FROSTLINE_CLI_DEMO_PLAN_H_
#define FROSTLINE_CLI_DEMO_PLAN_H_

#include <string>
#include <vector>

#include "frostline/v1/importance.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline {

// The objective's mean over trials.
struct TrialMean {
  int trials = 0;
  double mean = 0.0;  // NaN without trials
};

struct NextStep {
  std::string module;
  TrialMean frozen;
  TrialMean trained;
  bool freeze = false;
  std::string reason;
};

// In the report's order. A module is frozen when lower rates were clearly
// better, or when it has no effect that chance would not give and freezing it
// cost nothing on average; never the most important one. The objective is to
// be maximized; `trials` have succeeded.
std::vector<NextStep> PlanNext(const v1::ImportanceReport& report,
                               const std::vector<v1::Trial>& trials);

std::string RenderNext(const std::vector<NextStep>& steps, int width);

// The study file `recipe` under the id `id`, with those modules frozen.
// REQUIRES: it has one line for each of `id:`, "embeddings" and "layer.*", as
// recipes/demo/demo.yaml has.
std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const std::vector<NextStep>& steps);

}  // namespace frostline

#endif  // FROSTLINE_CLI_DEMO_PLAN_H_
