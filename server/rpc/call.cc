// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/call.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/alarm.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/server_context.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/log.h"
#include "frostline/v1/errors.pb.h"
#include "proto/served.h"
#include "proto/wire_error.h"
#include "server/auth/access.h"

namespace frostline::server {

TimeLimit LimitOf(std::chrono::system_clock::time_point asked,
                  Duration longest) {
  const Duration left = asked - std::chrono::system_clock::now();
  if (left <= longest) return {.left = left};
  return {.left = longest, .is_ours = true};
}

absl::Status CheckSize(const grpc::ByteBuffer& bytes) {
  return CheckRequestSize(bytes.Length());
}

absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* message) {
  grpc::ByteBuffer shared = bytes;  // counts a reference; Deserialize clears it
  const grpc::Status parsed =
      grpc::GenericDeserialize<grpc::ProtoBufferReader,
                               google::protobuf::Message>(&shared, message);
  if (parsed.ok()) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the request is no ", message->GetDescriptor()->full_name()),
      "build it from the contract frostline.v1, with all text in UTF-8");
}

absl::Status Serialize(const google::protobuf::Message& message,
                       grpc::ByteBuffer* bytes) {
  bytes->Clear();  // the writer takes nothing but an empty buffer
  bool owned = false;
  const grpc::Status written =
      grpc::GenericSerialize<grpc::ProtoBufferWriter,
                             google::protobuf::Message>(message, bytes, &owned);
  if (written.ok()) return absl::OkStatus();
  return MakeError(
      ErrorId::kInternal,
      absl::StrCat("a reply of type ", message.GetDescriptor()->full_name(),
                   " cannot be written"),
      "ask for a smaller page");
}

namespace {

constexpr int kRetrySeconds = 1;

static_assert(static_cast<int>(absl::StatusCode::kCancelled) ==
              static_cast<int>(grpc::StatusCode::CANCELLED));
static_assert(static_cast<int>(absl::StatusCode::kInvalidArgument) ==
              static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) ==
              static_cast<int>(grpc::StatusCode::UNAUTHENTICATED));

void Pack(const google::protobuf::Message& detail, const char* type_url,
          v1::StatusDetails* envelope) {
  auto* any = envelope->add_details();
  any->set_type_url(type_url);
  any->set_value(detail.SerializeAsString());
}

v1::BadRequest BadRequestOf(const ErrorDetail& detail) {
  v1::BadRequest bad_request;
  auto* violation = bad_request.add_field_violations();
  violation->set_field(proto::CleanText(detail.field, proto::kMaxFieldBytes));
  violation->set_description(KindOf(detail.id).title);
  return bad_request;
}

v1::RetryInfo RetryLater() {
  v1::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(kRetrySeconds);
  return retry;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const ErrorDetail detail = AnsweredDetail(status);
  const absl::StatusCode code = KindOf(detail.id).code;
  const std::string cause =
      proto::CleanText(std::string(status.message()), proto::kMaxCauseBytes);

  v1::StatusDetails envelope;
  envelope.set_code(static_cast<int>(code));
  envelope.set_message(cause);
  Pack(ErrorInfoOf(detail, cause), proto::kErrorInfoUrl, &envelope);
  if (code == absl::StatusCode::kInvalidArgument && !detail.field.empty()) {
    Pack(BadRequestOf(detail), proto::kBadRequestUrl, &envelope);
  }
  if (code == absl::StatusCode::kUnavailable ||
      code == absl::StatusCode::kResourceExhausted) {
    Pack(RetryLater(), proto::kRetryInfoUrl, &envelope);
  }
  return grpc::Status(static_cast<grpc::StatusCode>(code), cause,
                      envelope.SerializeAsString());
}

namespace {

std::string FirstOf(const grpc::AuthContext& context, const char* property) {
  const auto values = context.FindPropertyValues(property);
  return values.empty() ? ""
                        : std::string(values[0].data(), values[0].length());
}

}  // namespace

Shown ShownBy(const grpc::ServerContextBase& context) {
  Shown shown;
  const auto& metadata = context.client_metadata();
  const auto authorization = metadata.find("authorization");
  if (authorization != metadata.end()) {
    const auto& text = authorization->second;
    shown.authorization = SecretString(std::string(text.data(), text.length()));
  }
  const auto peer = context.auth_context();
  if (peer == nullptr) return shown;  // nobody
  const std::string transport =
      FirstOf(*peer, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  // Only loopback and Unix sockets are served in plaintext.
  shown.is_local = transport == "insecure";
  if (!shown.is_local) {
    shown.certificate_pem = FirstOf(*peer, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  }
  return shown;
}

TraceContext TraceOf(const grpc::ServerContextBase& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kTraceparent);
  if (found == metadata.end()) return NewTrace();
  const grpc::string_ref& text = found->second;
  TraceContext trace = ParseTraceparent({text.data(), text.length()});
  return trace.empty() ? NewTrace() : trace;
}

namespace {

using Answer = absl::StatusOr<MessagePtr>;

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

  // Sets a limit that gRPC does not keep. To be called before TakeReply().
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
  // The call, until somebody ends it. It outlives the call when a reply comes
  // late.
  using Open = std::atomic<UnaryCall*>;

  static void End(Open& open, const Answer& answer) {
    UnaryCall* const call = open.exchange(nullptr);
    if (call == nullptr) return;
    absl::Status status = answer.status();
    if (status.ok()) status = Serialize(**answer, call->out_);
    const grpc::Status said = ToGrpcStatus(status);
    call->NoteAnswered(static_cast<absl::StatusCode>(said.error_code()),
                       status);
    call->Finish(said);
  }

  // The right to answer, which is lost with the reply that holds it.
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

  void NoteAnswered(absl::StatusCode code, const absl::Status& status) const {
    const LogTraceScope traced(trace_);
    server::NoteAnswered(guarded_, code, SystemClock().Steady() - begun_,
                         status);
  }

  grpc::ByteBuffer* const out_;
  const Guarded& guarded_;
  const TraceContext trace_;
  const SteadyTime begun_ = SystemClock().Steady();
  const std::shared_ptr<Open> open_ = std::make_shared<Open>(this);
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<grpc::Alarm> alarm_;
};

}  // namespace

absl::StatusOr<MessagePtr> Admit(const VerbRow& verb,
                                 const grpc::ByteBuffer& in,
                                 Duration time_left) {
  RETURN_IF_ERROR(CheckSize(in));
  MessagePtr request(verb.request->New());
  RETURN_IF_ERROR(Parse(in, request.get()));
  RETURN_IF_ERROR(CheckRequest(verb, *request, time_left));
  return request;
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
      NoteRefused(guarded, verb, ShownBy(*context), context->peer(),
                  who.status());
      call->Refuse(who.status());
      return call;
    }
    absl::StatusOr<MessagePtr> request = Admit(verb, *in, limit.left);
    if (!request.ok()) {
      call->Refuse(request.status());
      return call;
    }
    if (limit.is_ours) call->EndAfter(limit.left);
    CallContext caller =
        ContextOf(*std::move(who), context->peer(), guarded.method, **request,
                  call->cancelled());
    caller.deadline = SystemClock().Steady() + limit.left;
    caller.trace = trace;
    verb.run(std::move(caller), *std::move(request), call->TakeReply());
    return call;
  };
}

namespace {

// A stream that is being answered. Each step is started by the end of the one
// before, so only the cancel flag is shared between threads. The call owns
// itself until gRPC is done with it.
class StreamCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  StreamCall(Guarded guarded, CallerRole role, Shown shown)
      : guarded_(std::move(guarded)), role_(role), shown_(std::move(shown)) {
    if (guarded_.counts != nullptr) guarded_.counts->begun.Add();
  }

  void Start(const grpc::CallbackServerContext& context, const StreamVerb& verb,
             const grpc::ByteBuffer& in) {
    absl::StatusOr<CallerIdentity> who = Identify(guarded_, role_, shown_);
    if (!who.ok()) return Finish(ToGrpcStatus(who.status()));
    absl::StatusOr<MessagePtr> request = Admit(verb, in, Duration::max());
    if (!request.ok()) return Finish(ToGrpcStatus(request.status()));
    CallContext caller = ContextOf(*std::move(who), context.peer(),
                                   guarded_.method, **request, cancelled_);
    caller.trace = TraceOf(context);
    const LogTraceScope traced(caller.trace);
    source_ = verb.begin(caller, *std::move(request));
    Ask();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);  // the reader is gone
    if (next_ < messages_.size()) return Write();
    Ask();
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override {
    if (guarded_.counts != nullptr) guarded_.counts->ended.Add();
    delete this;
  }

 private:
  using Messages = std::vector<MessagePtr>;
  struct ReplyLost {
    void operator()(StreamCall* call) const { call->Take(ReplyDropped()); }
  };
  using OneReply = std::unique_ptr<StreamCall, ReplyLost>;

  void Ask() {
    source_([reply = OneReply(this)](absl::StatusOr<Messages> got) mutable {
      if (reply != nullptr) reply.release()->Take(std::move(got));
    });
  }

  void Take(absl::StatusOr<Messages> got) {
    if (cancelled_->load()) return Finish(grpc::Status::CANCELLED);
    if (!got.ok()) return Finish(ToGrpcStatus(got.status()));
    const auto who = Identify(guarded_, role_, shown_);
    if (!who.ok()) return Finish(ToGrpcStatus(who.status()));
    messages_ = *std::move(got);
    if (messages_.empty()) return Finish(grpc::Status::OK);
    next_ = 0;
    Write();
  }

  void Write() {
    const absl::Status written = Serialize(*messages_[next_++], &out_);
    if (!written.ok()) return Finish(ToGrpcStatus(written));
    StartWrite(&out_);
  }

  const Guarded guarded_;
  const CallerRole role_;
  const Shown shown_;
  NextMessages source_;
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  Messages messages_;
  std::size_t next_ = 0;  // of messages_
  grpc::ByteBuffer out_;  // must stay while a write is under way
};

}  // namespace

StreamMethod ServeStream(StreamVerb verb, Guarded guarded) {
  return [verb = std::move(verb), guarded = std::move(guarded)](
             grpc::CallbackServerContext* context, const grpc::ByteBuffer* in) {
    auto* call = new StreamCall(guarded, verb.role, ShownBy(*context));
    call->Start(*context, verb, *in);
    return call;
  };
}

namespace {

using google::protobuf::MethodDescriptor;
using grpc::ByteBuffer;
using grpc::internal::RpcMethod;

class RefusedUnary final : public grpc::ServerUnaryReactor {
 public:
  explicit RefusedUnary(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

class RefusedStream final : public grpc::ServerWriteReactor<ByteBuffer> {
 public:
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// A caller that is nobody is not even told which methods there are.
grpc::Status RefusalOf(const grpc::CallbackServerContext& context,
                       const Gate& gate, const MethodDescriptor& method) {
  const auto caller = gate.Identify(ShownBy(context));
  return ToGrpcStatus(caller.ok() ? proto::MethodNotServed(method)
                                  : caller.status());
}

VerbCounts* CountsOf(CallCounts* counts, const MethodDescriptor& method) {
  if (counts == nullptr) return nullptr;
  return counts->Of(method.full_name(), method.server_streaming());
}

UnaryMethod FindUnary(const MethodDescriptor& method, const VerbTable& served,
                      const Gate& gate, AuditLog* audit, Duration longest,
                      CallCounts* counts) {
  const auto found = served.unary.find(method.full_name());
  if (found != served.unary.end()) {
    return ServeUnary(
        found->second,
        {method.full_name(), gate, audit, CountsOf(counts, method)}, longest);
  }
  return [&gate, &method](grpc::CallbackServerContext* context, auto*, auto*) {
    return new RefusedUnary(RefusalOf(*context, gate, method));
  };
}

StreamMethod FindStream(const MethodDescriptor& method, const VerbTable& served,
                        const Gate& gate, CallCounts* counts) {
  const auto found = served.streams.find(method.full_name());
  if (found != served.streams.end()) {
    return ServeStream(found->second, {method.full_name(), gate, nullptr,
                                       CountsOf(counts, method)});
  }
  return [&gate, &method](grpc::CallbackServerContext* context, auto*) {
    return new RefusedStream(RefusalOf(*context, gate, method));
  };
}

}  // namespace

RawService::RawService(const google::protobuf::ServiceDescriptor& service,
                       const VerbTable& served, const Gate& gate,
                       AuditLog* audit, Duration longest, CallCounts* counts)
    : gate_(gate), audit_(audit), longest_(longest), counts_(counts) {
  for (int i = 0; i < service.method_count(); ++i) {
    Add(*service.method(i), served);
  }
}

void RawService::Add(const MethodDescriptor& method, const VerbTable& served) {
  const std::string& path = paths_.emplace_back(
      absl::StrCat("/", method.service()->full_name(), "/", method.name()));
  const bool streams = method.server_streaming();
  AddMethod(new grpc::internal::RpcServiceMethod(
      path.c_str(),
      streams ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC, nullptr));
  grpc::internal::MethodHandler* handler = nullptr;  // the service owns it
  if (streams) {
    handler = new grpc::internal::CallbackServerStreamingHandler<ByteBuffer,
                                                                 ByteBuffer>(
        FindStream(method, served, gate_, counts_));
  } else {
    handler = new grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>(
        FindUnary(method, served, gate_, audit_, longest_, counts_));
  }
  MarkMethodRawCallback(method.index(), handler);
}

}  // namespace frostline::server
