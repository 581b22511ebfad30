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

// What the trials of a question are a function of: it moves when a trial ends,
// and where labels are asked for also with those of trials that have ended. A
// grant or a report moves nothing.
inline std::int64_t EndsOf(const StudyHandle& study,
                           const ImportanceQuestion& question) {
  return question.by_labels ? study.ends_stamp : study.ended;
}

// Names all that an answer is a function of.
inline std::string AnswerKey(const char* kind, const StudyHandle& study,
                             const ImportanceQuestion& question,
                             const std::string& more = "") {
  return absl::StrCat(kind, " ", study.key, "/", EndsOf(study, question), " ",
                      more, "\n", KeyOf(question));
}

inline std::string ReportKey(const StudyHandle& study,
                             const ImportanceQuestion& question) {
  return AnswerKey("report", study, question);
}

// Reports on one question, whatever has ended by then, are a series.
inline AskedAnswer AskedReport(const StudyHandle& study,
                               const ImportanceQuestion& question,
                               Freshness freshness) {
  return {.key = ReportKey(study, question),
          .freshness = freshness,
          .series = absl::StrCat(study.key, " ", KeyOf(question)),
          .ended = study.ended};
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
void SayWhereFrom(const ImportanceQuestion& question, std::int64_t revision,
                  Message& message) {
  message.set_revision(revision);
  *message.mutable_options() = question.used;
}

// Answers are kept while the study's own state may change: it is shown as it is
// when it is asked for.
template <typename Message>
Message Shown(const KeptAnswer& answer, bool running) {
  Message message = MessageIn<Message>(answer);
  message.set_provisional(running);
  return message;
}

// Shows the parameters that the caller asked for.
template <typename Message>
Message Narrowed(const KeptAnswer& answer, bool running,
                 const v1::ImportanceOptions& asked) {
  auto message = Shown<Message>(answer, running);
  KeepNamed({asked.parameters().begin(), asked.parameters().end()}, message);
  *message.mutable_options()->mutable_parameters() = asked.parameters();
  return message;
}

template <typename Message, typename Render>
void ImportanceDesk::Serve(AskedAnswer asked, CancelFlag cancelled,
                           Reply<Message> reply, Render render,
                           Computation computation) {
  asked.now = clock_.Steady();
  WaitingCaller caller{std::move(cancelled),
                       [reply = std::move(reply), render = std::move(render)](
                           absl::StatusOr<AnswerPtr> answer) mutable {
                         if (!answer.ok()) return reply(answer.status());
                         reply(render(**answer));
                       }};
  if (answers_.Ask(asked, Places(), std::move(caller))) {
    Compute(asked.key, std::move(computation));
  }
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_SERVE_H_
