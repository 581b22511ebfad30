// SPDX-License-Identifier: Apache-2.0
//
// File: rpc_fixture.h
//
// A whole coordinator in the test's process, reached the way everybody reaches
// it: through gRPC on loopback. Nothing in it is a double.
#ifndef FROSTLINE_TESTS_SERVER_RPC_RPC_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_RPC_RPC_FIXTURE_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "frostline/v1/worker_service.grpc.pb.h"
#include "gtest/gtest.h"
#include "proto/wire_error.h"
#include "server/coordinator.h"
#include "server/rpc/server.h"
#include "storage/factory.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {

inline void SetTimeout(grpc::ClientContext* context,
                       std::chrono::milliseconds timeout) {
  context->set_deadline(std::chrono::system_clock::now() + timeout);
}

class RpcFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(store_, storage::OpenStore(storage::StoreSpec{
                                     .data_folder = "", .ephemeral = true}));
    CoordinatorOptions often;
    often.watch_alive = std::chrono::milliseconds(200);
    coordinator_ = std::make_unique<Coordinator>(often, *store_, clock_);
    ASSERT_OK(coordinator_->Start());
    RpcOptions options;
    options.listen = {"127.0.0.1:0"};
    ASSERT_OK_AND_ASSIGN(server_,
                         RpcServer::Listen(options, coordinator_->verbs()));
    channel_ = grpc::CreateChannel(server_->address(),
                                   grpc::InsecureChannelCredentials());
    studies_ = v1::StudyService::NewStub(channel_);
    workers_ = v1::WorkerService::NewStub(channel_);
  }

  void TearDown() override {
    if (server_ == nullptr) return;
    coordinator_->Drain();
    server_->Shutdown(std::chrono::seconds(5));
  }

  // Call(*studies_, &v1::StudyService::Stub::GetStudy, request)
  template <typename Stub, typename Request, typename Reply>
  absl::StatusOr<Reply> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Reply*),
      const Request& request,
      std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    grpc::ClientContext context;
    SetTimeout(&context, timeout);
    Reply reply;
    absl::Status status =
        proto::FromGrpcStatus((stub.*method)(&context, request, &reply));
    if (!status.ok()) return status;
    return reply;
  }

  absl::StatusOr<v1::CreateStudyReply> Create(const std::string& id,
                                              std::int64_t trials = 3) {
    return Call(*studies_, &v1::StudyService::Stub::CreateStudy,
                ExampleStudy(id, trials));
  }

  absl::StatusOr<v1::RegisterReply> Register(const std::string& worker_id) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id(worker_id);
    request.mutable_worker()->set_boot_id(boot_id_);
    request.mutable_worker()->set_slots(1);
    return Call(*workers_, &v1::WorkerService::Stub::Register, request);
  }

  v1::AcquireRequest AcquireRequestOf(const std::string& worker_id,
                                      std::chrono::seconds wait) {
    v1::AcquireRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker(WorkerNameOf(worker_id));
    request.set_boot_id(boot_id_);
    request.set_max_leases(1);
    request.mutable_wait()->set_seconds(wait.count());
    return request;
  }

  absl::StatusOr<v1::AcquireReply> Acquire(const std::string& worker_id,
                                           std::chrono::seconds wait) {
    return Call(*workers_, &v1::WorkerService::Stub::Acquire,
                AcquireRequestOf(worker_id, wait));
  }

  const SystemClock clock_;
  const std::string boot_id_ = RandomHexId();
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::StudyService::Stub> studies_;
  std::unique_ptr<v1::WorkerService::Stub> workers_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_RPC_FIXTURE_H_
