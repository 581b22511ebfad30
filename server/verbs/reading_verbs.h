// SPDX-License-Identifier: Apache-2.0
//
// File: reading_verbs.h
#ifndef FROSTLINE_SERVER_VERBS_READING_VERBS_H_
#define FROSTLINE_SERVER_VERBS_READING_VERBS_H_

#include "frostline/v1/study_service.pb.h"
#include "server/verbs/calls.h"
#include "server/verbs/point_reads.h"

namespace frostline::server {

// Lists run on readers and stop between two pages when the caller has hung up;
// what is of one trial is a point read.
class ReadingVerbs {
 public:
  ReadingVerbs(Calls& calls, PointReads& points,
               const storage::TrialStore& store, const ProgressBoard& progress)
      : calls_(calls), points_(points), store_(store), progress_(progress) {}

  void AddTo(VerbTable& table);

 private:
  absl::StatusOr<v1::Trial> GetTrial(const CallContext& caller,
                                     const StudyHandle& study,
                                     const v1::GetTrialRequest& request) const;
  absl::StatusOr<v1::ListTrialsReply> ListTrials(
      const CallContext& caller, const StudyHandle& study,
      const v1::ListTrialsRequest& request) const;
  absl::StatusOr<v1::ListMeasurementsReply> ListMeasurements(
      const CallContext& caller, const StudyHandle& study,
      const v1::ListMeasurementsRequest& request) const;
  absl::StatusOr<v1::ListBestTrialsReply> ListBestTrials(
      const StudyHandle& study, const v1::ListBestTrialsRequest& request) const;
  absl::StatusOr<v1::ExampleOutcomes> GetExampleOutcomes(
      const CallContext& caller, const StudyHandle& study,
      const v1::GetExampleOutcomesRequest& request) const;

  Calls& calls_;
  PointReads& points_;
  const storage::TrialStore& store_;
  const ProgressBoard& progress_;
};

// Reads attempts for the FULL view; what runs is shown with its progress. A
// trial that does not fit into a message so (kMostPageBytes) is shown without
// examples of superseded outcomes, then without these outcomes, then without
// its oldest attempts: those that are shown are numbered.
absl::StatusOr<v1::Trial> RenderTrial(const storage::TrialRow& row,
                                      const StudyHandle& study,
                                      v1::TrialView view,
                                      const storage::TrialStore& store,
                                      const ProgressBoard& progress);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_READING_VERBS_H_
