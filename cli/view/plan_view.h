// SPDX-License-Identifier: Apache-2.0
//
// File: plan_view.h
#ifndef FROSTLINE_CLI_VIEW_PLAN_VIEW_H_
#define FROSTLINE_CLI_VIEW_PLAN_VIEW_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

std::string RenderFreezePlan(const v1::FreezePlan& plan, int width);
// Shows its verdict, its rates, and what it would score.
std::string RenderFreezePlanInShort(const v1::FreezePlan& plan, int width);
std::string RenderComparison(const v1::StudyComparison& comparison, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_PLAN_VIEW_H_
