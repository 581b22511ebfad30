// SPDX-License-Identifier: Apache-2.0
//
// File: importance.h
#ifndef FROSTLINE_CLI_COMMANDS_IMPORTANCE_H_
#define FROSTLINE_CLI_COMMANDS_IMPORTANCE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "frostline/v1/importance_service.grpc.pb.h"

namespace frostline::cli {

// Fewer finished trials have none (docs/reference/importance.md).
inline constexpr int kImportanceTrials = 8;

struct Asked {
  Client* client = nullptr;
  std::string study;
  v1::ImportanceOptions options;
  int width = 0;
};

template <typename Request, typename Reply>
absl::StatusOr<Reply> Fetch(const Asked& asked,
                            grpc::Status (v1::ImportanceService::Stub::*method)(
                                grpc::ClientContext*, const Request&, Reply*)) {
  Request request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  return asked.client->Call(method, request);
}

// Asks about the options' first two parameters.
absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked);

// Answers nullopt where it is no question: of costs, of some parameters,
// without modules that can be frozen, or where none can be made.
absl::StatusOr<std::optional<v1::Frontier>> FetchFrontier(
    const Asked& asked, const v1::ImportanceReport& report);

// Where a study that has ended has too few trials, waiting brings no more: the
// fix is then to raise its budget. Every other status stays as it is.
absl::Status HelpEndedStudy(Client& client, const std::string& study,
                            const absl::Status& status);

// Fetches all pages.
absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTANCE_H_
