// SPDX-License-Identifier: Apache-2.0
//
// File: verb_table.h
//
// The table of all verbs. The class that has a verb's body makes its row:
//
//   calls.Add(table, "StudyService.StopStudy", CallerRole::kResearcher, this,
//             &StudyVerbs::StopStudy);
#ifndef FROSTLINE_SERVER_VERBS_VERB_TABLE_H_
#define FROSTLINE_SERVER_VERBS_VERB_TABLE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"
#include "server/loop/call_context.h"
#include "server/wire/validate.h"

namespace frostline::server {

using MessagePtr = std::unique_ptr<google::protobuf::Message>;

// What every row says of its verb.
struct VerbRow {
  CallerRole role = CallerRole::kAdmin;
  const google::protobuf::Message* request = nullptr;  // an empty one
  // Checks that the request has its form and can be answered in the time that
  // is left.
  std::function<absl::Status(const google::protobuf::Message& request,
                             Duration time_left)>
      check;
};

// A verb with one answer.
struct UnaryVerb : VerbRow {
  std::function<void(CallContext, MessagePtr request, Reply<MessagePtr>)> run;
};

// Returns the next messages; none when the stream has ended. It is called again
// only after it has answered.
using NextMessages = std::function<void(Reply<std::vector<MessagePtr>>)>;

// A verb with a stream of answers.
struct StreamVerb : VerbRow {
  std::function<NextMessages(CallContext, MessagePtr request)> begin;
};

// All verbs by full name: "frostline.v1.StudyService.GetStudy".
struct VerbTable {
  std::map<std::string, UnaryVerb> unary;
  std::map<std::string, StreamVerb> streams;
};

template <typename Request, typename Verb>
Verb RowOf(CallerRole role) {
  Verb row;
  row.role = role;
  row.request = &Request::default_instance();
  row.check = [](const google::protobuf::Message& message,
                 Duration time_left) -> absl::Status {
    const auto& request = static_cast<const Request&>(message);
    const absl::Status valid = Validate(request);
    return valid.ok() ? CheckWait(request, time_left) : valid;
  };
  return row;
}

// Returns the urgency of a role's calls: workers and operators first, then
// those who change studies, readers last.
inline Urgency UrgencyOf(CallerRole role) {
  if (role == CallerRole::kViewer) return Urgency::kRead;
  return role == CallerRole::kResearcher ? Urgency::kChange : Urgency::kLease;
}

// `run` is (CallContext, Request, Reply<Answer>) -> void.
template <typename Request, typename Answer, typename Run>
UnaryVerb MakeUnaryVerb(CallerRole role, Run run) {
  auto row = RowOf<Request, UnaryVerb>(role);
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  row.run = [role, run = std::move(run)](CallContext caller, MessagePtr message,
                                         Reply<MessagePtr> reply) {
    caller.urgency = UrgencyOf(role);
    run(std::move(caller), std::move(static_cast<Request&>(*message)),
        [reply = std::move(reply)](absl::StatusOr<Answer> answer) mutable {
          if (!answer.ok()) return reply(answer.status());
          reply(MessagePtr(std::make_unique<Answer>(*std::move(answer))));
        });
  };
  return row;
}

// Adds the row of a verb with one answer. `name` is "StudyService.GetStudy",
// without the package, which is its request's.
template <typename Request, typename Answer, typename Run>
void AddUnary(VerbTable& table, const std::string& name, CallerRole role,
              Run run) {
  table.unary.emplace(
      absl::StrCat(Request::descriptor()->file()->package(), ".", name),
      MakeUnaryVerb<Request, Answer>(role, std::move(run)));
}

// `begin` is (CallContext, Request) -> (Reply<std::vector<Answer>>) -> void.
template <typename Request, typename Answer, typename Begin>
StreamVerb MakeStreamVerb(CallerRole role, Begin begin) {
  auto row = RowOf<Request, StreamVerb>(role);
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  row.begin = [role, begin = std::move(begin)](
                  CallContext caller, MessagePtr message) -> NextMessages {
    caller.urgency = UrgencyOf(role);
    return [next = begin(std::move(caller),
                         std::move(static_cast<Request&>(*message)))](
               Reply<std::vector<MessagePtr>> reply) {
      next([reply = std::move(reply)](
               absl::StatusOr<std::vector<Answer>> answers) mutable {
        if (!answers.ok()) return reply(answers.status());
        std::vector<MessagePtr> messages;
        messages.reserve(answers->size());
        for (Answer& answer : *answers) {
          messages.push_back(std::make_unique<Answer>(std::move(answer)));
        }
        reply(std::move(messages));
      });
    };
  };
  return row;
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_VERB_TABLE_H_
