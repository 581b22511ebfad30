// SPDX-License-Identifier: Apache-2.0
//
// File: driver.h
//
// A coordinator on a store, driven from a test: every call waits for its
// answer.
#ifndef FROSTLINE_TESTS_SERVER_DRIVER_H_
#define FROSTLINE_TESTS_SERVER_DRIVER_H_

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "server/coordinator.h"
#include "tests/server/example_study.h"

namespace frostline {

class Driver {
 public:
  Driver(TrialStore& store, const Clock& clock, CoordinatorOptions options = {})
      : coordinator_(
            std::make_unique<Coordinator>(std::move(options), store, clock)) {
    started_ = coordinator_->Start();
  }

  Coordinator& coordinator() { return *coordinator_; }
  const absl::Status& started() const { return started_; }

  // Call(&Coordinator::GetStudy, request)
  template <typename Request, typename Answer>
  absl::StatusOr<Answer> Call(void (Coordinator::*method)(Request,
                                                          Reply<Answer>),
                              Request request) {
    std::promise<absl::StatusOr<Answer>> promise;
    auto future = promise.get_future();
    (coordinator_.get()->*method)(std::move(request),
                                  [&promise](absl::StatusOr<Answer> answer) {
                                    promise.set_value(std::move(answer));
                                  });
    return future.get();
  }

  // Of methods that are told when their caller hangs up.
  template <typename Request, typename Answer>
  absl::StatusOr<Answer> Call(void (Coordinator::*method)(Request, CancelFlag,
                                                          Reply<Answer>),
                              Request request) {
    return Start(method, std::move(request), nullptr).get();
  }

  // The same, under way.
  template <typename Request, typename Answer>
  std::future<absl::StatusOr<Answer>> Start(
      void (Coordinator::*method)(Request, CancelFlag, Reply<Answer>),
      Request request, CancelFlag cancelled) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<Answer>>>();
    (coordinator_.get()->*method)(std::move(request), std::move(cancelled),
                                  [promise](absl::StatusOr<Answer> answer) {
                                    promise->set_value(std::move(answer));
                                  });
    return promise->get_future();
  }

  absl::StatusOr<v1::RegisterReply> Register(const std::string& worker,
                                             const std::string& boot_id) {
    v1::RegisterRequest request;
    request.set_worker_id(worker);
    request.mutable_worker()->set_boot_id(boot_id);
    request.mutable_worker()->set_slots(1);
    return Call(&Coordinator::Register, request);
  }

  // An Acquire that is under way; get() waits for its answer.
  std::future<absl::StatusOr<v1::AcquireReply>> StartAcquire(
      v1::AcquireRequest request, CancelFlag cancelled = nullptr) {
    auto promise =
        std::make_shared<std::promise<absl::StatusOr<v1::AcquireReply>>>();
    coordinator_->Acquire(std::move(request), std::move(cancelled),
                          [promise](absl::StatusOr<v1::AcquireReply> answer) {
                            promise->set_value(std::move(answer));
                          });
    return promise->get_future();
  }

  static v1::AcquireRequest AcquireOf(const std::string& worker,
                                      const std::string& boot_id) {
    v1::AcquireRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker(WorkerNameOf(worker));
    request.set_boot_id(boot_id);
    request.set_max_leases(1);
    request.mutable_wait()->set_seconds(20);
    return request;
  }

  // One lease, or a failure of the test that asks for it.
  v1::Lease AcquireOne(const std::string& worker, const std::string& boot_id) {
    const auto reply = StartAcquire(AcquireOf(worker, boot_id)).get();
    return reply.ok() && reply->leases_size() == 1 ? reply->leases(0)
                                                   : v1::Lease();
  }

  static v1::LeaseRef RefOf(const v1::Lease& lease) {
    v1::LeaseRef ref;
    ref.set_trial(lease.trial());
    ref.set_attempt(lease.attempt());
    ref.set_secret(lease.secret());
    return ref;
  }

  absl::StatusOr<v1::FinishReply> Finish(const v1::Lease& lease,
                                         double accuracy) {
    v1::FinishRequest request;
    *request.mutable_lease() = RefOf(lease);
    request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    (*request.mutable_outcome()->mutable_metrics())["accuracy"] = accuracy;
    return Call(&Coordinator::Finish, request);
  }

  absl::StatusOr<v1::ReportReply> Report(const v1::Lease& lease,
                                         std::int64_t step, double accuracy) {
    v1::ReportRequest request;
    *request.mutable_lease() = RefOf(lease);
    v1::Measurement* const measurement = request.add_measurements();
    measurement->set_step(step);
    (*measurement->mutable_metrics())["accuracy"] = accuracy;
    return Call(&Coordinator::Report, request);
  }

  absl::StatusOr<v1::HeartbeatReply> Heartbeat(const std::string& worker,
                                               const std::string& boot_id,
                                               const v1::Lease& lease) {
    v1::HeartbeatRequest request;
    request.set_worker(WorkerNameOf(worker));
    request.set_boot_id(boot_id);
    *request.add_leases()->mutable_lease() = RefOf(lease);
    return Call(&Coordinator::Heartbeat, request);
  }

  absl::StatusOr<v1::Study> GetStudy(const std::string& id) {
    v1::GetStudyRequest request;
    request.set_name(StudyNameOf(id));
    return Call(&Coordinator::GetStudy, request);
  }

  absl::StatusOr<std::vector<v1::StudyEvent>> NextEvents(const std::string& id,
                                                         std::int64_t after,
                                                         Duration wait) {
    std::promise<absl::StatusOr<std::vector<v1::StudyEvent>>> promise;
    v1::WatchStudyRequest request;
    request.set_name(StudyNameOf(id));
    request.set_after_revision(after);
    coordinator_->NextEvents(
        request, wait, nullptr,
        [&promise](absl::StatusOr<std::vector<v1::StudyEvent>> events) {
          promise.set_value(std::move(events));
        });
    return promise.get_future().get();
  }

 private:
  std::unique_ptr<Coordinator> coordinator_;
  absl::Status started_;
};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SERVER_DRIVER_H_
