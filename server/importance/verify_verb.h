// SPDX-License-Identifier: Apache-2.0
//
// File: verify_verb.h
//
// Any thread may call.
#ifndef FROSTLINE_SERVER_IMPORTANCE_VERIFY_VERB_H_
#define FROSTLINE_SERVER_IMPORTANCE_VERIFY_VERB_H_

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"

namespace frostline::server {

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

#endif  // FROSTLINE_SERVER_IMPORTANCE_VERIFY_VERB_H_
