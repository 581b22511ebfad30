// SPDX-License-Identifier: Apache-2.0
#include "server/http/json_calls.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/mutex.h"
#include "proto/wire_error.h"

namespace frostline::server {
namespace {

using google::protobuf::Message;

// As the Connect protocol maps codes.
int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

// Maps are written in the order of their keys: one answer has one text, and so
// one ETag.
std::string InOrder(const Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

absl::StatusOr<std::string> JsonOf(const Message& message) {
  constexpr char kTypes[] = "type.googleapis.com";
  static auto* const resolver =
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          kTypes, google::protobuf::DescriptorPool::generated_pool());
  std::string json;
  const auto written = google::protobuf::util::BinaryToJsonString(
      resolver, absl::StrCat(kTypes, "/", message.GetDescriptor()->full_name()),
      InOrder(message), &json);
  if (written.ok()) return json;
  return MakeError(
      ErrorId::kInternal,
      absl::StrCat("a reply of type ", message.GetDescriptor()->full_name(),
                   " cannot be written: ", written.ToString()),
      "ask for a smaller page");
}

absl::StatusOr<MessagePtr> ParseJson(const std::string& json,
                                     const Message& prototype) {
  MessagePtr request(prototype.New());
  if (json.empty()) return request;
  const auto read =
      google::protobuf::util::JsonStringToMessage(json, request.get());
  if (read.ok()) return request;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the request is no ", prototype.GetDescriptor()->full_name(),
                   ": ", std::string(read.message())),
      "build it from the contract frostline.v1, as JSON in UTF-8");
}

// An answer that a thread waits for. The reply may come later than anybody
// waits for it, or be lost.
class Awaited {
 public:
  static Reply<MessagePtr> ReplyTo(std::shared_ptr<Awaited> awaited) {
    return [ticket = Ticket(std::move(awaited))](
               absl::StatusOr<MessagePtr> answer) mutable {
      ticket.Use(std::move(answer));
    };
  }

  // Returns nothing when there is no answer in time.
  std::optional<absl::StatusOr<MessagePtr>> Wait(Duration longest) {
    const auto until = std::chrono::steady_clock::now() + longest;
    const MutexLock lock(&mutex_);
    while (!answer_.has_value()) {
      if (!answered_.WaitUntil(&mutex_, until)) break;
    }
    return std::move(answer_);
  }

 private:
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<Awaited> of) : of_(std::move(of)) {}
    Ticket(Ticket&&) noexcept = default;
    ~Ticket() {
      if (of_ != nullptr) Use(ReplyDropped());
    }
    void Use(absl::StatusOr<MessagePtr> answer) {
      const std::shared_ptr<Awaited> of = std::move(of_);
      const MutexLock lock(&of->mutex_);
      of->answer_ = std::move(answer);
      of->answered_.SignalAll();
    }

   private:
    std::shared_ptr<Awaited> of_;
  };

  Mutex mutex_;
  CondVar answered_;
  std::optional<absl::StatusOr<MessagePtr>> answer_ ABSL_GUARDED_BY(mutex_);
};

bool ReadsOnly(const JsonCall& call, const UnaryVerb& verb) {
  const bool is_readers =
      verb.role == CallerRole::kViewer || verb.role == CallerRole::kAnyone;
  return is_readers && !MayChange(*verb.request->GetDescriptor(), call.method);
}

}  // namespace

JsonAnswer JsonErrorOf(const absl::Status& status) {
  const ErrorDetail detail = AnsweredDetail(status);
  const absl::StatusCode code = KindOf(detail.id).code;
  const std::string cause =
      proto::CleanText(std::string(status.message()), proto::kMaxCauseBytes);
  google::protobuf::Struct error;
  auto& fields = *error.mutable_fields();
  fields["code"].set_string_value(absl::AsciiStrToLower(CodeName(code)));
  fields["message"].set_string_value(cause);
  const v1::ErrorInfo info = ErrorInfoOf(detail, cause);
  auto& told = *fields["details"]
                    .mutable_list_value()
                    ->add_values()
                    ->mutable_struct_value()
                    ->mutable_fields();
  told["type"].set_string_value("google.rpc.ErrorInfo");
  told["value"].set_string_value(absl::Base64Escape(info.SerializeAsString()));
  auto& debug = *told["debug"].mutable_struct_value()->mutable_fields();
  debug["reason"].set_string_value(info.reason());
  for (const auto& [name, text] : info.metadata()) {
    debug[name].set_string_value(text);
  }
  return {.status = HttpStatusOf(code),
          .body = JsonOf(error).value_or("{\"code\":\"internal\"}")};
}

JsonAnswer JsonCalls::Call(const JsonCall& call) const {
  const LogTraceScope traced(call.trace);
  const auto found = verbs_.unary.find(call.method);
  if (found == verbs_.unary.end()) return JsonErrorOf(NotServed(call));
  const Guarded guarded{
      call.method, gate_, audit_,
      counts_ == nullptr ? nullptr : counts_->Find(call.method)};
  const SteadyTime begun = SystemClock().Steady();
  if (guarded.counts != nullptr) guarded.counts->begun.Add();
  const absl::StatusOr<std::string> answer =
      Answer(call, guarded, found->second);
  const absl::StatusCode code =
      answer.ok() ? absl::StatusCode::kOk
                  : KindOf(AnsweredDetail(answer.status()).id).code;
  NoteAnswered(guarded, code, SystemClock().Steady() - begun, answer.status());
  if (!answer.ok()) return JsonErrorOf(answer.status());
  return {.status = 200, .body = *answer};
}

absl::StatusOr<std::string> JsonCalls::Answer(const JsonCall& call,
                                              const Guarded& guarded,
                                              const UnaryVerb& verb) const {
  absl::StatusOr<CallerIdentity> who = Identify(guarded, verb.role, call.shown);
  if (who.ok()) {
    const absl::Status served = CheckServedHere(call, verb);
    if (!served.ok()) who = served;
  }
  if (!who.ok()) {
    NoteRefused(guarded, verb, call.shown, call.peer, who.status());
    return who.status();
  }
  RETURN_IF_ERROR(CheckRequestSize(call.json.size()));
  ASSIGN_OR_RETURN(MessagePtr request, ParseJson(call.json, *verb.request));
  RETURN_IF_ERROR(CheckRequest(verb, *request, longest_));
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  CallContext caller =
      ContextOf(*std::move(who), call.peer, call.method, *request, cancelled);
  caller.deadline = SystemClock().Steady() + longest_;
  caller.trace = call.trace;
  const auto awaited = std::make_shared<Awaited>();
  verb.run(std::move(caller), std::move(request), Awaited::ReplyTo(awaited));
  auto answer = awaited->Wait(longest_);
  if (!answer.has_value()) {
    cancelled->store(true);
    return DeadlinePassed(longest_);
  }
  RETURN_IF_ERROR(answer->status());
  return JsonOf(***answer);
}

absl::Status JsonCalls::NotServed(const JsonCall& call) const {
  const auto caller = gate_.Identify(call.shown);
  if (!caller.ok()) return caller.status();
  return MakeError(ErrorId::kMethodNotBuilt,
                   absl::StrCat(call.method, " is not served over HTTP"),
                   "call it over gRPC, or a method that docs/how-to/page.md "
                   "names");
}

absl::Status JsonCalls::CheckServedHere(const JsonCall& call,
                                        const UnaryVerb& verb) const {
  if (ReadsOnly(call, verb)) return absl::OkStatus();
  const bool is_researchers = verb.role == CallerRole::kResearcher;
  if (is_researchers && allows_writes_ && !call.is_safe) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kRoleDenied,
      absl::StrCat(call.method, is_researchers && !allows_writes_
                                    ? " changes something, and the page of "
                                      "this coordinator only reads"
                                    : " is not for browsers"),
      is_researchers && !allows_writes_
          ? "start the coordinator with --allow-ui-writes, or use the command "
            "line"
          : "use the command line, which speaks gRPC");
}

}  // namespace frostline::server
