// SPDX-License-Identifier: Apache-2.0
#include "server/importance/report_verbs.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "importance/curves.h"
#include "importance/ranking.h"
#include "proto/wire_values.h"
#include "server/importance/convert_importance.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

// A token holds the ends (EndsOf()) that its pages are of, and in so many bits
// where the next page begins: there are fewer pairs of 512 parameters than
// 2^20.
constexpr int kOffsetBits = 20;

ParameterNames NamesIn(const v1::ImportanceOptions& asked) {
  return {asked.parameters().begin(), asked.parameters().end()};
}

v1::ListPairsReply ReportPageOf(const KeptAnswer& answer,
                                const StudyHandle& study,
                                const v1::ListPairsRequest& request,
                                std::int64_t ends, const std::string& list,
                                std::int64_t offset) {
  v1::ListPairsReply reply;
  reply.set_revision(MessageIn<v1::ImportanceReport>(answer).revision());
  reply.set_provisional(study.running);
  const std::int64_t end = offset + PageSize(request.page_size());
  reply.set_total_size(PairsToProto(*answer.report, study.checked->space,
                                    NamesIn(request.options()), offset, end,
                                    *reply.mutable_pairs()));
  if (end < reply.total_size()) {
    reply.set_next_page_token(
        MakePageToken(list, "", ends << kOffsetBits | end));
  }
  return reply;
}

// In the order of the report's parameters.
absl::Status AddTunability(const CheckedStudy& study,
                           const ImportanceQuestion& question,
                           const History& history, const std::stop_token& stop,
                           v1::ImportanceReport& report) {
  importance::PlanOptions options{.evaluate = question.options};
  options.evaluate.stop = stop;
  const Space& space = study.space;
  ASSIGN_OR_RETURN(
      const auto basis,
      importance::MakePlanBasis(space, question.objectives, history, options));
  ASSIGN_OR_RETURN(const auto tuned, importance::FindTunability(*basis, stop));
  for (const v1::ParameterImportance& row : report.parameters()) {
    for (const importance::TunedParameter& one : tuned) {
      if (space.parameters()[one.parameter].name != row.parameter()) continue;
      *report.add_tunability() = TunabilityToProto(one, space);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Freshness> FreshnessOf(const v1::GetReportRequest& request) {
  if (request.watching() && request.refresh()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "whoever watches takes an earlier report, and `refresh` "
                     "takes none",
                     "leave one of them out", "watching");
  }
  if (request.watching()) return Freshness::kWatching;
  return request.refresh() ? Freshness::kAnew : Freshness::kNewest;
}

}  // namespace

absl::StatusOr<std::shared_ptr<KeptAnswer>> ReportVerbs::Evaluated(
    const CheckedStudy& study, const ImportanceQuestion& question,
    const History& history, const std::stop_token& stop) {
  auto answer = std::make_shared<KeptAnswer>();
  ASSIGN_OR_RETURN(answer->report,
                   importance::Evaluate(study.space, question.objectives,
                                        history, OptionsOf(question, stop)));
  WarnOfStudy(study, answer->report->warnings);
  if (auto fragile =
          importance::WarnOfFragileLead(study.space, *answer->report)) {
    answer->report->warnings.push_back(*std::move(fragile));
  }
  auto proto = std::make_unique<v1::ImportanceReport>(
      ReportToProto(*answer->report, study.space));
  *proto->mutable_options() = question.used;
  if (question.used.tunability()) {
    RETURN_IF_ERROR(AddTunability(study, question, history, stop, *proto));
  }
  if (!answer->report->main_draws.empty()) {
    *proto->mutable_stability() =
        VerdictToProto(importance::JudgeReport(study.space, *answer->report));
  }
  proto->set_verdict(importance::ReportVerdict(study.space, *answer->report));
  answer->message = std::move(proto);
  return answer;
}

absl::StatusOr<AnswerPtr> ReportVerbs::MakeReport(
    const StudyHandle& study, const ImportanceQuestion& question,
    const std::stop_token& stop) {
  const SteadyTime begin = desk_.clock().Steady();
  ASSIGN_OR_RETURN(const ImportanceDesk::Loaded loaded,
                   desk_.Load(study, question, stop));
  ASSIGN_OR_RETURN(const std::shared_ptr<KeptAnswer> answer,
                   Evaluated(*study.checked, question, loaded.history, stop));
  auto& proto = static_cast<v1::ImportanceReport&>(*answer->message);
  proto.set_study(StudyNameOf(study.id));
  proto.set_revision(loaded.revision);
  *proto.mutable_compute_time() = proto::TimestampToProto(desk_.clock().Wall());
  proto.set_compute_seconds(
      std::chrono::duration<double>(desk_.clock().Steady() - begin).count());
  return answer;
}

absl::StatusOr<AnswerPtr> ReportVerbs::ReportToCompare(
    const StudyHandle& study, const ImportanceQuestion& question,
    const std::stop_token& stop) {
  if (AnswerPtr kept = desk_.Find(ReportKey(study, question))) return kept;
  return MakeReport(study, question, stop);
}

absl::StatusOr<AnswerPtr> ReportVerbs::Compare(
    const StudyHandle& first, const ImportanceQuestion& of_first,
    const StudyHandle& second, const ImportanceQuestion& of_second,
    const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const AnswerPtr one, ReportToCompare(first, of_first, stop));
  ASSIGN_OR_RETURN(const AnswerPtr other,
                   ReportToCompare(second, of_second, stop));
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
  *proto.mutable_options() = of_first.used;
  return ToKeep(std::move(proto));
}

void ReportVerbs::GetReport(const StudyHandle& study,
                            const v1::GetReportRequest& request,
                            CancelFlag cancelled,
                            Reply<v1::ImportanceReport> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  const auto freshness = FreshnessOf(request);
  if (!freshness.ok()) return reply(freshness.status());
  desk_.Serve(
      RequestForReport(study, *question, *freshness), std::move(cancelled),
      std::move(reply),
      [study, asked = request.options()](const KeptAnswer& answer) {
        auto report =
            Narrowed<v1::ImportanceReport>(answer, study.running, asked);
        report.set_total_pairs(
            PairsToProto(*answer.report, study.checked->space, NamesIn(asked),
                         0, kMaxReportPairs, *report.mutable_pairs()));
        return report;
      },
      [this, study, question = *question](const std::stop_token& stop) {
        return MakeReport(study, question, stop);
      });
}

void ReportVerbs::Explain(std::shared_ptr<const ToldTrials> told,
                          const v1::ExplainRequest& request,
                          CancelFlag cancelled, Reply<v1::ExplainReply> reply) {
  const auto question = MakeQuestion(request.options(), told->checked);
  if (!question.ok()) return reply(question.status());
  // The curves stand beside the report, whose own message holds no place for
  // them.
  const auto curves = std::make_shared<v1::GetMarginalsReply>();
  desk_.Serve(
      {.key = absl::StrCat("told ", told_.fetch_add(1)), .is_kept = false},
      std::move(cancelled), std::move(reply),
      [told, curves, asked = request.options()](const KeptAnswer& answer) {
        v1::ExplainReply explained;
        v1::ImportanceReport& report = *explained.mutable_report();
        report = Narrowed<v1::ImportanceReport>(answer, false, asked);
        report.set_total_pairs(PairsToProto(*answer.report, told->checked.space,
                                            NamesIn(asked), 0, kMaxReportPairs,
                                            *report.mutable_pairs()));
        KeepNamed(NamesIn(asked), *curves);
        explained.mutable_marginals()->Swap(curves->mutable_marginals());
        return explained;
      },
      [told, curves, question = *question,
       with_marginals = request.with_marginals()](
          const std::stop_token& stop) -> absl::StatusOr<AnswerPtr> {
        const CheckedStudy& study = told->checked;
        ASSIGN_OR_RETURN(const History history,
                         SelectHistory(question, study, told->trials));
        if (with_marginals) {
          ASSIGN_OR_RETURN(
              const std::vector<importance::MarginalCurve> found,
              importance::MarginalCurves(study.space, question.objectives,
                                         history, OptionsOf(question, stop)));
          *curves = CurvesToProto(found, study.space);
        }
        ASSIGN_OR_RETURN(std::shared_ptr<KeptAnswer> answer,
                         Evaluated(study, question, history, stop));
        return AnswerPtr(std::move(answer));
      });
}

void ReportVerbs::ListPairs(const StudyHandle& study,
                            const v1::ListPairsRequest& request,
                            CancelFlag cancelled,
                            Reply<v1::ListPairsReply> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  StudyHandle of = study;
  of.ended = of.ends_stamp = 0;
  const std::string list =
      AnswerKey("pairs", of, *question,
                absl::StrJoin(request.options().parameters(), "\n"));
  const auto place = ParsePageToken(list, "", request.page_token());
  if (!place.ok()) return reply(place.status());
  const bool first = request.page_token().empty();
  of.ended = first ? study.ended : *place >> kOffsetBits;
  of.ends_stamp = first ? study.ends_stamp : *place >> kOffsetBits;
  const std::int64_t offset = *place & ((std::int64_t{1} << kOffsetBits) - 1);
  const auto render = [list, offset, ends = EndsOf(of, *question), study,
                       request](const KeptAnswer& answer) {
    return ReportPageOf(answer, study, request, ends, list, offset);
  };
  const std::string key = ReportKey(of, *question);
  if (EndsOf(of, *question) != EndsOf(study, *question)) {
    if (const AnswerPtr kept = desk_.Find(key)) return reply(render(*kept));
    return reply(MakeError(ErrorId::kPageTokenInvalid,
                           "trials have ended since the first page, and the "
                           "report that was paged is gone",
                           "start again without a token", "page_token"));
  }
  desk_.Serve(RequestForReport(of, *question, Freshness::kNewest),
              std::move(cancelled), std::move(reply), render,
              [this, study, question = *question](const std::stop_token& stop) {
                return MakeReport(study, question, stop);
              });
}

void ReportVerbs::CompareStudies(const StudyHandle& first,
                                 const StudyHandle& second,
                                 const v1::CompareStudiesRequest& request,
                                 CancelFlag cancelled,
                                 Reply<v1::StudyComparison> reply) {
  const auto one = MakeQuestion(request.options(), *first.checked);
  if (!one.ok()) return reply(one.status());
  const auto other = MakeQuestion(request.options(), *second.checked);
  if (!other.ok()) return reply(other.status());
  // What matters for one metric says nothing of what matters for another.
  if (one->used.target() != other->used.target()) {
    return reply(MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat(first.id, " is about ", one->used.target(), " and ",
                     second.id, " about ", other->used.target(),
                     ": shares of two metrics do not compare"),
        "name one that both have: --target METRIC", "options.target"));
  }
  desk_.Serve(
      {.key = AnswerKey("compare", first, *one,
                        AnswerKey("with", second, *other))},
      std::move(cancelled), std::move(reply),
      [running = first.running || second.running,
       asked = request.options()](const KeptAnswer& answer) {
        return Narrowed<v1::StudyComparison>(answer, running, asked);
      },
      [this, first, second, one = *one,
       other = *other](const std::stop_token& stop) {
        return Compare(first, one, second, other, stop);
      });
}

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
                             points == 0 ? kUsualPoints : points));
        v1::GetStabilityReply proto =
            StabilityToProto(stability, study.checked->space);
        SayWhereFrom(question, loaded.revision, proto);
        return ToKeep(std::move(proto));
      });
}

}  // namespace frostline::server
