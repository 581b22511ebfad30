// SPDX-License-Identifier: Apache-2.0
//
// File: tls_coordinator.h
//
// The real coordinator, which asks its clients for certificates of a private CA
// that is made for it.
#ifndef FROSTLINE_TESTS_BENCH_SERVICE_TLS_COORDINATOR_H_
#define FROSTLINE_TESTS_BENCH_SERVICE_TLS_COORDINATOR_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "tests/bench/load/program.h"

namespace frostline::bench {

class TlsCoordinator {
 public:
  // Ends the program when it does not start. `folder` is not there yet.
  TlsCoordinator(const std::string& folder, const Clock& clock);

  CoordinatorProgram& program() { return *program_; }
  const std::string& address() const { return program_->address(); }
  // The credentials of an admin, who may act as any worker.
  const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }

 private:
  std::unique_ptr<CoordinatorProgram> program_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_SERVICE_TLS_COORDINATOR_H_
