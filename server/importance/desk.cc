// SPDX-License-Identifier: Apache-2.0
//
// What the verbs share: trials from the store, reports and their verdicts. The
// verbs themselves are in importance_methods.cc.
#include "server/importance/desk.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/status_macros.h"
#include "importance/ranking/compare.h"
#include "importance/ranking/report_verdict.h"
#include "importance/ranking/stability.h"
#include "proto/wire_time.h"
#include "server/importance/serve.h"
#include "server/wire/limits.h"

namespace frostline::server {

ImportanceDesk::ImportanceDesk(const storage::TrialStore& store,
                               const Clock& clock)
    : store_(store),
      clock_(clock),
      studies_(kMaxKnownTrialBytes),
      answers_(kMaxAnswerBytes) {}

void ImportanceDesk::Start(int threads) { threads_.Start(threads); }

void ImportanceDesk::Stop() {
  stopping_ = true;
  threads_.Stop();
}

void ImportanceDesk::Compute(const std::string& key, Computation computation) {
  threads_.Post([this, key, computation = std::move(computation)] {
    if (stopping_) {
      return answers_.Resolve(key, MakeError(ErrorId::kCoordinatorDraining,
                                             "the coordinator is shutting down",
                                             "try again when it is back"));
    }
    if (answers_.Begin(key)) answers_.Resolve(key, computation());
  });
}

absl::StatusOr<ImportanceDesk::Loaded> ImportanceDesk::Load(
    const StudyHandle& study, const ImportanceQuestion& question) {
  Loaded loaded;
  RETURN_IF_ERROR(studies_.Of(study.key)->See(
      study, store_, question.used.at_step(),
      [&](const std::map<std::int64_t, KnownTrial>& trials,
          std::int64_t revision) -> absl::Status {
        loaded.revision = revision;
        ASSIGN_OR_RETURN(loaded.history,
                         SelectHistory(question, *study.checked, trials));
        return absl::OkStatus();
      }));
  return loaded;
}

// Without intervals, which would multiply its cost.
absl::StatusOr<importance::StabilityVerdict> ImportanceDesk::VerdictOf(
    const StudyHandle& study, const ImportanceQuestion& question,
    const History& history) {
  importance::EvaluateOptions options = question.options;
  options.bootstraps = 0;
  options.pairs = false;
  const absl::StatusOr<importance::Stability> stability =
      importance::EvaluateStability(study.checked->space, question.objectives,
                                    history, options, kVerdictPoints);
  if (stability.ok()) return stability->verdict;
  // What a report can do with, its beginnings may lack: values that differ.
  if (!absl::IsFailedPrecondition(stability.status())) {
    return stability.status();
  }
  importance::StabilityVerdict none;
  none.sentence = std::string(stability.status().message());
  return none;
}

absl::StatusOr<AnswerPtr> ImportanceDesk::MakeReport(
    const StudyHandle& study, const ImportanceQuestion& question,
    bool with_verdict) {
  const SteadyTime begin = clock_.Steady();
  ASSIGN_OR_RETURN(const Loaded loaded, Load(study, question));
  auto answer = std::make_shared<KeptAnswer>();
  ASSIGN_OR_RETURN(
      answer->report,
      importance::Evaluate(study.checked->space, question.objectives,
                           loaded.history, question.options));
  auto proto = std::make_unique<v1::ImportanceReport>(
      ReportToProto(*answer->report, study.checked->space));
  proto->set_study(StudyNameOf(study.id));
  proto->set_revision(loaded.revision);
  proto->set_provisional(study.running);
  *proto->mutable_options() = question.used;
  std::optional<importance::StabilityVerdict> verdict;
  if (with_verdict && question.options.bootstraps > 0) {
    ASSIGN_OR_RETURN(verdict, VerdictOf(study, question, loaded.history));
    *proto->mutable_stability() = VerdictToProto(*verdict);
  }
  proto->set_verdict(
      importance::ReportVerdict(study.checked->space, *answer->report,
                                verdict.has_value() ? &*verdict : nullptr));
  *proto->mutable_compute_time() = proto::TimestampToProto(clock_.Wall());
  proto->set_compute_seconds(
      std::chrono::duration<double>(clock_.Steady() - begin).count());
  answer->message = std::move(proto);
  return answer;
}

absl::StatusOr<AnswerPtr> ImportanceDesk::ReportToCompare(
    const StudyHandle& study, const ImportanceQuestion& question) {
  if (AnswerPtr kept = answers_.Find(ReportKey(study, question))) return kept;
  return MakeReport(study, question, false);
}

absl::StatusOr<AnswerPtr> ImportanceDesk::Compare(
    const StudyHandle& first, const ImportanceQuestion& of_first,
    const StudyHandle& second, const ImportanceQuestion& of_second) {
  ASSIGN_OR_RETURN(const AnswerPtr one, ReportToCompare(first, of_first));
  ASSIGN_OR_RETURN(const AnswerPtr other, ReportToCompare(second, of_second));
  ASSIGN_OR_RETURN(
      const importance::Comparison comparison,
      importance::CompareReports({first.checked->space, *one->report},
                                 {second.checked->space, *other->report}));
  v1::StudyComparison proto =
      ComparisonToProto(comparison, first.checked->space);
  const auto revision = [](const AnswerPtr& answer) {
    return MessageIn<v1::ImportanceReport>(*answer).revision();
  };
  proto.set_first(StudyNameOf(first.id));
  proto.set_second(StudyNameOf(second.id));
  proto.set_first_revision(revision(one));
  proto.set_second_revision(revision(other));
  proto.set_provisional(first.running || second.running);
  *proto.mutable_options() = of_first.used;
  return ToKeep(std::move(proto));
}

}  // namespace frostline::server
