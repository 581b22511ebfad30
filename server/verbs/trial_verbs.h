// SPDX-License-Identifier: Apache-2.0
//
// File: trial_verbs.h
//
// The verbs about trials. A trial that was finished elsewhere is checked like
// one of ours.
#ifndef FROSTLINE_SERVER_VERBS_TRIAL_VERBS_H_
#define FROSTLINE_SERVER_VERBS_TRIAL_VERBS_H_

#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"
#include "server/search/proposer.h"
#include "server/verbs/calls.h"
#include "server/verbs/study_verbs.h"
#include "server/wire/spec.h"
#include "storage/rows.h"

namespace frostline::server {

// Returns the row of an imported trial, without number and revisions. Errors in
// state, parameters and times are at `field` and below.
absl::StatusOr<storage::TrialRow> ImportedRow(const v1::ImportedTrial& trial,
                                              const CheckedStudy& study,
                                              const std::string& field);

// The verbs that add, change and cancel trials.
class TrialVerbs {
 public:
  TrialVerbs(Calls& calls, Ledger& ledger, Proposer& proposer,
             StudyVerbs& studies, const Clock& clock);

  void AddTo(VerbTable& table);

 private:
  absl::StatusOr<v1::EnqueueTrialsReply> EnqueueTrials(
      Change& change,
      const v1::EnqueueTrialsRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::ImportTrialsReply> ImportTrials(
      Change& change, const v1::ImportTrialsRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Trial> UpdateTrial(
      Change& change, const v1::UpdateTrialRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Trial> CancelTrial(
      Change& change, const v1::CancelTrialRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Trial> RetryTrial(
      Change& change, const v1::RetryTrialRequest& request) FROSTLINE_ON_LOOP;
  // Makes room in the budget for `count` more trials if there is none; a
  // completed study goes on.
  absl::Status RaiseBudget(Batch& batch, StudyBook& book, std::int64_t count,
                           v1::EnqueueTrialsReply& reply) FROSTLINE_ON_LOOP;
  // Returns attempt 0 of the trial to come: the newest attempt of `row` that
  // left a checkpoint.
  absl::StatusOr<storage::AttemptRow> CheckpointOf(const storage::TrialRow& row,
                                                   const std::string& name,
                                                   StoredRows& rows) const;

  Calls& calls_;
  Ledger& ledger_;
  Proposer& proposer_;
  StudyVerbs& studies_;
  const Clock& clock_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_TRIAL_VERBS_H_
