// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/importance.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

using ImportanceStub = v1::ImportanceService::Stub;

// A stopped study takes no more trials; its copy does. Of one that has enough,
// the question lets too few count, and a larger budget would not mend that.
std::string WayToMoreTrials(const v1::Study& study) {
  const std::string id = LastPart(study.name());
  const std::int64_t lacking = kImportanceTrials - study.counts().succeeded();
  if (lacking <= 0) {
    return absl::StrCat("let more of its ", study.counts().succeeded(),
                        " trials count: a larger --top, a wider --filter, an "
                        "--at-step or a --target that more of them have");
  }
  const std::int64_t budget = study.counts().budget_used() + lacking;
  if (study.state() == v1::STUDY_STATE_COMPLETED) {
    return absl::StrCat("raise its budget: frostline study update ", id,
                        " --budget ", budget);
  }
  return absl::StrCat("go on in a copy: frostline study clone ", id, " ", id,
                      "-2 --with-trials --trials ", budget);
}

}  // namespace

absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked) {
  v1::GetPairMarginalRequest request;
  request.set_study(asked.study);
  request.set_first(asked.options.parameters(0));
  request.set_second(asked.options.parameters(1));
  *request.mutable_options() = asked.options;
  return asked.client->Call(&ImportanceStub::GetPairMarginal, request);
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
      asked.client->Call(&ImportanceStub::GetFrontier, request);
  // The report can be made where the frontier cannot.
  if (HasErrorId(frontier.status(), ErrorId::kRequestInvalid) ||
      HasErrorId(frontier.status(), ErrorId::kTrialsTooFew)) {
    return none;
  }
  RETURN_IF_ERROR(frontier.status());
  return std::optional<v1::Frontier>(*std::move(frontier));
}

absl::Status HelpEndedStudy(Client& client, const std::string& study,
                            const absl::Status& status) {
  if (!HasErrorId(status, ErrorId::kTrialsTooFew)) return status;
  const auto now = FetchStudy(client, study);
  if (!now.ok() || !IsEnded(now->state())) return status;
  return MakeError(ErrorId::kTrialsTooFew, std::string(status.message()),
                   WayToMoreTrials(*now));
}

absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked) {
  v1::ListPairsRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  return asked.client->CallForAll(&ImportanceStub::ListPairs,
                                  std::move(request));
}

}  // namespace frostline::cli
