// SPDX-License-Identifier: Apache-2.0
//
// File: login.h
//
// How the coordinator of a login is told from others: by its CA, by the
// fingerprint of that, or because nobody else can listen there.
#ifndef FROSTLINE_CLI_COMMANDS_LOGIN_H_
#define FROSTLINE_CLI_COMMANDS_LOGIN_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tls/join.h"

namespace frostline::cli {

struct Destination {
  std::string connect;
  std::string fingerprint;  // or empty
};

// Reads HOST:PORT, HOST:PORT#FINGERPRINT, and what --fingerprint says. The
// error is REQUEST_INVALID.
absl::StatusOr<Destination> DestinationOf(const std::string& address,
                                          const std::string& fingerprint);

struct Trust {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  std::string ca_pem;  // of a pinned one: known after the first call
  std::optional<tls::PinnedChannel> pinned;
};

// A CA stands before a fingerprint, which it has to have then, else it is
// FINGERPRINT_WRONG. Without both a coordinator elsewhere is REQUEST_INVALID.
absl::StatusOr<Trust> TrustIn(const Destination& to,
                              const std::string& ca_file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_LOGIN_H_
