// SPDX-License-Identifier: Apache-2.0
//
// The verbs of importance that are of reports: what each is a function of, and
// what of the answer its caller is shown.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/error.h"
#include "server/importance/serve.h"
#include "server/wire/limits.h"
#include "server/wire/page_token.h"

namespace frostline::server {
namespace {

// A token holds the revision that its pages are of, and where the next begins:
// there are fewer pairs of 512 parameters than 2^20.
constexpr int kOffsetBits = 20;

v1::ListPairsReply PageOf(v1::ImportanceReport report, std::int64_t revision,
                          const std::string& list, std::int64_t offset,
                          int page_size) {
  v1::ListPairsReply reply;
  reply.set_revision(report.revision());
  reply.set_provisional(report.provisional());
  reply.set_total_size(report.total_pairs());
  const std::int64_t end =
      std::min<std::int64_t>(offset + page_size, report.pairs_size());
  for (std::int64_t i = offset; i < end; ++i) {
    *reply.add_pairs() = std::move(*report.mutable_pairs(static_cast<int>(i)));
  }
  if (end < report.pairs_size()) {
    reply.set_next_page_token(
        MakePageToken(list, "", revision << kOffsetBits | end));
  }
  return reply;
}

}  // namespace

void ImportanceDesk::GetReport(const StudyHandle& study,
                               const v1::GetReportRequest& request,
                               CancelFlag cancelled,
                               Reply<v1::ImportanceReport> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  Serve(
      ReportKey(study, *question), request.refresh(), std::move(cancelled),
      std::move(reply),
      [asked = request.options()](const KeptAnswer& answer) {
        auto report = Narrowed<v1::ImportanceReport>(answer, asked);
        if (report.pairs_size() > kMaxReportPairs) {
          report.mutable_pairs()->DeleteSubrange(
              kMaxReportPairs, report.pairs_size() - kMaxReportPairs);
        }
        return report;
      },
      [this, study, question = *question] {
        return MakeReport(study, question, true);
      });
}

void ImportanceDesk::ListPairs(const StudyHandle& study,
                               const v1::ListPairsRequest& request,
                               CancelFlag cancelled,
                               Reply<v1::ListPairsReply> reply) {
  const auto question = MakeQuestion(request.options(), *study.checked);
  if (!question.ok()) return reply(question.status());
  StudyHandle any_revision;
  any_revision.key = study.key;
  const std::string list =
      AnswerKey("pairs", any_revision, *question,
                absl::StrJoin(request.options().parameters(), "\n"));
  const auto place = ParsePageToken(list, "", request.page_token());
  if (!place.ok()) return reply(place.status());
  StudyHandle of = study;
  if (!request.page_token().empty()) of.revision = *place >> kOffsetBits;
  const std::int64_t offset = *place & ((std::int64_t{1} << kOffsetBits) - 1);
  const auto render = [list, offset, revision = of.revision,
                       request](const KeptAnswer& answer) {
    return PageOf(Narrowed<v1::ImportanceReport>(answer, request.options()),
                  revision, list, offset, PageSize(request.page_size()));
  };
  const std::string key = ReportKey(of, *question);
  if (of.revision != study.revision) {
    if (const AnswerPtr kept = answers_.Find(key)) return reply(render(*kept));
    return reply(MakeError(ErrorId::kPageTokenInvalid,
                           "the study has moved on since the first page, and "
                           "the report that was paged is gone",
                           "start again without a token", "page_token"));
  }
  Serve(key, false, std::move(cancelled), std::move(reply), render,
        [this, study, question = *question] {
          return MakeReport(study, question, true);
        });
}

void ImportanceDesk::CompareStudies(const StudyHandle& first,
                                    const StudyHandle& second,
                                    const v1::CompareStudiesRequest& request,
                                    CancelFlag cancelled,
                                    Reply<v1::StudyComparison> reply) {
  const auto one = MakeQuestion(request.options(), *first.checked);
  if (!one.ok()) return reply(one.status());
  const auto other = MakeQuestion(request.options(), *second.checked);
  if (!other.ok()) return reply(other.status());
  Serve(
      AnswerKey("compare", first, *one, AnswerKey("with", second, *other)),
      false, std::move(cancelled), std::move(reply),
      [asked = request.options()](const KeptAnswer& answer) {
        return Narrowed<v1::StudyComparison>(answer, asked);
      },
      [this, first, second, one = *one, other = *other] {
        return Compare(first, one, second, other);
      });
}

}  // namespace frostline::server
