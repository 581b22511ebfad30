// SPDX-License-Identifier: Apache-2.0
//
// File: certificate_request.h
//
// How a node gets a certificate for a key that never leaves it:
//
//   ASSIGN_OR_RETURN(KeyRequest made, MakeRequest("gpu03"));      // the node
//   IssueFor(made.request_pem, authority, spec, now);             // the CA
#ifndef FROSTLINE_TLS_CERTIFICATE_REQUEST_H_
#define FROSTLINE_TLS_CERTIFICATE_REQUEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/secret.h"
#include "tls/openssl_handles.h"

namespace frostline::tls {

struct KeyRequest {
  std::string request_pem;  // PKCS #10
  SecretString key_pem;
};

// Makes a key of P-256 and a request that it signs; `name` is for people.
absl::StatusOr<KeyRequest> MakeRequest(const std::string& name);

// Answers REQUEST_INVALID for what is no request, one that its key has not
// signed, or a key that is weaker than 112 bits.
absl::StatusOr<Key> RequestedKey(const std::string& request_pem);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_CERTIFICATE_REQUEST_H_
