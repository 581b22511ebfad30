// SPDX-License-Identifier: Apache-2.0
//
// File: join.h
//
// How a node that knows nothing but one line finds its coordinator.
#ifndef FROSTLINE_TLS_JOIN_H_
#define FROSTLINE_TLS_JOIN_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/secret.h"

namespace frostline::tls {

// What `frostline worker invite` prints for a new node:
//
//   frost_0123456789abcdef_<64 digits>@gpu-head.lan:7443#<64 digits>
//   TOKEN                             @HOST:PORT        #FINGERPRINT

struct JoinLine {
  SecretString token;
  std::string token_id;   // its part that is no secret
  std::string address;    // HOST:PORT; an IPv6 host has brackets
  std::string host;       // without them
  std::string ca_sha256;  // the fingerprint, in lower case
};

// Answers REQUEST_INVALID at --join for any other text. The error says which
// part is wrong and has nothing of the text in it, since the token may stand
// anywhere in a line that is broken.
absl::StatusOr<JoinLine> ParseJoinLine(const std::string& given);

// How a node that has nothing but a fingerprint tells the coordinator from
// whoever else answers: the CA of that fingerprint has to be in the chain which
// the handshake shows, and has to have signed its first certificate. gRPC sends
// no byte of a call before that has been checked:
//
//   const PinnedChannel pinned({line.host, line.ca_sha256}, clock.Wall());
//   channel = grpc::CreateChannel(line.address, pinned.credentials());
//   … a call fails with UNAVAILABLE: pinned.refusal() says why.

struct Pin {
  std::string host;       // a DNS name or an address, without brackets
  std::string ca_sha256;  // of the DER form, in lower-case digits
};

// Judges a chain in PEM form, the leaf first. Answers FINGERPRINT_WRONG when it
// does not lead to the CA or has not the host, and TLS_REFUSED when it is no
// coordinator's, or not of this time.
absl::Status CheckPinnedChain(const std::string& chain_pem, const Pin& pin,
                              WallMicros now);

// Any thread may use one. Channels made with its credentials may outlive it.
class PinnedChannel {
 public:
  // Certificates have to hold at `now`.
  PinnedChannel(const Pin& pin, WallMicros now);

  const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }
  // Why the last handshake was refused, or OK.
  absl::Status refusal() const;
  // The CA of the fingerprint, in PEM form, once a handshake was not refused.
  std::string ca_pem() const;

 private:
  class Verdict;
  class Verifier;

  std::shared_ptr<Verdict> verdict_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_JOIN_H_
