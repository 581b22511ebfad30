// SPDX-License-Identifier: Apache-2.0
//
// File: report_verbs.h
//
// The verbs that answer with reports and curves. Any thread may call.
#ifndef FROSTLINE_SERVER_IMPORTANCE_REPORT_VERBS_H_
#define FROSTLINE_SERVER_IMPORTANCE_REPORT_VERBS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"

namespace frostline::server {

// Trials that a caller told, with the study that they are of.
struct ToldTrials {
  CheckedStudy checked;
  std::map<std::int64_t, KnownTrial> trials;  // those that have ended
};

// Reports, their pairs, and two studies compared.
class ReportVerbs {
 public:
  explicit ReportVerbs(ImportanceDesk& desk) : desk_(desk) {}

  void GetReport(const StudyHandle& study, const v1::GetReportRequest& request,
                 CancelFlag cancelled, Reply<v1::ImportanceReport> reply);
  void ListPairs(const StudyHandle& study, const v1::ListPairsRequest& request,
                 CancelFlag cancelled, Reply<v1::ListPairsReply> reply);
  void CompareStudies(const StudyHandle& first, const StudyHandle& second,
                      const v1::CompareStudiesRequest& request,
                      CancelFlag cancelled, Reply<v1::StudyComparison> reply);
  // Nothing of the answer is kept.
  void Explain(std::shared_ptr<const ToldTrials> told,
               const v1::ExplainRequest& request, CancelFlag cancelled,
               Reply<v1::ExplainReply> reply);

 private:
  // Returns a report without the study's name, revision and times.
  static absl::StatusOr<std::shared_ptr<KeptAnswer>> Evaluated(
      const CheckedStudy& study, const ImportanceQuestion& question,
      const History& history, const std::stop_token& stop);
  absl::StatusOr<AnswerPtr> MakeReport(const StudyHandle& study,
                                       const ImportanceQuestion& question,
                                       const std::stop_token& stop);
  // Returns the report that is kept, else makes one.
  absl::StatusOr<AnswerPtr> ReportToCompare(const StudyHandle& study,
                                            const ImportanceQuestion& question,
                                            const std::stop_token& stop);
  absl::StatusOr<AnswerPtr> Compare(const StudyHandle& first,
                                    const ImportanceQuestion& of_first,
                                    const StudyHandle& second,
                                    const ImportanceQuestion& of_second,
                                    const std::stop_token& stop);

  ImportanceDesk& desk_;
  std::atomic<std::uint64_t> told_ = 0;  // tells told studies apart
};

// Curves of parameters, and how settled a ranking is.
class CurveVerbs {
 public:
  explicit CurveVerbs(ImportanceDesk& desk) : desk_(desk) {}

  void GetMarginals(const StudyHandle& study,
                    const v1::GetMarginalsRequest& request,
                    CancelFlag cancelled, Reply<v1::GetMarginalsReply> reply);
  void GetPairMarginal(const StudyHandle& study,
                       const v1::GetPairMarginalRequest& request,
                       CancelFlag cancelled, Reply<v1::PairMarginal> reply);
  void GetStability(const StudyHandle& study,
                    const v1::GetStabilityRequest& request,
                    CancelFlag cancelled, Reply<v1::GetStabilityReply> reply);

 private:
  ImportanceDesk& desk_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_REPORT_VERBS_H_
