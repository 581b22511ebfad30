// SPDX-License-Identifier: Apache-2.0
//
// File: demo_plan.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_PLAN_H_
#define FROSTLINE_CLI_DEMO_DEMO_PLAN_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// What the plan surely freezes is frozen, and the other modules are searched.
// Where nothing is sure, what the plan's point freezes is frozen to see whether
// it may be; where that is every module, the one whose freezing costs most is
// searched all the same. REQUIRES: `recipe` has a line `id:`, its levels behind
// `&rates`, and `space:` last, which fixes pooler and head at 1e-3.
std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_PLAN_H_
