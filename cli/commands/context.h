// SPDX-License-Identifier: Apache-2.0
//
// File: context.h
//
// How a login makes sure that it talks to the right coordinator: by its CA, by
// the fingerprint of the CA, or because nobody else can listen at the address.
#ifndef FROSTLINE_CLI_COMMANDS_CONTEXT_H_
#define FROSTLINE_CLI_COMMANDS_CONTEXT_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tls/join.h"

namespace frostline::cli {

// The coordinator that a login goes to.
struct Destination {
  std::string connect;
  std::string fingerprint;  // or empty
};

// Parses HOST:PORT or HOST:PORT#FINGERPRINT, and the value of --fingerprint.
// The error is REQUEST_INVALID.
absl::StatusOr<Destination> DestinationOf(const std::string& address,
                                          const std::string& fingerprint);

// The credentials of a channel to that coordinator.
struct Trust {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  std::string ca_pem;  // if pinned: known after the first call
  std::optional<tls::PinnedChannel> pinned;
};

// Decides how the coordinator is recognized. A CA file comes first; if a
// fingerprint is given too, the CA must match it, else the error is
// FINGERPRINT_WRONG. Without both, a coordinator on another machine is
// REQUEST_INVALID.
absl::StatusOr<Trust> TrustIn(const Destination& to,
                              const std::string& ca_file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_CONTEXT_H_
