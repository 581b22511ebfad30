// SPDX-License-Identifier: Apache-2.0
//
// File: driver.h
//
// A coordinator on a store, driven from a test: every call waits for its
// answer.
#ifndef FROSTLINE_TESTS_SERVER_DRIVER_H_
#define FROSTLINE_TESTS_SERVER_DRIVER_H_

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/coordinator.h"
#include "tests/server/example_study.h"

namespace frostline::server {

class Driver {
 public:
  Driver(storage::TrialStore& store, const Clock& clock,
         CoordinatorOptions options = {})
      : coordinator_(
            std::make_unique<Coordinator>(std::move(options), store, clock)) {
    started_ = coordinator_->Start();
  }

  Coordinator& coordinator() { return *coordinator_; }
  const absl::Status& started() const { return started_; }

  // Call<v1::Study>(request): of the verb that takes this request.
  template <typename Answer, typename Request>
  absl::StatusOr<Answer> Call(const Request& request) {
    return Start<Answer>(request).get();
  }

  // The same, under way.
  template <typename Answer, typename Request>
  std::future<absl::StatusOr<Answer>> Start(const Request& request,
                                            CancelFlag cancelled = nullptr) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<Answer>>>();
    const UnaryVerb& verb = VerbOf(coordinator_->verbs().unary, request);
    CallContext caller(LocalAdmin());
    caller.cancelled = std::move(cancelled);
    verb.run(std::move(caller), std::make_unique<Request>(request),
             [promise](absl::StatusOr<MessagePtr> answer) {
               if (!answer.ok()) return promise->set_value(answer.status());
               promise->set_value(std::move(static_cast<Answer&>(**answer)));
             });
    return promise->get_future();
  }

  // The next messages of a stream that has begun.
  template <typename Answer>
  static absl::StatusOr<std::vector<Answer>> Next(const NextMessages& stream) {
    std::promise<absl::StatusOr<std::vector<MessagePtr>>> promise;
    stream([&promise](absl::StatusOr<std::vector<MessagePtr>> answer) {
      promise.set_value(std::move(answer));
    });
    auto messages = promise.get_future().get();
    if (!messages.ok()) return messages.status();
    std::vector<Answer> answers;
    for (MessagePtr& message : *messages) {
      answers.push_back(std::move(static_cast<Answer&>(*message)));
    }
    return answers;
  }

  template <typename Request>
  NextMessages Begin(const Request& request) {
    return VerbOf(coordinator_->verbs().streams, request)
        .begin(CallContext(LocalAdmin()), std::make_unique<Request>(request));
  }

  // What an export came to, and in how many parts.
  struct Exported {
    std::string data;
    int parts = 0;
  };
  absl::StatusOr<Exported> Export(const v1::ExportTrialsRequest& request) {
    const NextMessages stream = Begin(request);
    Exported all;
    while (true) {
      auto chunks = Next<v1::ExportChunk>(stream);
      if (!chunks.ok()) return chunks.status();
      if (chunks->empty()) return all;
      all.data += chunks->front().data();
      ++all.parts;
    }
  }

  absl::StatusOr<v1::RegisterReply> Register(const std::string& worker,
                                             const std::string& boot_id) {
    v1::RegisterRequest request;
    request.set_worker_id(worker);
    request.mutable_worker()->set_boot_id(boot_id);
    request.mutable_worker()->set_slots(1);
    return Call<v1::RegisterReply>(request);
  }

  // An Acquire that is under way; get() waits for its answer.
  std::future<absl::StatusOr<v1::AcquireReply>> StartAcquire(
      // NOLINTNEXTLINE(performance-unnecessary-value-param)
      v1::AcquireRequest request, CancelFlag cancelled = nullptr) {
    const std::int64_t waiting = Waiting();
    auto answer = Start<v1::AcquireReply>(request, std::move(cancelled));
    // Until it waits, or is answered; one more of the same worker is not
    // counted, and is soon there.
    for (int i = 0; i < 100 && Waiting() <= waiting; ++i) {
      const auto left = answer.wait_for(std::chrono::milliseconds(1));
      if (left == std::future_status::ready) break;
    }
    return answer;
  }

  // Workers that wait for a trial.
  std::int64_t Waiting() {
    return Call<v1::ServerInfo>(v1::GetInfoRequest())->waiting_workers();
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
                                         double accuracy,
                                         double train_seconds = 0) {
    v1::FinishRequest request;
    *request.mutable_lease() = RefOf(lease);
    request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    (*request.mutable_outcome()->mutable_metrics())["accuracy"] = accuracy;
    if (train_seconds > 0) {
      request.mutable_outcome()->mutable_usage()->set_train_seconds(
          train_seconds);
    }
    return Call<v1::FinishReply>(request);
  }

  absl::StatusOr<v1::ReportReply> Report(const v1::Lease& lease,
                                         std::int64_t step, double accuracy) {
    v1::ReportRequest request;
    *request.mutable_lease() = RefOf(lease);
    v1::Measurement* const measurement = request.add_measurements();
    measurement->set_step(step);
    (*measurement->mutable_metrics())["accuracy"] = accuracy;
    return Call<v1::ReportReply>(request);
  }

  absl::StatusOr<v1::HeartbeatReply> Heartbeat(const std::string& worker,
                                               const std::string& boot_id,
                                               const v1::Lease& lease) {
    v1::HeartbeatRequest request;
    request.set_worker(WorkerNameOf(worker));
    request.set_boot_id(boot_id);
    *request.add_leases()->mutable_lease() = RefOf(lease);
    return Call<v1::HeartbeatReply>(request);
  }

  absl::StatusOr<v1::Study> GetStudy(const std::string& id) {
    v1::GetStudyRequest request;
    request.set_name(StudyNameOf(id));
    return Call<v1::Study>(request);
  }

  absl::StatusOr<std::vector<v1::StudyEvent>> NextEvents(const std::string& id,
                                                         std::int64_t after) {
    v1::WatchStudyRequest request;
    request.set_name(StudyNameOf(id));
    request.set_after_revision(after);
    return Next<v1::StudyEvent>(Begin(request));
  }

 private:
  template <typename Verbs, typename Request>
  static const typename Verbs::mapped_type& VerbOf(const Verbs& verbs,
                                                   const Request& request) {
    for (const auto& [name, verb] : verbs) {
      if (verb.request->GetDescriptor() == request.GetDescriptor()) return verb;
    }
    std::abort();  // not served
  }

  std::unique_ptr<Coordinator> coordinator_;
  absl::Status started_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_DRIVER_H_
