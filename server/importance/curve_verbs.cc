// SPDX-License-Identifier: Apache-2.0
#include "server/importance/curve_verbs.h"

#include <utility>

#include "base/error.h"
#include "importance/curves.h"
#include "importance/ranking/stability.h"
#include "server/importance/serve.h"

namespace frostline::server {

void CurveVerbs::GetMarginals(const StudyHandle& study,
                              const v1::GetMarginalsRequest& request,
                              CancelFlag cancelled,
                              Reply<v1::GetMarginalsReply> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  desk_.Serve(
      {.key = AnswerKey("marginals", study, *question)}, std::move(cancelled),
      std::move(reply),
      [running = study.running,
       asked = request.options()](const KeptAnswer& answer) {
        return Narrowed<v1::GetMarginalsReply>(answer, running, asked);
      },
      [this, study, question = *question](
          const std::stop_token& stop) -> absl::StatusOr<AnswerPtr> {
        ASSIGN_OR_RETURN(const ImportanceDesk::Loaded loaded,
                         desk_.Load(study, question, stop));
        ASSIGN_OR_RETURN(const std::vector<importance::MarginalCurve> curves,
                         importance::MarginalCurves(
                             study.checked->space, question.objectives,
                             loaded.history, OptionsOf(question, stop)));
        v1::GetMarginalsReply proto =
            CurvesToProto(curves, study.checked->space);
        SayWhereFrom(question, loaded.revision, proto);
        return ToKeep(std::move(proto));
      });
}

void CurveVerbs::GetPairMarginal(const StudyHandle& study,
                                 const v1::GetPairMarginalRequest& request,
                                 CancelFlag cancelled,
                                 Reply<v1::PairMarginal> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  const auto first =
      FindParameter(study.checked->space, request.first(), "first");
  if (!first.ok()) return reply(first.status());
  const auto second =
      FindParameter(study.checked->space, request.second(), "second");
  if (!second.ok()) return reply(second.status());
  if (*first == *second) {
    return reply(
        MakeError(ErrorId::kRequestInvalid, "both parameters are the same",
                  "name two, or ask for the marginal of one", "second"));
  }
  desk_.Serve(
      {.key = AnswerKey("table", study, *question,
                        absl::StrCat(*first, "x", *second))},
      std::move(cancelled), std::move(reply),
      [running = study.running](const KeptAnswer& answer) {
        return Shown<v1::PairMarginal>(answer, running);
      },
      [this, study, question = *question, first = *first, second = *second](
          const std::stop_token& stop) -> absl::StatusOr<AnswerPtr> {
        ASSIGN_OR_RETURN(const ImportanceDesk::Loaded loaded,
                         desk_.Load(study, question, stop));
        ASSIGN_OR_RETURN(
            const importance::MarginalTable table,
            importance::PairTable(study.checked->space, question.objectives,
                                  loaded.history, OptionsOf(question, stop),
                                  first, second));
        v1::PairMarginal proto = TableToProto(table, study.checked->space);
        SayWhereFrom(question, loaded.revision, proto);
        return ToKeep(std::move(proto));
      });
}

void CurveVerbs::GetStability(const StudyHandle& study,
                              const v1::GetStabilityRequest& request,
                              CancelFlag cancelled,
                              Reply<v1::GetStabilityReply> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  if (request.points() < 0 ||
      request.points() > importance::kMaxStabilityPoints) {
    return reply(MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("points is ", request.points()),
        absl::StrCat("give 0 to ", importance::kMaxStabilityPoints), "points"));
  }
  desk_.Serve(
      {.key = AnswerKey("stability", study, *question,
                        absl::StrCat(request.points()))},
      std::move(cancelled), std::move(reply),
      [running = study.running,
       asked = request.options()](const KeptAnswer& answer) {
        return Narrowed<v1::GetStabilityReply>(answer, running, asked);
      },
      [this, study, question = *question, points = request.points()](
          const std::stop_token& stop) -> absl::StatusOr<AnswerPtr> {
        ASSIGN_OR_RETURN(const ImportanceDesk::Loaded loaded,
                         desk_.Load(study, question, stop));
        ASSIGN_OR_RETURN(const importance::Stability stability,
                         importance::EvaluateStability(
                             study.checked->space, question.objectives,
                             loaded.history, OptionsOf(question, stop),
                             points == 0 ? kVerdictPoints : points));
        v1::GetStabilityReply proto =
            StabilityToProto(stability, study.checked->space);
        // What the report says of the same trials.
        ASSIGN_OR_RETURN(const importance::StabilityVerdict verdict,
                         VerdictOf(study, question, loaded.history, stop));
        *proto.mutable_verdict() = VerdictToProto(verdict);
        SayWhereFrom(question, loaded.revision, proto);
        return ToKeep(std::move(proto));
      });
}

}  // namespace frostline::server
