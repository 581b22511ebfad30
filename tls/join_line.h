// SPDX-License-Identifier: Apache-2.0
//
// File: join_line.h
//
// What `frostline worker invite` prints for a new node:
//
//   frost_0123456789abcdef_<64 digits>@gpu-head.lan:7443#<64 digits>
//   TOKEN                             @HOST:PORT        #FINGERPRINT
#ifndef FROSTLINE_TLS_JOIN_LINE_H_
#define FROSTLINE_TLS_JOIN_LINE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/secret.h"

namespace frostline::tls {

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

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_JOIN_LINE_H_
