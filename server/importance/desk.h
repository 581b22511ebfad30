// SPDX-License-Identifier: Apache-2.0
//
// File: desk.h
//
// The verbs of importance, on threads of their own so that a long computation
// holds up neither the commit loop nor who only reads lists. Answers are kept
// by study revision and question; trials are read once (known_trials.h).
//
// A call may come from any thread and returns at once; it is answered on one
// of the desk's threads, or at once from what is kept. A computation whose
// callers have all hung up is not begun; one that has begun is finished and
// kept.
#ifndef FROSTLINE_SERVER_IMPORTANCE_DESK_H_
#define FROSTLINE_SERVER_IMPORTANCE_DESK_H_

#include <atomic>
#include <functional>
#include <string>

#include "base/clock.h"
#include "frostline/v1/importance_service.pb.h"
#include "importance/ranking/stability.h"
#include "server/importance/answer_cache.h"
#include "server/importance/known_trials.h"
#include "server/importance/plan_ground.h"
#include "server/importance/question.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

class ImportanceDesk {
 public:
  // Borrows both.
  ImportanceDesk(const storage::TrialStore& store, const Clock& clock);

  void Start(int threads);
  // Ends what is being computed and refuses the rest; idempotent.
  void Stop();

  void GetReport(const StudyHandle& study, const v1::GetReportRequest& request,
                 CancelFlag cancelled, Reply<v1::ImportanceReport> reply);
  void ListPairs(const StudyHandle& study, const v1::ListPairsRequest& request,
                 CancelFlag cancelled, Reply<v1::ListPairsReply> reply);
  void GetMarginals(const StudyHandle& study,
                    const v1::GetMarginalsRequest& request,
                    CancelFlag cancelled, Reply<v1::GetMarginalsReply> reply);
  void GetPairMarginal(const StudyHandle& study,
                       const v1::GetPairMarginalRequest& request,
                       CancelFlag cancelled, Reply<v1::PairMarginal> reply);
  void GetStability(const StudyHandle& study,
                    const v1::GetStabilityRequest& request,
                    CancelFlag cancelled, Reply<v1::GetStabilityReply> reply);
  void CompareStudies(const StudyHandle& first, const StudyHandle& second,
                      const v1::CompareStudiesRequest& request,
                      CancelFlag cancelled, Reply<v1::StudyComparison> reply);
  void GetPlan(const StudyHandle& study, const v1::GetPlanRequest& request,
               CancelFlag cancelled, Reply<v1::FreezePlan> reply);
  void GetFrontier(const StudyHandle& study,
                   const v1::GetFrontierRequest& request, CancelFlag cancelled,
                   Reply<v1::Frontier> reply);
  void AskPlan(const StudyHandle& study, const v1::AskPlanRequest& request,
               CancelFlag cancelled, Reply<v1::AskPlanReply> reply);
  void GetPlanRivals(const StudyHandle& study,
                     const v1::GetPlanRivalsRequest& request,
                     CancelFlag cancelled, Reply<v1::GetPlanRivalsReply> reply);
  void GetPlanVerification(const StudyHandle& study,
                           const v1::GetPlanVerificationRequest& request,
                           CancelFlag cancelled,
                           Reply<v1::PlanVerification> reply);

 private:
  using Computation = std::function<absl::StatusOr<AnswerPtr>()>;
  struct Loaded {
    History history;
    std::int64_t revision = 0;
  };

  // Replies with `render` of the answer, which is computed unless it is kept.
  template <typename Message, typename Render>
  void Serve(const std::string& key, bool anew, CancelFlag cancelled,
             Reply<Message> reply, Render render, Computation computation);
  void Compute(const std::string& key, Computation computation);
  // The same for what plans are made of; `make` is given what they stand on and
  // the options.
  template <typename Message, typename Request, typename Make>
  void ServePlan(const std::string& kind, const StudyHandle& study,
                 const Request& request, CancelFlag cancelled,
                 Reply<Message> reply, Make make);

  absl::StatusOr<Loaded> Load(const StudyHandle& study,
                              const ImportanceQuestion& question);
  absl::StatusOr<PlanGroundPtr> LoadGround(const StudyHandle& study,
                                           const ImportanceQuestion& question);
  absl::StatusOr<AnswerPtr> MakeReport(const StudyHandle& study,
                                       const ImportanceQuestion& question,
                                       bool with_verdict);
  absl::StatusOr<importance::StabilityVerdict> VerdictOf(
      const StudyHandle& study, const ImportanceQuestion& question,
      const History& history);
  // The one that is kept, else one without the verdict, most of the work.
  absl::StatusOr<AnswerPtr> ReportToCompare(const StudyHandle& study,
                                            const ImportanceQuestion& question);
  absl::StatusOr<AnswerPtr> Verify(const StudyHandle& study,
                                   const std::string& batch);
  absl::StatusOr<AnswerPtr> Compare(const StudyHandle& first,
                                    const ImportanceQuestion& of_first,
                                    const StudyHandle& second,
                                    const ImportanceQuestion& of_second);

  const storage::TrialStore& store_;
  const Clock& clock_;
  KnownStudies studies_;
  AnswerCache answers_;
  LastPlanGround ground_;
  std::atomic<bool> stopping_ = false;
  TaskPool threads_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_DESK_H_
