// SPDX-License-Identifier: Apache-2.0
//
// File: certificate.h
//
// Reads certificates, and the name of a certificate's owner.
#ifndef FROSTLINE_TLS_CERTIFICATE_H_
#define FROSTLINE_TLS_CERTIFICATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/secret.h"

namespace frostline::tls {

// The name of a certificate's owner: spiffe://DOMAIN/frostline/ROLE/NAME.
struct OwnerName {
  std::string role;  // "admin", "researcher", "worker", "viewer"
  std::string name;  // an id (base/ids.h)
};

std::string FormatOwnerName(const OwnerName& owner);
// Reads such a name. The role is empty for a name of any other form.
OwnerName ParseOwnerName(const std::string& uri);

// What a certificate says.
struct CertificateFacts {
  std::vector<std::string> hosts;  // DNS names and addresses
  std::vector<std::string> uris;
  WallMicros begins = 0;
  WallMicros expires = 0;
  std::string sha256;  // of its DER form, in hexadecimal digits
  bool is_authority = false;
};

// Reads the first certificate of a PEM text. The error is TLS_FILE.
absl::StatusOr<CertificateFacts> ReadCertificate(const std::string& pem);

// Checks that the key belongs to the first certificate. The error is TLS_FILE.
absl::Status CheckPair(const std::string& certificate_pem,
                       const SecretString& key_pem);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_CERTIFICATE_H_
