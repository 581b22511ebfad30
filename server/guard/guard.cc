// SPDX-License-Identifier: Apache-2.0
#include "server/guard/guard.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/log.h"
#include "proto/served.h"
#include "proto/wire_error.h"

namespace frostline::server {

absl::Status DeadlinePassed(Duration limit) {
  return MakeError(
      ErrorId::kDeadlinePassed,
      absl::StrCat("no answer within ",
                   std::chrono::duration<double>(limit).count(),
                   " s, the coordinator's own deadline"),
      "send it again with the same request_id, or ask for less at a time");
}

absl::Status ReplyDropped() {
  return MakeError(ErrorId::kInternal, "the call was given up unanswered",
                   "report it with the lines of the coordinator's log");
}

ErrorDetail AnsweredDetail(const absl::Status& status) {
  ErrorDetail internal;  // for errors that are not of ours
  internal.fix = "report it with the lines of the coordinator's log";
  return DetailOf(status).value_or(internal);
}

v1::ErrorInfo ErrorInfoOf(const ErrorDetail& detail, const std::string& cause) {
  v1::ErrorInfo info;
  info.set_reason(KindOf(detail.id).reason);
  info.set_domain(proto::kErrorDomain);
  auto& metadata = *info.mutable_metadata();
  metadata["id"] = ErrorCode(detail.id);
  metadata["cause"] = cause;
  metadata["fix"] = proto::CleanText(detail.fix, proto::kMaxFixBytes);
  if (!detail.field.empty()) {
    metadata["field"] = proto::CleanText(detail.field, proto::kMaxFieldBytes);
  }
  return info;
}

namespace {

constexpr std::array<const char*, VerbCounts::kCodes> kNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED"};

void WriteUnary(const std::string& verb, const VerbCounts& counts,
                MetricsPage& page) {
  page.Set("frostline_calls_in_progress",
           counts.begun.value() - counts.ended.value(), {{"verb", verb}});
  for (std::size_t code = 0; code < kNames.size(); ++code) {
    const Histogram& seconds = counts.seconds[code];
    // Leaves out errors that never happened: they would be most of the page.
    const bool is_ok = code == static_cast<std::size_t>(absl::StatusCode::kOk);
    if (!is_ok && seconds.Count() == 0) continue;
    page.Set("frostline_calls_total", seconds.Count(),
             {{"verb", verb}, {"code", kNames[code]}});
    page.Set("frostline_call_seconds", seconds,
             {{"verb", verb}, {"code", kNames[code]}});
  }
}

std::string ShortName(const std::string& method) {
  return std::string(absl::StripPrefix(method, "frostline.v1."));
}

// Says whether a code means a bug or a fault of the server, which no caller can
// repair.
bool IsOurFault(absl::StatusCode code) {
  return code == absl::StatusCode::kInternal ||
         code == absl::StatusCode::kUnknown ||
         code == absl::StatusCode::kDataLoss;
}

}  // namespace

const char* CodeName(absl::StatusCode code) {
  const auto at = static_cast<std::size_t>(code);
  return kNames[at < kNames.size() ? at : VerbCounts::kUnknown];
}

VerbCounts* CallCounts::Of(const std::string& method, bool streams) {
  VerbCounts& counts = verbs_[ShortName(method)];
  counts.streams = streams;
  return &counts;
}

VerbCounts* CallCounts::Find(const std::string& method) {
  const auto found = verbs_.find(ShortName(method));
  return found == verbs_.end() ? nullptr : &found->second;
}

void CallCounts::Write(MetricsPage& page) const {
  for (const auto& [verb, counts] : verbs_) {
    if (!counts.streams) {
      WriteUnary(verb, counts, page);
      continue;
    }
    page.Set("frostline_streams_total", counts.begun, {{"verb", verb}});
    page.Set("frostline_streams_open",
             counts.begun.value() - counts.ended.value(), {{"verb", verb}});
  }
}

absl::StatusOr<CallerIdentity> Identify(const Guarded& guarded, CallerRole role,
                                        const Shown& shown) {
  ASSIGN_OR_RETURN(CallerIdentity caller, guarded.gate.Identify(shown, role));
  RETURN_IF_ERROR(guarded.gate.TakeCall(caller));
  RETURN_IF_ERROR(CheckRole(caller, role, guarded.method));
  return caller;
}

void NoteRefused(const Guarded& guarded, const UnaryVerb& verb,
                 const Shown& shown, const std::string& peer,
                 const absl::Status& why) {
  if (guarded.audit == nullptr) return;
  if (!MayChange(*verb.request->GetDescriptor(), guarded.method)) return;
  const auto known = guarded.gate.Identify(shown, verb.role);
  CallContext caller(known.ok() ? *known : CallerIdentity());
  caller.peer = peer;
  NoteRequest(*verb.request, guarded.method, &caller);
  guarded.audit->NoteRefused(caller, why);
}

void NoteAnswered(const Guarded& guarded, absl::StatusCode code, Duration took,
                  const absl::Status& status) {
  if (guarded.counts != nullptr) guarded.counts->NoteAnswered(code, took);
  const LogLevel level =
      IsOurFault(code) ? LogLevel::kWarning : LogLevel::kDebug;
  if (!IsLogged(level)) return;
  Log(level, "call",
      {{"method", guarded.method},
       {"code", CodeName(code)},
       {"seconds", absl::StrCat(std::chrono::duration<double>(took).count())},
       {"why", std::string(status.message())}});
}

absl::Status CheckRequestSize(std::size_t bytes) {
  if (bytes <= kMaxRequestBytes) return absl::OkStatus();
  return MakeError(ErrorId::kFieldTooLarge,
                   absl::StrCat("the request has ", bytes, " bytes, more than ",
                                kMaxRequestBytes),
                   "split it into several requests, or shorten its longest "
                   "fields");
}

absl::Status CheckRequest(const VerbRow& verb,
                          const google::protobuf::Message& request,
                          Duration time_left) {
  RETURN_IF_ERROR(proto::CheckServed(request));
  return verb.check(request, time_left);
}

CallContext ContextOf(CallerIdentity identity, const std::string& peer,
                      const std::string& method,
                      const google::protobuf::Message& request,
                      CancelFlag cancelled) {
  CallContext caller(std::move(identity));
  caller.peer = peer;
  caller.cancelled = std::move(cancelled);
  NoteRequest(request, method, &caller);
  return caller;
}

}  // namespace frostline::server
