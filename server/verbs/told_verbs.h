// SPDX-License-Identifier: Apache-2.0
//
// File: told_verbs.h
//
// Points and reports for studies that a caller keeps, and tells each time: its
// space and its trials. Nothing is stored. The answer is a function of the
// request alone, so that any coordinator of this version answers alike, also
// one that was started a moment ago.
//
//   Suggest: trials 0 … n - 1 told, 2 asked for  ->  trials n and n + 1
#ifndef FROSTLINE_SERVER_VERBS_TOLD_VERBS_H_
#define FROSTLINE_SERVER_VERBS_TOLD_VERBS_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "server/importance/report_verbs.h"
#include "server/verbs/calls.h"
#include "server/wire/spec.h"
#include "storage/rows.h"

namespace frostline::server {

// A told study: checked, with a row for each of its trials.
struct ToldStudy {
  CheckedStudy checked;
  std::vector<storage::TrialRow> rows;  // by number
  std::vector<std::vector<Measurement>> curves;
};

// Reads a study as CreateStudy would, and its trials as ImportTrials would,
// which also may be pending or cancelled here. Errors name the field.
absl::StatusOr<ToldStudy> ReadTold(const v1::ToldStudy& told,
                                   const v1::SamplerSpec& sampler,
                                   v1::Purpose purpose,
                                   const LeaseRules& defaults);

// The verbs Suggest and Explain.
class ToldVerbs {
 public:
  // `stop` tells proposals in work to end.
  ToldVerbs(Calls& calls, ImportanceDesk& desk, const LeaseRules& defaults,
            std::stop_token stop)
      : calls_(calls),
        reports_(desk),
        defaults_(defaults),
        stop_(std::move(stop)) {}

  void AddTo(VerbTable& table);

 private:
  void Suggest(CallContext caller, v1::SuggestRequest request,
               Reply<v1::SuggestReply> reply);
  void Explain(CallContext caller, v1::ExplainRequest request,
               Reply<v1::ExplainReply> reply);
  absl::StatusOr<v1::SuggestReply> Propose(
      const CallContext& caller, const v1::SuggestRequest& request) const;

  Calls& calls_;
  ReportVerbs reports_;
  const LeaseRules defaults_;
  const std::stop_token stop_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_TOLD_VERBS_H_
