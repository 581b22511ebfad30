// SPDX-License-Identifier: Apache-2.0
//
// File: serve.h
//
// Only the sources of importance's verbs include this.
#ifndef FROSTLINE_SERVER_IMPORTANCE_SERVE_H_
#define FROSTLINE_SERVER_IMPORTANCE_SERVE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/importance/convert_importance.h"
#include "server/importance/desk.h"

namespace frostline::server {

// Wherever it is shown, a verdict on stability rests on so many beginnings of
// the study.
inline constexpr int kVerdictPoints = 10;

// Names all that an answer is a function of.
inline std::string AnswerKey(const char* kind, const StudyHandle& study,
                             const ImportanceQuestion& question,
                             const std::string& more = "") {
  return absl::StrCat(kind, " ", study.key, "/", study.revision, " ", more,
                      "\n", KeyOf(question));
}

inline std::string ReportKey(const StudyHandle& study,
                             const ImportanceQuestion& question) {
  return AnswerKey("report", study, question);
}

template <typename Message>
const Message& MessageIn(const KeptAnswer& answer) {
  return static_cast<const Message&>(*answer.message);
}

template <typename Message>
AnswerPtr ToKeep(Message message) {
  auto answer = std::make_shared<KeptAnswer>();
  answer->message = std::make_unique<Message>(std::move(message));
  return answer;
}

template <typename Message>
void SayWhereFrom(const StudyHandle& study, const ImportanceQuestion& question,
                  std::int64_t revision, Message& message) {
  message.set_revision(revision);
  message.set_provisional(study.running);
  *message.mutable_options() = question.used;
}

// Keeps what the caller asked for.
template <typename Message>
Message Narrowed(const KeptAnswer& answer, const v1::ImportanceOptions& asked) {
  Message message = MessageIn<Message>(answer);
  KeepNamed({asked.parameters().begin(), asked.parameters().end()}, message);
  *message.mutable_options()->mutable_parameters() = asked.parameters();
  return message;
}

template <typename Message, typename Render>
void ImportanceDesk::Serve(const std::string& key, bool anew,
                           CancelFlag cancelled, Reply<Message> reply,
                           Render render, Computation computation) {
  WaitingCaller caller{std::move(cancelled),
                       [reply = std::move(reply), render = std::move(render)](
                           absl::StatusOr<AnswerPtr> answer) mutable {
                         if (!answer.ok()) return reply(answer.status());
                         reply(render(**answer));
                       }};
  if (answers_.Ask(key, anew, std::move(caller))) {
    Compute(key, std::move(computation));
  }
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_SERVE_H_
