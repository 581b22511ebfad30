// SPDX-License-Identifier: Apache-2.0
//
// File: join.h
//
// How a node finds its coordinator when all that it has is one line.
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
  std::string token_id;   // the part of the token that is no secret
  std::string address;    // HOST:PORT; an IPv6 host has brackets
  std::string host;       // without brackets
  std::string ca_sha256;  // the fingerprint, in lower case
};

// Reads such a line. The error is REQUEST_INVALID at --join; it says which part
// is wrong and quotes nothing, since in a broken line the token may stand
// anywhere.
absl::StatusOr<JoinLine> ParseJoinLine(const std::string& given);

// How a node that has only a fingerprint makes sure that it talks to the
// coordinator. The CA with that fingerprint has to be in the chain which the
// handshake shows, and has to have signed the chain's first certificate. gRPC
// sends no byte of a call before this has been checked:
//
//   const PinnedChannel pinned({line.host, line.ca_sha256}, clock.Wall());
//   channel = grpc::CreateChannel(line.address, pinned.credentials());
//   … a call fails with UNAVAILABLE: pinned.refusal() says why.

// What the coordinator's certificates have to match.
struct Pin {
  std::string host;       // a DNS name or an address, without brackets
  std::string ca_sha256;  // of the DER form, in lower-case digits
};

// Checks a chain in PEM form, the leaf first. The error is FINGERPRINT_WRONG
// when the chain does not lead to the CA or does not name the host, and
// TLS_REFUSED when it is not a coordinator's or not valid now.
absl::Status CheckPinnedChain(const std::string& chain_pem, const Pin& pin,
                              WallMicros now);

// A channel's credentials that check a pin. Any thread may use one. Channels
// made with them may outlive it.
class PinnedChannel {
 public:
  // Certificates have to be valid at `now`.
  PinnedChannel(const Pin& pin, WallMicros now);

  const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }
  // Returns why the last handshake was refused, or OK.
  absl::Status refusal() const;
  // Returns the CA of the fingerprint in PEM form, once a handshake has
  // succeeded.
  std::string ca_pem() const;

 private:
  class Verdict;
  class Verifier;

  std::shared_ptr<Verdict> verdict_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_JOIN_H_
