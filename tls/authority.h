// SPDX-License-Identifier: Apache-2.0
//
// File: authority.h
//
// A private CA of one level. Keys are of the curve P-256, signatures ECDSA with
// SHA-256, and serial numbers have 127 random bits. Each certificate begins an
// hour ago, since clocks of nodes differ by minutes.
#ifndef FROSTLINE_TLS_AUTHORITY_H_
#define FROSTLINE_TLS_AUTHORITY_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/secret.h"
#include "tls/openssl.h"

namespace frostline::tls {

// How a node gets a certificate for a key that never leaves it:
//
//   ASSIGN_OR_RETURN(KeyRequest made, MakeRequest("gpu03"));      // the node
//   IssueFor(made.request_pem, authority, spec, now);             // the CA

struct KeyRequest {
  std::string request_pem;  // PKCS #10
  SecretString key_pem;
};

// Makes a key of P-256 and a request that it signs; `name` is for people.
absl::StatusOr<KeyRequest> MakeRequest(const std::string& name);

// Answers REQUEST_INVALID for what is no request, one that its key has not
// signed, or a key that is weaker than 112 bits.
absl::StatusOr<Key> RequestedKey(const std::string& request_pem);

struct KeyPair {
  std::string certificate_pem;
  SecretString key_pem;
};

inline constexpr Duration kAuthorityLife = std::chrono::hours(24 * 3650);
inline constexpr Duration kLongestLife = std::chrono::hours(24 * 825);

// What a certificate is for: to serve at hosts, or to be recognised by a URI.
struct LeafSpec {
  std::string name;                // of people, in its subject
  std::vector<std::string> hosts;  // DNS names and numeric addresses
  std::string uri;
  Duration lifetime = std::chrono::hours(24 * 365);
};

// The errors are REQUEST_INVALID or, a bug, INTERNAL.
absl::StatusOr<KeyPair> MakeAuthority(const std::string& name, WallMicros now);
absl::StatusOr<KeyPair> Issue(const KeyPair& authority, const LeafSpec& spec,
                              WallMicros now);
// Issues one for the key that asks, in PEM form. The
// names are those of `spec` alone. Answers REQUEST_INVALID for what is no
// request, or none of its own key.
absl::StatusOr<std::string> IssueFor(const std::string& request_pem,
                                     const KeyPair& authority,
                                     const LeafSpec& spec, WallMicros now);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_AUTHORITY_H_
