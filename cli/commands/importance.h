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

// The least number of finished trials that importance needs
// (docs/reference/importance.md).
inline constexpr int kImportanceTrials = 8;

// A question about the importance of a study's parameters.
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

// Fetches the table for the first two parameters of the options.
absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked);

// Fetches the frontier. Returns nullopt when the question makes no sense
// (importance of costs, of only some parameters, or a study without modules
// that can be frozen) and when no frontier can be computed.
absl::StatusOr<std::optional<v1::Frontier>> FetchFrontier(
    const Asked& asked, const v1::ImportanceReport& report);

// Improves the fix of an error about too few trials when the study has ended:
// waiting does not help then, raising the budget does. Any other status stays
// as it is.
absl::Status HelpEndedStudy(Client& client, const std::string& study,
                            const absl::Status& status);

// Fetches all pages of the list.
absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTANCE_H_
