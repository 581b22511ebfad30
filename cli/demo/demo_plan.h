// SPDX-License-Identifier: Apache-2.0
//
// File: demo_plan.h
//
// What to try next after the demo: a study file that freezes what the plan
// surely freezes, and searches the other modules anew.
#ifndef FROSTLINE_CLI_DEMO_DEMO_PLAN_H_
#define FROSTLINE_CLI_DEMO_DEMO_PLAN_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// Where nothing is sure, what the plan's point freezes is frozen to see whether
// it may be; where that is every module, the one whose freezing costs most is
// searched all the same. REQUIRES: `recipe` has one line for each of `id:`,
// "embeddings" and "layer.*", and fixes pooler and head.
std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_PLAN_H_
