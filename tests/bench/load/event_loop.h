// SPDX-License-Identifier: Apache-2.0
//
// File: event_loop.h
//
// One thread for ten thousand callers: asynchronous calls and timers on one
// completion queue. Everything that is handed in runs on the thread in Run(),
// one after the other, so nothing in it needs a lock.
//
//   loop.Call(*stub, &Stub::PrepareAsyncFinish, request, seconds(10),
//             [](const absl::Status& status, v1::FinishReply& reply) {...});
//   loop.After(milliseconds(50), [] {...});
//   loop.Run();   // until Stop(), then until every call has come back
#ifndef FROSTLINE_TESTS_BENCH_LOAD_EVENT_LOOP_H_
#define FROSTLINE_TESTS_BENCH_LOAD_EVENT_LOOP_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/clock.h"
#include "proto/wire_error.h"

namespace frostline::bench {

class EventLoop {
 public:
  using Work = absl::AnyInvocable<void()>;
  template <typename Reply>
  using Done = absl::AnyInvocable<void(const absl::Status&, Reply&)>;

  explicit EventLoop(const Clock& clock) : clock_(clock) {}
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Once stopping, calls and timers are dropped unheard.
  template <typename Stub, typename Request, typename Reply>
  void Call(Stub& stub,
            std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> (
                Stub::*method)(grpc::ClientContext*, const Request&,
                               grpc::CompletionQueue*),
            const Request& request, Duration deadline, Done<Reply> done);
  void After(Duration delay, Work work);

  void Run();
  // From any thread: cancels what is under way; Run() then returns.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

 private:
  struct Pending {
    virtual ~Pending() = default;
    virtual void Finish() = 0;
    grpc::ClientContext context;
  };
  template <typename Reply>
  struct TypedCall final : Pending {
    void Finish() override { done(proto::FromGrpcStatus(status), reply); }
    Reply reply;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> reader;
    Done<Reply> done;
  };

  void RunDueTimers();
  void Enter(Pending* call, Duration deadline);

  const Clock& clock_;
  grpc::CompletionQueue queue_;
  std::atomic<bool> stopping_{false};
  std::multimap<SteadyTime, Work> timers_;
  std::unordered_set<Pending*> pending_;
};

template <typename Stub, typename Request, typename Reply>
void EventLoop::Call(Stub& stub,
                     std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> (
                         Stub::*method)(grpc::ClientContext*, const Request&,
                                        grpc::CompletionQueue*),
                     const Request& request, Duration deadline,
                     Done<Reply> done) {
  if (stopping_) return;
  auto* const call = new TypedCall<Reply>();
  Enter(call, deadline);
  call->done = std::move(done);
  call->reader = (stub.*method)(&call->context, request, &queue_);
  call->reader->StartCall();
  call->reader->Finish(&call->reply, &call->status,
                       static_cast<Pending*>(call));
}

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_EVENT_LOOP_H_
