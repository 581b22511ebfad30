// SPDX-License-Identifier: Apache-2.0
//
// File: send.h
//
// How a virtual worker sends a request: noted, timed, and sent again under its
// id until there is an answer. Included by virtual_worker.cc alone.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_SEND_H_
#define FROSTLINE_TESTS_BENCH_LOAD_SEND_H_

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/bench/load/virtual_worker.h"

namespace frostline::bench {

template <typename Request, typename Reply>
struct VirtualWorker::Exchange {
  using Method = std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> (
      Stub::*)(grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

  Method method;
  Request request;
  HistoryEvent event;  // as noted at each invoke
  Duration deadline{0};
  bool retried = true;    // a heartbeat is not: the next one will do
  bool repeated = false;  // to be sent once more although it was answered
  EventLoop::Done<Reply> then;
};

// What an answer adds to the history.
inline void AddAnswer(const v1::RegisterReply&, HistoryEvent*) {}
inline void AddAnswer(const v1::ReleaseReply&, HistoryEvent*) {}
inline void AddAnswer(const v1::AcquireReply& reply, HistoryEvent* event) {
  if (reply.leases().empty()) return;
  const v1::Lease& lease = reply.leases(0);
  event->trial = lease.trial();
  event->attempt = lease.attempt();
  event->ttl = std::chrono::seconds(lease.ttl().seconds()) +
               Duration(lease.ttl().nanos());
}
inline void AddAnswer(const v1::HeartbeatReply& reply, HistoryEvent* event) {
  if (reply.directives().empty()) return;
  event->said = v1::Directive::Action_Name(reply.directives(0).action());
}
inline void AddAnswer(const v1::ReportReply& reply, HistoryEvent* event) {
  event->said = v1::Directive::Action_Name(reply.directive().action());
}
inline void AddAnswer(const v1::FinishReply& reply, HistoryEvent* event) {
  event->said = v1::FinishReply::Verdict_Name(reply.verdict());
}

// Whether the request may have been carried out, or may be later.
inline bool MayHaveHappened(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return false;
    default:
      return true;
  }
}

inline std::string IdOf(const absl::Status& status) {
  const auto detail = DetailOf(status);
  return detail.has_value() ? ErrorCode(detail->id)
                            : absl::StatusCodeToString(status.code());
}

template <typename Request, typename Reply>
void VirtualWorker::Send(std::shared_ptr<Exchange<Request, Reply>> exchange) {
  const SteadyTime sent = fleet_.clock.Steady();
  Note(exchange->event, Kind::kInvoke);
  fleet_.loop.Call(
      stub_, exchange->method, exchange->request, exchange->deadline,
      EventLoop::Done<Reply>([this, exchange, sent, life = life_](
                                 const absl::Status& status, Reply& reply) {
        HistoryEvent answer = exchange->event;
        answer.steps.clear();
        if (status.ok()) {
          fleet_.figures.Answered(NameOf(answer.op),
                                  fleet_.clock.Steady() - sent);
          AddAnswer(reply, &answer);
          Note(std::move(answer), Kind::kOk);
          backoff_.Reset();
        } else {
          answer.said = IdOf(status);
          fleet_.figures.Failed(answer.said);
          Note(std::move(answer),
               MayHaveHappened(status) ? Kind::kUnknown : Kind::kFail);
        }
        if (life != life_) return;
        const bool again = !status.ok() && MayHaveHappened(status);
        if (again && exchange->retried) {
          fleet_.loop.After(backoff_.Next(rng_), [this, exchange, life] {
            if (life == life_) Send(exchange);
          });
        } else if (status.ok() && std::exchange(exchange->repeated, false)) {
          Send(exchange);
        } else {
          exchange->then(status, reply);
        }
      }));
}

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_SEND_H_
