// SPDX-License-Identifier: Apache-2.0
//
// File: json_calls.h
//
// Runs a verb for a caller that speaks JSON over HTTP, as the Connect protocol
// has it for calls with one answer:
//
//   POST /frostline.v1.StudyService/GetStudy   {"name":"studies/imdb"}
//   GET  /frostline.v1.StudyService/GetStudy?message={"name":"studies/imdb"}
//
// The answer is the message in Protobuf's JSON. An error is
// {"code":"not_found","message":CAUSE,"details":[…]} with the error's id, cause
// and fix in its one detail. There is one dispatcher over the table of verbs:
// roles, limits, audit and counts are those of gRPC (guard/guard.h).
#ifndef FROSTLINE_SERVER_HTTP_JSON_CALLS_H_
#define FROSTLINE_SERVER_HTTP_JSON_CALLS_H_

#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/audit/audit_log.h"
#include "server/auth/access.h"
#include "server/guard/guard.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

struct JsonAnswer {
  int status = 200;  // of HTTP
  std::string body;
};

// The status of HTTP and the body that tell of an error.
JsonAnswer JsonErrorOf(const absl::Status& status);

// What HTTP knows of a call.
struct JsonCall {
  std::string method;  // "frostline.v1.StudyService.GetStudy"
  std::string json;    // the request; empty: one without fields
  Shown shown;
  std::string peer;  // "ipv4:127.0.0.1:51234"
  TraceContext trace;
  bool is_safe = false;  // it came by GET, and must change nothing
};

// A caller of verbs with requests and replies as JSON. Any thread may call.
// Call() waits for the answer.
class JsonCalls {
 public:
  // The verbs, `gate` and what else is pointed to outlive it. `audit` and
  // `counts` may be null. Without `allows_writes` a verb is served if it reads
  // only; with it also those of researchers. Verbs of workers and admins are
  // never served.
  JsonCalls(const VerbTable& verbs, const Gate& gate, AuditLog* audit,
            CallCounts* counts, bool allows_writes,
            Duration longest = kLongestDeadline)
      : verbs_(verbs),
        gate_(gate),
        audit_(audit),
        counts_(counts),
        allows_writes_(allows_writes),
        longest_(longest) {}

  JsonAnswer Call(const JsonCall& call) const;

 private:
  absl::StatusOr<std::string> Answer(const JsonCall& call,
                                     const Guarded& guarded,
                                     const UnaryVerb& verb) const;
  // A caller that is nobody is not even told which methods there are.
  absl::Status NotServed(const JsonCall& call) const;
  absl::Status CheckServedHere(const JsonCall& call,
                               const UnaryVerb& verb) const;

  const VerbTable& verbs_;
  const Gate& gate_;
  AuditLog* const audit_;
  CallCounts* const counts_;
  const bool allows_writes_;
  const Duration longest_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_HTTP_JSON_CALLS_H_
