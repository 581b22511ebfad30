// SPDX-License-Identifier: Apache-2.0
//
// File: credentials.h
//
// How a client reaches a coordinator, and how both prove who they are. Files
// are read again every few seconds: new connections use what is there then,
// open ones stay.
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

// The paths of PEM files. `ca` must have signed the other side's certificate.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string ca;

  bool empty() const {
    return certificate.empty() && key.empty() && ca.empty();
  }
};

// Checks that the files can be used. The error is TLS_FILE, and names the flag,
// when a file is missing or of the wrong kind, when a key can be read by others
// or belongs to another certificate, or when a certificate is not valid now.
absl::Status CheckTlsFiles(const TlsFiles& files, const Clock& clock);

// Returns a server's credentials. A client may show a certificate, which `ca`
// must have signed; without `ca` no client is asked for one. The errors are
// those of CheckTlsFiles().
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentialsOf(
    const TlsFiles& files, const Clock& clock);

// Returns a client's credentials; plaintext if there are no files. `ca` must
// have signed the coordinator's certificate, which must have the host's name.
// The client shows its certificate if it has one.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentialsOf(
    const TlsFiles& files, const Clock& clock);

// The files with which a client proves who it is.
struct AccessFiles {
  TlsFiles tls;
  std::string token;  // a file with a token in it; or empty
};

// A client's credentials and token. Any thread may use one. Copies share what
// was read.
//
//   ASSIGN_OR_RETURN(Access access, Access::Open(files, address, clock));
//   channel = grpc::CreateChannel(address, access.credentials());
//   access.ShowToken(&context);   // of every call
class Access {
 public:
  Access();  // plaintext, and no token

  // Reads the files. The error is TLS_FILE for a file that cannot be used, and
  // REQUEST_INVALID when the token would go to another machine in plaintext.
  static absl::StatusOr<Access> Open(const AccessFiles& files,
                                     const std::string& address,
                                     const Clock& clock);

  // Makes one for a token that is in no file. The owner of `credentials` has to
  // make sure that the token goes to nobody else.
  static Access WithToken(std::shared_ptr<grpc::ChannelCredentials> credentials,
                          const SecretString& token);

  const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }
  // Adds the token to a call. A file that was replaced is read again, so a
  // token can be changed without a restart; when the new file cannot be used,
  // the old token is shown.
  void ShowToken(grpc::ClientContext* context) const;

 private:
  class TokenFile;

  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::shared_ptr<TokenFile> token_;  // null: no token
};

// Says whether HOST:PORT or unix:PATH is certainly on this machine.
bool IsLocalAddress(const std::string& address);

// Makes gRPC look after its connections five times a second. By itself gRPC
// works on a connection only while some call waits for it; otherwise, also when
// calls fail at once, it looks every five seconds. A handshake needs three
// looks, so the coordinator gave it up before it was done: a client whose
// connection was cut came back after a minute, or by luck.
//
// `main` calls it before it starts threads or makes a channel.
void LookAfterIdleConnections();

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_CREDENTIALS_H_
