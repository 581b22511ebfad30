// SPDX-License-Identifier: Apache-2.0
//
// File: plan_verbs.h
//
// The verbs about plans, and about the trials that verify one. Any thread may
// call.
#ifndef FROSTLINE_SERVER_IMPORTANCE_PLAN_VERBS_H_
#define FROSTLINE_SERVER_IMPORTANCE_PLAN_VERBS_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "frostline/v1/importance_service.pb.h"
#include "importance/plan/study_plan.h"
#include "server/importance/desk.h"
#include "server/importance/question.h"
#include "server/wire/spec.h"
#include "study/history.h"

namespace frostline::server {

// Labels of a plan's trial and of a frontier's: the most memory that it would
// take at once, and what of it is the optimizer's moments, in mebibytes. Absent
// while the study's trials do not tell.
inline constexpr char kPredictedMemoryLabel[] = "predicted_peak_memory_mib";
inline constexpr char kPredictedOptimizerLabel[] = "predicted_optimizer_mib";

// What a plan, its frontier and its rivals stand on. `basis` points in here, so
// once that is made the ground is neither moved nor changed.
struct PlanGround {
  StudyHandle study;
  ImportanceQuestion question;
  History history;
  std::int64_t revision = 0;
  std::int64_t evaluation_rows = 0;
  std::unique_ptr<const importance::PlanBasis> basis;

  const Space& space() const { return study.checked->space; }
  importance::PlanOptions OptionsFor(double tolerance,
                                     const std::stop_token& stop) const;
};

using PlanGroundPtr = std::shared_ptr<const PlanGround>;

// The ground asked for last. It is kept, since a caller who asks for a plan
// asks for its frontier and rivals next. Thread-safe.
class LastPlanGround {
 public:
  // Returns the one kept under `key`, else `make`'s, which is kept unless it is
  // an error. Who asks for what another is making waits for it.
  absl::StatusOr<PlanGroundPtr> Of(
      const std::string& key,
      absl::FunctionRef<absl::StatusOr<PlanGroundPtr>()> make);

 private:
  struct Entry {
    std::string key;
    Mutex mutex;  // while it is made
    PlanGroundPtr ground ABSL_GUARDED_BY(mutex);
  };

  Mutex mutex_;
  std::shared_ptr<Entry> last_ ABSL_GUARDED_BY(mutex_);
};

// Plans, frontiers, rivals, and what to run next.
class PlanVerbs {
 public:
  explicit PlanVerbs(ImportanceDesk& desk) : desk_(desk) {}

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
  void ExplainDifference(const StudyHandle& study,
                         const v1::ExplainDifferenceRequest& request,
                         CancelFlag cancelled,
                         Reply<v1::DifferenceExplanation> reply);

 private:
  // `make` is given what plans stand on, and the options.
  template <typename Message, typename Request, typename Make>
  void ServePlan(const std::string& kind, const StudyHandle& study,
                 const Request& request, CancelFlag cancelled,
                 Reply<Message> reply, Make make);
  absl::StatusOr<PlanGroundPtr> LoadGround(const StudyHandle& study,
                                           const ImportanceQuestion& question,
                                           const std::stop_token& stop);

  ImportanceDesk& desk_;
  LastPlanGround ground_;
};

// What came of the trials that verify a plan.
class VerifyVerb {
 public:
  explicit VerifyVerb(ImportanceDesk& desk) : desk_(desk) {}

  void GetPlanVerification(const StudyHandle& study,
                           const v1::GetPlanVerificationRequest& request,
                           CancelFlag cancelled,
                           Reply<v1::PlanVerification> reply);

 private:
  absl::StatusOr<AnswerPtr> Verify(const StudyHandle& study,
                                   const std::string& batch,
                                   const std::stop_token& stop);

  ImportanceDesk& desk_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_PLAN_VERBS_H_
