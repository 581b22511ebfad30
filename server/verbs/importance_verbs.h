// SPDX-License-Identifier: Apache-2.0
//
// File: importance_verbs.h
//
// Each verb looks up its studies and goes on at the desk (importance/desk.h),
// which answers on threads of its own.
#ifndef FROSTLINE_SERVER_VERBS_IMPORTANCE_VERBS_H_
#define FROSTLINE_SERVER_VERBS_IMPORTANCE_VERBS_H_

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/comparison.h"
#include "server/importance/plan_verbs.h"
#include "server/importance/report_verbs.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// The verbs about importance: reports, curves, plans and comparisons.
class ImportanceVerbs {
 public:
  ImportanceVerbs(Calls& calls, ImportanceDesk& desk)
      : calls_(calls),
        reports_(desk),
        curves_(desk),
        plans_(desk),
        verify_(desk),
        compare_(desk) {}

  void AddTo(VerbTable& table);

 private:
  // `ask` is called with the study once that has been looked up.
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const char* verb, V& object,
           void (V::*ask)(const StudyHandle&, const Request&, CancelFlag,
                          Reply<Answer>));
  void CompareStudies(CallContext caller, v1::CompareStudiesRequest request,
                      Reply<v1::StudyComparison> reply);
  void CompareTrials(CallContext caller, v1::CompareTrialsRequest request,
                     Reply<v1::TrialComparison> reply);

  Calls& calls_;
  ReportVerbs reports_;
  CurveVerbs curves_;
  PlanVerbs plans_;
  VerifyVerb verify_;
  CompareVerb compare_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_IMPORTANCE_VERBS_H_
