// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/call.h"

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "proto/served.h"
#include "server/auth/access.h"
#include "server/rpc/status.h"

namespace frostline::server {
namespace {

using Answer = absl::StatusOr<MessagePtr>;

// Nobody who calls can mend it.
bool IsOurFault(grpc::StatusCode code) {
  return code == grpc::StatusCode::INTERNAL ||
         code == grpc::StatusCode::UNKNOWN ||
         code == grpc::StatusCode::DATA_LOSS;
}

class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  // `out` belongs to gRPC and lives as long as the call.
  // `guarded` outlives the server.
  UnaryCall(grpc::ByteBuffer* out, const Guarded& guarded, TraceContext trace)
      : out_(out), guarded_(guarded), trace_(std::move(trace)) {
    if (guarded_.counts != nullptr) guarded_.counts->begun.Add();
  }

  const CancelFlag& cancelled() const { return cancelled_; }
  const TraceContext& trace() const { return trace_; }

  void Refuse(const absl::Status& status) { End(*open_, status); }

  // May be called from any thread, later or at once.
  Reply<MessagePtr> TakeReply() {
    return [ticket = Ticket(open_)](const Answer& answer) mutable {
      ticket.Use(answer);
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

  static void End(Open& open, const Answer& answer) {
    UnaryCall* const call = open.exchange(nullptr);
    if (call == nullptr) return;
    absl::Status status = answer.status();
    if (status.ok()) status = Serialize(**answer, call->out_);
    const grpc::Status said = ToGrpcStatus(status);
    call->NoteAnswered(said.error_code(), status);
    call->Finish(said);
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
    void Use(const Answer& answer) { End(*open_, answer); }

   private:
    std::shared_ptr<Open> open_;
  };

  void NoteAnswered(grpc::StatusCode code, const absl::Status& status) const {
    const Duration took = SystemClock().Steady() - begun_;
    if (guarded_.counts != nullptr) guarded_.counts->NoteAnswered(code, took);
    const LogLevel level =
        IsOurFault(code) ? LogLevel::kWarning : LogLevel::kDebug;
    if (!IsLogged(level)) return;
    const LogTraceScope traced(trace_);
    Log(level, "call",
        {{"method", guarded_.method},
         {"code", CodeName(code)},
         {"seconds", absl::StrCat(std::chrono::duration<double>(took).count())},
         {"why", std::string(status.message())}});
  }

  grpc::ByteBuffer* const out_;
  const Guarded& guarded_;
  const TraceContext trace_;
  const SteadyTime begun_ = SystemClock().Steady();
  const std::shared_ptr<Open> open_ = std::make_shared<Open>(this);
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<grpc::Alarm> alarm_;
};

// Only of calls that would have changed something. Of the request nothing was
// looked at.
void NoteRefused(const Guarded& guarded, const UnaryVerb& verb,
                 const grpc::CallbackServerContext& context,
                 const absl::Status& why) {
  if (guarded.audit == nullptr) return;
  if (!MayChange(*verb.request->GetDescriptor(), guarded.method)) return;
  const auto known = guarded.gate.Identify(ShownBy(context), verb.role);
  CallContext caller(known.ok() ? *known : CallerIdentity());
  caller.peer = context.peer();
  NoteRequest(*verb.request, guarded.method, &caller);
  guarded.audit->NoteRefused(caller, why);
}

}  // namespace

absl::StatusOr<MessagePtr> Admit(const VerbRow& verb,
                                 const grpc::ByteBuffer& in,
                                 Duration time_left) {
  RETURN_IF_ERROR(CheckSize(in));
  MessagePtr request(verb.request->New());
  RETURN_IF_ERROR(Parse(in, request.get()));
  RETURN_IF_ERROR(proto::CheckServed(*request));
  RETURN_IF_ERROR(verb.check(*request, time_left));
  return request;
}

absl::StatusOr<CallerIdentity> Identify(const Guarded& guarded, CallerRole role,
                                        const Shown& shown) {
  ASSIGN_OR_RETURN(CallerIdentity caller, guarded.gate.Identify(shown, role));
  RETURN_IF_ERROR(guarded.gate.TakeCall(caller));
  RETURN_IF_ERROR(CheckRole(caller, role, guarded.method));
  return caller;
}

CallContext ContextOf(const grpc::CallbackServerContext& context,
                      CallerIdentity identity, const std::string& method,
                      const google::protobuf::Message& request,
                      CancelFlag cancelled) {
  CallContext caller(std::move(identity));
  caller.peer = context.peer();
  caller.cancelled = std::move(cancelled);
  NoteRequest(request, method, &caller);
  return caller;
}

UnaryMethod ServeUnary(UnaryVerb verb, Guarded guarded, Duration longest) {
  return [verb = std::move(verb), guarded = std::move(guarded), longest](
             grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
             grpc::ByteBuffer* out) {
    auto* call = new UnaryCall(out, guarded, TraceOf(*context));
    const TraceContext trace = call->trace();  // the call may end at any time
    const LogTraceScope traced(trace);
    const TimeLimit limit = LimitOf(context->deadline(), longest);
    absl::StatusOr<CallerIdentity> who =
        Identify(guarded, verb.role, ShownBy(*context));
    if (!who.ok()) {
      NoteRefused(guarded, verb, *context, who.status());
      call->Refuse(who.status());
      return call;
    }
    absl::StatusOr<MessagePtr> request = Admit(verb, *in, limit.left);
    if (!request.ok()) {
      call->Refuse(request.status());
      return call;
    }
    if (limit.is_ours) call->EndAfter(limit.left);
    CallContext caller = ContextOf(*context, *std::move(who), guarded.method,
                                   **request, call->cancelled());
    caller.deadline = SystemClock().Steady() + limit.left;
    caller.trace = trace;
    verb.run(std::move(caller), *std::move(request), call->TakeReply());
    return call;
  };
}

}  // namespace frostline::server
