// SPDX-License-Identifier: Apache-2.0
//
// File: plan_verbs.h
//
// Any thread may call.
#ifndef FROSTLINE_SERVER_IMPORTANCE_PLAN_VERBS_H_
#define FROSTLINE_SERVER_IMPORTANCE_PLAN_VERBS_H_

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"
#include "server/importance/plan_ground.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_PLAN_VERBS_H_
