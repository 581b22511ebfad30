// SPDX-License-Identifier: Apache-2.0
//
// File: guard.h
//
// What every call passes before a verb runs, through whichever edge it came:
//
//   ASSIGN_OR_RETURN(CallerIdentity who, Identify(guarded, verb.role, shown));
//   RETURN_IF_ERROR(CheckRequest(verb, *request, time_left));
//   verb.run(ContextOf(std::move(who), peer, method, *request, cancelled), …);
//
// Nothing of a request is looked at before it is known who calls.
#ifndef FROSTLINE_SERVER_GUARD_GUARD_H_
#define FROSTLINE_SERVER_GUARD_GUARD_H_

#include <array>
#include <chrono>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "frostline/v1/errors.pb.h"
#include "google/protobuf/message.h"
#include "server/audit/audit_log.h"
#include "server/auth/access.h"
#include "server/metrics/page.h"
#include "server/verbs/verb_table.h"
#include "server/wire/limits.h"

namespace frostline::server {

// The deadline of calls that have none, or a later one.
inline constexpr Duration kLongestDeadline =
    std::chrono::seconds(kLongestDeadlineSeconds);

// Returns the error for a call that reached the server's own limit.
absl::Status DeadlinePassed(Duration limit);

// Returns the error for a call whose reply the coordinator has lost.
absl::Status ReplyDropped();

// What a caller is told of an error: INTERNAL where MakeError did not make it,
// which is a bug.
ErrorDetail AnsweredDetail(const absl::Status& status);
v1::ErrorInfo ErrorInfoOf(const ErrorDetail& detail, const std::string& cause);

// The counts of one verb. Any thread may count and read.
struct VerbCounts {
  static constexpr std::size_t kCodes = 17;
  static constexpr std::size_t kUnknown = 2;

  void NoteAnswered(absl::StatusCode code, Duration took) {
    const auto at = static_cast<std::size_t>(code);
    seconds[at < kCodes ? at : kUnknown].Observe(took);
    ended.Add();
  }

  bool streams = false;
  Counter begun;
  Counter ended;
  std::array<Histogram, kCodes> seconds;  // for unary calls, by code
};

// Returns the code's name: "NOT_FOUND".
const char* CodeName(absl::StatusCode code);

// The counts of calls, by verb and code. The counts of a verb are made when it
// is bound to an edge; a call reaches them by a pointer, so it costs two
// additions.
class CallCounts {
 public:
  // Returns the counts of a method, the same at each call:
  // "frostline.v1.StudyService.GetStudy". To be called before anybody counts.
  VerbCounts* Of(const std::string& method, bool streams);
  // Returns those that are there; null when nobody has asked for them before.
  VerbCounts* Find(const std::string& method);
  void Write(MetricsPage& page) const;

 private:
  std::map<std::string, VerbCounts> verbs_;
};

// A method, and the gate that says whether a caller may call it.
struct Guarded {
  std::string method;  // "frostline.v1.StudyService.StopStudy"
  const Gate& gate;
  AuditLog* audit = nullptr;     // told of refusals; may be null
  VerbCounts* counts = nullptr;  // null: calls are not counted
};

// Returns who calls, or why they may not call this.
absl::StatusOr<CallerIdentity> Identify(const Guarded& guarded, CallerRole role,
                                        const Shown& shown);

// Tells the audit of a refused call, if the call would have changed something.
// Nothing of the request was looked at.
void NoteRefused(const Guarded& guarded, const UnaryVerb& verb,
                 const Shown& shown, const std::string& peer,
                 const absl::Status& why);

// Counts an answer and logs it: what is the server's own fault as a warning.
void NoteAnswered(const Guarded& guarded, absl::StatusCode code, Duration took,
                  const absl::Status& status);

// The error is FIELD_TOO_LARGE.
absl::Status CheckRequestSize(std::size_t bytes);

// Checks that the request is served and has its form. For a stream, which has
// no deadline, the time left is Duration::max().
absl::Status CheckRequest(const VerbRow& verb,
                          const google::protobuf::Message& request,
                          Duration time_left);

// Makes the context of a call, without its deadline and trace.
CallContext ContextOf(CallerIdentity identity, const std::string& peer,
                      const std::string& method,
                      const google::protobuf::Message& request,
                      CancelFlag cancelled);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_GUARD_GUARD_H_
