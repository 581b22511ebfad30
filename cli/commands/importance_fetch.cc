// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/importance_fetch.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/status_macros.h"

namespace frostline::cli {
namespace {

using Stub = v1::ImportanceService::Stub;

}  // namespace

absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked) {
  v1::GetPairMarginalRequest request;
  request.set_study(asked.study);
  request.set_first(asked.options.parameters(0));
  request.set_second(asked.options.parameters(1));
  *request.mutable_options() = asked.options;
  return asked.client->Call(&Stub::GetPairMarginal, request);
}

absl::StatusOr<std::optional<v1::Frontier>> FetchFrontier(
    const Asked& asked, const v1::ImportanceReport& report) {
  const std::string& target = report.options().target();
  const bool is_cost =
      target == "train_seconds" || target == "trained_parameters";
  const bool has_modules =
      std::any_of(report.parameters().begin(), report.parameters().end(),
                  [](const v1::ParameterImportance& row) {
                    return row.modules_size() > 0;
                  });
  std::optional<v1::Frontier> none;
  if (is_cost || !has_modules || asked.options.parameters_size() > 0) {
    return none;
  }
  v1::GetFrontierRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  request.mutable_options()->clear_subsets();
  absl::StatusOr<v1::Frontier> frontier =
      asked.client->Call(&Stub::GetFrontier, request);
  // The report can be made where the frontier cannot.
  if (HasErrorId(frontier.status(), ErrorId::kRequestInvalid) ||
      HasErrorId(frontier.status(), ErrorId::kTrialsTooFew)) {
    return none;
  }
  RETURN_IF_ERROR(frontier.status());
  return std::optional<v1::Frontier>(*std::move(frontier));
}

absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked) {
  v1::ListPairsRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  return asked.client->CallForAll(&Stub::ListPairs, std::move(request));
}

}  // namespace frostline::cli
