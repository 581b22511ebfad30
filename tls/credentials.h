// SPDX-License-Identifier: Apache-2.0
//
// File: credentials.h
//
// Files are read again every few seconds: new connections use what is there,
// and those that are open stay.
#ifndef FROSTLINE_TLS_CREDENTIALS_H_
#define FROSTLINE_TLS_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::tls {

// Paths of PEM files. `ca` says whom the other side must be signed by.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string ca;

  bool empty() const {
    return certificate.empty() && key.empty() && ca.empty();
  }
};

// Answers TLS_FILE, naming the flag, when a file is missing, is not what it
// should be, has a key that others may read or that is another certificate's,
// or has a time that is over or has not begun.
absl::Status CheckTlsFiles(const TlsFiles& files, const Clock& clock);

// A client may show a certificate, which must then be of `ca`; without `ca` it
// is not asked for one. Answers as CheckTlsFiles() does.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentialsOf(
    const TlsFiles& files, const Clock& clock);

// Of no files they are those of plaintext. The coordinator must be of `ca`, and
// have the host's name; the certificate is shown where there is one.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentialsOf(
    const TlsFiles& files, const Clock& clock);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_CREDENTIALS_H_
