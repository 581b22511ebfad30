// SPDX-License-Identifier: Apache-2.0
//
// File: convert_importance.h
//
// Answers about importance as messages of the contract. Parameters come in
// depth order (importance/report.h).
#ifndef FROSTLINE_SERVER_IMPORTANCE_CONVERT_IMPORTANCE_H_
#define FROSTLINE_SERVER_IMPORTANCE_CONVERT_IMPORTANCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "importance/curves.h"
#include "importance/plan/attribution.h"
#include "importance/plan/frontier.h"
#include "importance/plan/plan_trials.h"
#include "importance/plan/study_plan.h"
#include "importance/ranking.h"
#include "importance/report.h"
#include "server/importance/desk.h"
#include "server/wire/spec.h"
#include "storage/rows.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::server {

v1::Interval IntervalToProto(const importance::Interval& interval);
v1::Warning WarningToProto(const importance::ReportWarning& warning,
                           const Space& space);

// Puts first what holds for all answers about the study (spec.h).
void WarnOfStudy(const CheckedStudy& study,
                 std::vector<importance::ReportWarning>& warnings);

// Leaves out study, revision, options, times and pairs.
v1::ImportanceReport ReportToProto(const importance::Report& report,
                                   const Space& space);
// Adds the pairs at places from `begin` to before `end` of those that have one
// of the named parameters (all have, for no names). Returns how many such pairs
// there are. A report on 512 parameters has 130,816: a reply takes its page
// from the report, so that nobody copies the rest.
using ParameterNames = std::set<std::string>;
std::int64_t PairsToProto(
    const importance::Report& report, const Space& space,
    const ParameterNames& names, std::int64_t begin, std::int64_t end,
    google::protobuf::RepeatedPtrField<v1::PairImportance>& page);
v1::StabilityVerdict VerdictToProto(
    const importance::StabilityVerdict& verdict);
v1::GetStabilityReply StabilityToProto(const importance::Stability& stability,
                                       const Space& space);
v1::GetMarginalsReply CurvesToProto(
    const std::vector<importance::MarginalCurve>& curves, const Space& space);
v1::PairMarginal TableToProto(const importance::MarginalTable& table,
                              const Space& space);
// Lists shifts in the first study's depth order.
v1::StudyComparison ComparisonToProto(const importance::Comparison& comparison,
                                      const Space& first);

// Shows the plan as a trial too, with the command that verifies it unless the
// study was stopped.
v1::FreezePlan PlanToProto(const importance::StudyPlan& plan,
                           const StudyHandle& study,
                           const v1::GetPlanRequest& request);
// Makes `kind` a label.
v1::EnqueuedTrial EnqueuedOf(const Point& point, const Space& space,
                             const std::string& kind);
v1::Frontier FrontierToProto(const importance::Frontier& frontier,
                             const Space& space);
v1::AskedTrial AskedToProto(const importance::AskedTrial& asked,
                            const Space& space);
// Gives every rival `seeds` seeds, all of a seed together, and predictions as
// labels.
v1::GetPlanRivalsReply RivalsToProto(
    const std::vector<importance::Rival>& rivals, const StudyHandle& study,
    const Objective& objective, std::int64_t revision, int seeds);

// Leaves out study, revision, options and the trials' names. `first` and
// `second` are their numbers.
struct TwoTrials {
  std::int64_t first = 0;
  std::int64_t second = 0;
};
v1::DifferenceExplanation DifferenceToProto(
    const importance::Difference& difference, const Space& space,
    const importance::StudyBelief& belief, const TwoTrials& trials);
v1::Tunability TunabilityToProto(const importance::TunedParameter& tuned,
                                 const Space& space);

// Returns the shortest text that reads back as the same number.
std::string ExactText(double value);

// Keeps the named parameters; for no names all.
void KeepNamed(const ParameterNames& names, v1::ImportanceReport& report);
void KeepNamed(const ParameterNames& names, v1::GetStabilityReply& reply);
void KeepNamed(const ParameterNames& names, v1::GetMarginalsReply& reply);
void KeepNamed(const ParameterNames& names, v1::StudyComparison& comparison);

// What the labels of a trial that verifies a plan say: which rival it is, and
// what was predicted of it before it ran, since a plan is judged by that.
struct VerifyMark {
  std::string batch;  // enqueued together
  std::string rival;
  Objective objective;
  std::int64_t total = 0;          // of the batch
  std::uint64_t seed = 0;          // no label
  importance::Interval predicted;  // mean over seeds
  importance::Interval one_run;
};

void MarkToVerify(const VerifyMark& mark, v1::EnqueuedTrial& trial);

// Returns nullopt for other trials, and for labels that we have not made.
std::optional<VerifyMark> VerifyMarkOf(const storage::TrialRow& row);

// Writes exact numbers: "0.91 0.9 0.92 0.89 0.93".
std::string IntervalText(const importance::Interval& interval);
std::optional<importance::Interval> IntervalFromText(const std::string& text);

// So many beginnings of a study are looked at where nobody says how many.
inline constexpr int kUsualPoints = 10;

// Returns a number that moves when the trials of a question change: when a
// trial ends and, if the question is about labels, when an ended trial gets
// others. A grant or a report moves nothing.
inline std::int64_t EndsOf(const StudyHandle& study,
                           const ImportanceQuestion& question) {
  return question.by_labels ? study.ends_stamp : study.ended;
}

// Returns a name for an answer, of all that it depends on.
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

// Returns the request for a report. All reports on one question are a series,
// whatever has ended by then.
inline AnswerRequest RequestForReport(const StudyHandle& study,
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

// Returns the answer for a caller of now. It is kept while the study's own
// state may change, so that is filled in here.
template <typename Message>
Message Shown(const KeptAnswer& answer, bool running) {
  Message message = MessageIn<Message>(answer);
  message.set_provisional(running);
  return message;
}

// Returns the answer with only the parameters that the caller asked for.
template <typename Message>
Message Narrowed(const KeptAnswer& answer, bool running,
                 const v1::ImportanceOptions& asked) {
  auto message = Shown<Message>(answer, running);
  KeepNamed({asked.parameters().begin(), asked.parameters().end()}, message);
  *message.mutable_options()->mutable_parameters() = asked.parameters();
  return message;
}

template <typename Message, typename Render>
void ImportanceDesk::Serve(AnswerRequest asked, CancelFlag cancelled,
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

#endif  // FROSTLINE_SERVER_IMPORTANCE_CONVERT_IMPORTANCE_H_
