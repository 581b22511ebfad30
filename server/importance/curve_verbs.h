// SPDX-License-Identifier: Apache-2.0
//
// File: curve_verbs.h
//
// Any thread may call.
#ifndef FROSTLINE_SERVER_IMPORTANCE_CURVE_VERBS_H_
#define FROSTLINE_SERVER_IMPORTANCE_CURVE_VERBS_H_

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"

namespace frostline::server {

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

#endif  // FROSTLINE_SERVER_IMPORTANCE_CURVE_VERBS_H_
