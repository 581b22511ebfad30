// SPDX-License-Identifier: Apache-2.0
//
// File: plan_view.h
#ifndef FROSTLINE_CLI_VIEW_PLAN_VIEW_H_
#define FROSTLINE_CLI_VIEW_PLAN_VIEW_H_

#include <string>
#include <vector>

#include "frostline/v1/importance.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/plan.pb.h"

namespace frostline::cli {

std::string RenderFrontier(const v1::Frontier& frontier, int width);

// Returns the first table with a few rows, for the head of a report.
// Draws what each frozen prefix scores, as bars, below the verdict.
std::string RenderPrefixBars(const v1::Frontier& frontier, int width);

std::string RenderFrontierInShort(const v1::Frontier& frontier, int width);

// Returns "embeddings, layer.0-2, head", or "nothing".
std::string ModuleList(const std::vector<std::string>& modules);

// Returns what a set freezes from below: "nothing", "embeddings", "below
// layer.4", "all layers".
std::string FrozenPrefix(const v1::Frontier& frontier,
                         const v1::FrontierSet& set);

std::string FrontierCsv(const v1::Frontier& frontier);

// Draws a row for each set with its 80 and 95 % intervals. The tolerance is
// shaded and the chosen set is marked.
std::string FrontierSvg(const v1::Frontier& frontier);

std::string RenderFreezePlan(const v1::FreezePlan& plan, int width);
// Returns the plan's verdict, its rates, and its predicted score.
std::string RenderFreezePlanInShort(const v1::FreezePlan& plan, int width);
std::string RenderComparison(const v1::StudyComparison& comparison, int width);

// Returns predicted beside seen scores, for the plan and each rival.
std::string RenderVerification(const v1::PlanVerification& verification,
                               int width);
// Does the same without caption and legend.
std::string RenderVerificationInShort(const v1::PlanVerification& verification,
                                      int width);
std::string VerificationCsv(const v1::PlanVerification& verification);

std::string RenderAsked(const v1::AskPlanReply& reply, int width);
std::string AskedCsv(const v1::AskPlanReply& reply);

// Returns "0.0001 layer.2-3; frozen embeddings, layer.0-1".
std::string RatesInShort(
    const google::protobuf::RepeatedPtrField<v1::ModuleRate>& rates);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_PLAN_VIEW_H_
