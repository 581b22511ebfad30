// SPDX-License-Identifier: Apache-2.0
//
// File: tls_server.h
//
// A coordinator that asks its clients for certificates, as a child process, so
// that its memory can be told from the clients'. The authority is made by the
// openssl command and thrown away.
#ifndef FROSTLINE_TESTS_BENCH_SERVICE_TLS_SERVER_H_
#define FROSTLINE_TESTS_BENCH_SERVICE_TLS_SERVER_H_

#include <grpcpp/security/credentials.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

namespace frostline::bench {

class TlsServer {
 public:
  // Forks: before this process has threads, or uses gRPC.
  TlsServer();
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // Makes the certificates and serves; the address, or nothing where openssl
  // is missing or the server does not start. Once.
  std::optional<std::string> Start(const std::string& folder);

  std::shared_ptr<grpc::ChannelCredentials> ClientCredentials() const;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int orders_ = -1;   // to the child: the folder, a line
  int answers_ = -1;  // from it: the address, a line
  std::string folder_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_SERVICE_TLS_SERVER_H_
