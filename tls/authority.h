// SPDX-License-Identifier: Apache-2.0
//
// File: authority.h
//
// A private CA of one level. Keys are of the curve P-256, signatures are ECDSA
// with SHA-256, and serial numbers have 127 random bits. The validity of each
// certificate begins an hour in the past, since the clocks of nodes differ by
// minutes.
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

// A node gets a certificate for a key that never leaves it like this:
//
//   ASSIGN_OR_RETURN(KeyRequest made, MakeRequest("gpu03"));      // the node
//   IssueFor(made.request_pem, authority, spec, now);             // the CA

// A new key, and the request for its certificate.
struct KeyRequest {
  std::string request_pem;  // PKCS #10
  SecretString key_pem;
};

// Makes a P-256 key and a request signed with it; `name` is for people.
absl::StatusOr<KeyRequest> MakeRequest(const std::string& name);

// Returns the key of a request. The error is REQUEST_INVALID for a text that is
// no request, a request not signed by its own key, or a key weaker than 112
// bits.
absl::StatusOr<Key> RequestedKey(const std::string& request_pem);

// A certificate and its key, in PEM form.
struct KeyPair {
  std::string certificate_pem;
  SecretString key_pem;
};

inline constexpr Duration kAuthorityLife = std::chrono::hours(24 * 3650);
inline constexpr Duration kLongestLife = std::chrono::hours(24 * 825);

// What a certificate is for: to serve at hosts, or to be recognised by a URI.
struct LeafSpec {
  std::string name;                // for people, in its subject
  std::vector<std::string> hosts;  // DNS names and numeric addresses
  std::string uri;
  Duration lifetime = std::chrono::hours(24 * 365);
};

// Makes the CA's key and certificate. The error is REQUEST_INVALID or, for a
// bug, INTERNAL.
absl::StatusOr<KeyPair> MakeAuthority(const std::string& name, WallMicros now);
absl::StatusOr<KeyPair> Issue(const KeyPair& authority, const LeafSpec& spec,
                              WallMicros now);
// Issues a certificate in PEM form for the key of a request. Its names are
// those of `spec` alone. The error is REQUEST_INVALID for a text that is no
// request, or one not signed by its own key.
absl::StatusOr<std::string> IssueFor(const std::string& request_pem,
                                     const KeyPair& authority,
                                     const LeafSpec& spec, WallMicros now);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_AUTHORITY_H_
