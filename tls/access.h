// SPDX-License-Identifier: Apache-2.0
//
// File: access.h
//
// How a client reaches a coordinator and proves who it is:
//
//   ASSIGN_OR_RETURN(Access access, Access::Open(files, address, clock));
//   channel = grpc::CreateChannel(address, access.credentials());
//   access.ShowToken(&context);   // of every call
#ifndef FROSTLINE_TLS_ACCESS_H_
#define FROSTLINE_TLS_ACCESS_H_

#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/secret.h"
#include "tls/credentials.h"

namespace frostline::tls {

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

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_ACCESS_H_
