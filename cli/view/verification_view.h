// SPDX-License-Identifier: Apache-2.0
//
// File: verification_view.h
#ifndef FROSTLINE_CLI_VIEW_VERIFICATION_VIEW_H_
#define FROSTLINE_CLI_VIEW_VERIFICATION_VIEW_H_

#include <string>

#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// Shows predicted beside seen, for the plan and each rival.
std::string RenderVerification(const v1::PlanVerification& verification,
                               int width);
// Leaves out caption and legend.
std::string RenderVerificationInShort(const v1::PlanVerification& verification,
                                      int width);
std::string VerificationCsv(const v1::PlanVerification& verification);

std::string RenderAsked(const v1::AskPlanReply& reply, int width);
std::string AskedCsv(const v1::AskPlanReply& reply);

// "0.0001 layer.2-3; frozen embeddings, layer.0-1".
std::string RatesInShort(
    const google::protobuf::RepeatedPtrField<v1::ModuleRate>& rates);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_VERIFICATION_VIEW_H_
