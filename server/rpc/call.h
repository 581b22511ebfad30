// SPDX-License-Identifier: Apache-2.0
//
// File: call.h
//
// One call from the wire to the coordinator and back: admit (deadline, size,
// parse, validate), call, answer. Every unary method is made by Unary():
//
//   table.unary["frostline.v1.StudyService.GetStudy"] =
//       Unary(coordinator, &Coordinator::GetStudy);
//
// A call owns itself until gRPC is done with it, which is not before it was
// answered; it is answered exactly once, even if the reply is dropped.
#ifndef FROSTLINE_SERVER_RPC_CALL_H_
#define FROSTLINE_SERVER_RPC_CALL_H_

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
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

  void Answer(const absl::StatusOr<Message>& result) {
    absl::Status status = result.status();
    if (status.ok()) status = Serialize(*result, out_);
    Finish(ToGrpcStatus(status));
  }

  // May be called from any thread, later or at once.
  Reply<Message> TakeReply() {
    return [answer = OneAnswer(this)](
               const absl::StatusOr<Message>& result) mutable {
      if (answer != nullptr) answer.release()->Answer(result);
    };
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override { delete this; }

 private:
  struct AnswerDropped {
    void operator()(UnaryCall* call) const { call->Answer(ReplyDropped()); }
  };
  using OneAnswer = std::unique_ptr<UnaryCall, AnswerDropped>;

  grpc::ByteBuffer* const out_;
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
};

// `call` is (Request, CancelFlag, Reply<Message>) -> void.
template <typename Request, typename Message, typename Call>
UnaryMethod ServeUnary(Call call) {
  return [call = std::move(call)](grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* in,
                                  grpc::ByteBuffer* out) {
    auto* reactor = new UnaryCall<Message>(out);
    const absl::StatusOr<Duration> time_left = TimeLeft(context->deadline());
    if (!time_left.ok()) {
      reactor->Answer(time_left.status());
      return reactor;
    }
    absl::StatusOr<Request> request = Admit<Request>(*in, *time_left);
    if (!request.ok()) {
      reactor->Answer(request.status());
      return reactor;
    }
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
