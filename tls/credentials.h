// SPDX-License-Identifier: Apache-2.0
//
// File: credentials.h
//
// How a client reaches a coordinator, and how both prove who they are.
#ifndef FROSTLINE_TLS_CREDENTIALS_H_
#define FROSTLINE_TLS_CREDENTIALS_H_

#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/secret.h"

namespace frostline::tls {

// Files are read again every few seconds: new connections use what is there,
// and those that are open stay.

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

// How a client reaches a coordinator and proves who it is:
//
//   ASSIGN_OR_RETURN(Access access, Access::Open(files, address, clock));
//   channel = grpc::CreateChannel(address, access.credentials());
//   access.ShowToken(&context);   // of every call

struct AccessFiles {
  TlsFiles tls;
  std::string token;  // a file with a token in it; or empty
};

// Any thread may use one. Its copies share what was read.
class Access {
 public:
  Access();  // plaintext, and no token

  // Answers TLS_FILE for a file that cannot be used, and REQUEST_INVALID where
  // the token would travel in plaintext to another machine.
  static absl::StatusOr<Access> Open(const AccessFiles& files,
                                     const std::string& address,
                                     const Clock& clock);

  // For a token that is in no file. Whose credentials they are has to see to it
  // that it goes to nobody else.
  static Access WithToken(std::shared_ptr<grpc::ChannelCredentials> credentials,
                          const SecretString& token);

  const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }
  // A file that was replaced since is read again, so a token is rotated without
  // a restart; where it cannot be used, the token before is shown.
  void ShowToken(grpc::ClientContext* context) const;

 private:
  class TokenFile;

  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::shared_ptr<TokenFile> token_;  // null: no token
};

// Says whether HOST:PORT or unix:PATH is on this machine for certain.
bool IsLocalAddress(const std::string& address);

// gRPC works at a connection while some call waits for it; without one, which
// is so whenever calls fail at once, it looks every five seconds. A handshake
// takes three looks, and so is over only after the coordinator has given it up:
// a client whose connection was cut came back after a minute, or by luck. After
// this it looks five times a second.
//
// For `main`, before other threads and the first channel.
void LookAfterIdleConnections();

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_CREDENTIALS_H_
