// SPDX-License-Identifier: Apache-2.0
//
// File: admin_client.h
//
// A person's side of a load run: creates the study and reads what came of it.
//
//   AdminClient admin("127.0.0.1:7070");
//   admin.Call(admin.studies(), &v1::StudyService::Stub::GetStudy, request);
#ifndef FROSTLINE_TESTS_BENCH_LOAD_ADMIN_CLIENT_H_
#define FROSTLINE_TESTS_BENCH_LOAD_ADMIN_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/admin_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "frostline/v1/worker_service.grpc.pb.h"
#include "proto/wire_error.h"
#include "tests/bench/load/checker.h"

namespace frostline::bench {

// A study whose space is `parameters` log-uniform floats, with the random
// sampler, and an objective "accuracy".
v1::CreateStudyRequest LoadStudy(const std::string& id, std::int64_t trials,
                                 int parameters);

// `count` finished trials of such a study.
v1::ImportTrialsRequest LoadHistory(const std::string& study, int count,
                                    int parameters);

class AdminClient {
 public:
  explicit AdminClient(
      const std::string& address,
      std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr);

  v1::StudyService::Stub& studies() { return *studies_; }
  v1::WorkerService::Stub& workers() { return *workers_; }
  v1::AdminService::Stub& admin() { return *admin_; }

  // Waits for a coordinator that is away, up to the deadline; what was cut off
  // is sent again, which no request minds.
  template <typename Stub, typename Request, typename Reply>
  absl::StatusOr<Reply> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Reply*),
      const Request& request,
      std::chrono::seconds deadline = std::chrono::seconds(30)) {
    absl::Status status;
    for (int i = 0; i < kMostTries; ++i) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      context.set_deadline(std::chrono::system_clock::now() + deadline);
      Reply reply;
      status = proto::FromGrpcStatus((stub.*method)(&context, request, &reply));
      if (status.ok()) return reply;
      if (!absl::IsUnavailable(status)) break;
    }
    return status;
  }

  absl::StatusOr<v1::Study> GetStudy(const std::string& name);
  absl::StatusOr<v1::ServerInfo> GetInfo();
  // Everything the checker wants to see, page by page; measurements on demand.
  absl::StatusOr<StoredStudy> ReadStudy(const std::string& name,
                                        bool with_measurements);

 private:
  static constexpr int kMostTries = 20;

  absl::Status ReadTrials(StoredStudy* study);
  absl::Status ReadMeasurements(StoredTrial* trial);

  std::unique_ptr<v1::StudyService::Stub> studies_;
  std::unique_ptr<v1::WorkerService::Stub> workers_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_ADMIN_CLIENT_H_
