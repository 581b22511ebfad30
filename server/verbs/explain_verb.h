// SPDX-License-Identifier: Apache-2.0
//
// File: explain_verb.h
//
// ExplainStudy says why so little is running (why_idle.h), and where one trial
// stands.
#ifndef FROSTLINE_SERVER_VERBS_EXPLAIN_VERB_H_
#define FROSTLINE_SERVER_VERBS_EXPLAIN_VERB_H_

#include <string>

#include "frostline/v1/study_service.pb.h"
#include "server/verbs/calls.h"

namespace frostline::server {

class ExplainVerb {
 public:
  ExplainVerb(Calls& calls, Ledger& ledger, const storage::DiskRoom& disk,
              const Clock& clock)
      : calls_(calls), ledger_(ledger), disk_(disk), clock_(clock) {}

  void AddTo(VerbTable& table);

 private:
  struct Seen;

  void ExplainStudy(CallContext caller, v1::ExplainStudyRequest request,
                    Reply<v1::ExplainStudyReply> reply);
  absl::StatusOr<Seen> See(Change& change,
                           const v1::ExplainStudyRequest& request) const
      FROSTLINE_ON_LOOP;
  std::string ProgressOf(const storage::TrialRow& row) const FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Clock& clock_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_EXPLAIN_VERB_H_
