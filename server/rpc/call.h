// SPDX-License-Identifier: Apache-2.0
//
// File: call.h
//
// One call from the wire to the coordinator and back: admit (size, parse, what
// is served, validate), call, answer. Every unary method is made by Unary():
//
//   table.unary["frostline.v1.StudyService.GetStudy"] =
//       Unary(coordinator, &Coordinator::GetStudy);
//
// A call owns itself until gRPC is done with it, which is not before it was
// answered. It is answered exactly once: by its reply, by the loss of its
// reply, or by the server's own deadline, whichever comes first.
#ifndef FROSTLINE_SERVER_RPC_CALL_H_
#define FROSTLINE_SERVER_RPC_CALL_H_

#include <grpcpp/alarm.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "proto/served.h"
#include "server/coordinator.h"
#include "server/rpc/admission.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/status.h"
#include "server/wire/validate.h"

namespace frostline {

// The request of a call that may be served. `in` holds its bytes.
template <typename Request>
absl::StatusOr<Request> Admit(const grpc::ByteBuffer& in, Duration time_left) {
  RETURN_IF_ERROR(CheckSize(in));
  Request request;
  RETURN_IF_ERROR(Parse(in, &request));
  RETURN_IF_ERROR(CheckServed(request));
  RETURN_IF_ERROR(Validate(request));
  RETURN_IF_ERROR(CheckWait(request, time_left));
  return request;
}

template <typename Message>
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  // `out` belongs to gRPC and lives as long as the call.
  explicit UnaryCall(grpc::ByteBuffer* out) : out_(out) {}

  const CancelFlag& cancelled() const { return cancelled_; }

  void Answer(const absl::StatusOr<Message>& result) { End(*open_, result); }

  // May be called from any thread, later or at once.
  Reply<Message> TakeReply() {
    return [ticket =
                Ticket(open_)](const absl::StatusOr<Message>& result) mutable {
      ticket.Use(result);
    };
  }

  // For a limit that gRPC does not keep. Before the reply is taken.
  void EndAfter(Duration limit) {
    alarm_.emplace();
    alarm_->Set(
        std::chrono::system_clock::now() +
            std::chrono::duration_cast<std::chrono::system_clock::duration>(
                limit),
        [open = open_, cancelled = cancelled_, limit](bool rang) {
          if (!rang) return;  // answered before
          cancelled->store(true);
          End(*open, DeadlinePassed(limit));
        });
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override { delete this; }

 private:
  // The call until somebody ends it; outlives it where a reply comes late.
  using Open = std::atomic<UnaryCall*>;

  static void End(Open& open, const absl::StatusOr<Message>& result) {
    UnaryCall* const call = open.exchange(nullptr);
    if (call == nullptr) return;
    absl::Status status = result.status();
    if (status.ok()) status = Serialize(*result, call->out_);
    call->Finish(ToGrpcStatus(status));
  }

  // The right to answer, lost with the reply that holds it.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<Open> open) : open_(std::move(open)) {}
    Ticket(Ticket&&) noexcept = default;
    ~Ticket() {
      const bool unused = open_ != nullptr && open_->load() != nullptr;
      if (unused) Use(ReplyDropped());
    }
    void Use(const absl::StatusOr<Message>& result) { End(*open_, result); }

   private:
    std::shared_ptr<Open> open_;
  };

  grpc::ByteBuffer* const out_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>(this);
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<grpc::Alarm> alarm_;
};

// `call` is (Request, CancelFlag, Reply<Message>) -> void.
template <typename Request, typename Message, typename Call>
UnaryMethod ServeUnary(Call call, Duration longest = kLongestDeadline) {
  return [call = std::move(call), longest](grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* in,
                                           grpc::ByteBuffer* out) {
    auto* reactor = new UnaryCall<Message>(out);
    const TimeLimit limit = LimitOf(context->deadline(), longest);
    absl::StatusOr<Request> request = Admit<Request>(*in, limit.left);
    if (!request.ok()) {
      reactor->Answer(request.status());
      return reactor;
    }
    if (limit.is_ours) reactor->EndAfter(limit.left);
    call(*std::move(request), reactor->cancelled(), reactor->TakeReply());
    return reactor;
  };
}

template <typename Request, typename Message>
UnaryMethod Unary(Coordinator& coordinator,
                  void (Coordinator::*method)(Request, Reply<Message>)) {
  return ServeUnary<Request, Message>(
      [&coordinator, method](Request request, const CancelFlag&,
                             Reply<Message> reply) {
        (coordinator.*method)(std::move(request), std::move(reply));
      });
}

// For calls that wait: the coordinator learns when the caller hangs up.
template <typename Request, typename Message>
UnaryMethod Unary(Coordinator& coordinator,
                  void (Coordinator::*method)(Request, CancelFlag,
                                              Reply<Message>)) {
  return ServeUnary<Request, Message>(
      [&coordinator, method](Request request, CancelFlag cancelled,
                             Reply<Message> reply) {
        (coordinator.*method)(std::move(request), std::move(cancelled),
                              std::move(reply));
      });
}

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_CALL_H_
