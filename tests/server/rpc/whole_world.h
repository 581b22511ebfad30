// SPDX-License-Identifier: Apache-2.0
//
// File: whole_world.h
//
// A coordinator behind its socket in which everything is there once: a study
// with a running, an ended and a queued trial, a worker, measurements. Besides
// a good request for every unary method of the contract.
#ifndef FROSTLINE_TESTS_SERVER_RPC_WHOLE_WORLD_H_
#define FROSTLINE_TESTS_SERVER_RPC_WHOLE_WORLD_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "server/coordinator.h"
#include "server/rpc/server.h"
#include "tests/server/driver.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {

class WholeWorld {
 public:
  WholeWorld();
  ~WholeWorld();

  // "StudyService.PauseStudy": its request, good in this world, with a fresh
  // request id. Null for a method that this table lacks.
  std::unique_ptr<google::protobuf::Message> GoodRequest(
      const std::string& method) const;

  // The reply's bytes.
  absl::StatusOr<std::string> Send(const std::string& method,
                                   const google::protobuf::Message& request);

  // Everything there is, as text; equal texts: nothing has changed.
  std::string Everything();

 private:
  FakeClock clock_;  // stands still, so that nothing changes by itself
  const TempFolder folder_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Issuer> issuer_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<RawClient> client_;
  v1::Lease lease_;    // of the running trial
  std::string token_;  // its id
  std::string invitation_;
  std::string asked_;  // a certificate request
};

// "StudyService.GetStudy", … of the contract's services, without streams.
std::vector<std::string> UnaryMethods();
// Those of them for which there is a good request.
std::vector<std::string> ServedMethods();

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_WHOLE_WORLD_H_
