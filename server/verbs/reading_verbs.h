// SPDX-License-Identifier: Apache-2.0
//
// File: reading_verbs.h
#ifndef FROSTLINE_SERVER_VERBS_READING_VERBS_H_
#define FROSTLINE_SERVER_VERBS_READING_VERBS_H_

#include "frostline/v1/study_service.pb.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// Its bodies run on readers.
class ReadingVerbs {
 public:
  ReadingVerbs(Calls& calls, const storage::TrialStore& store)
      : calls_(calls), store_(store) {}

  void AddTo(VerbTable& table);

 private:
  absl::StatusOr<v1::Trial> GetTrial(const StudyHandle& study,
                                     const v1::GetTrialRequest& request) const;
  absl::StatusOr<v1::ListTrialsReply> ListTrials(
      const StudyHandle& study, const v1::ListTrialsRequest& request) const;
  absl::StatusOr<v1::ListMeasurementsReply> ListMeasurements(
      const StudyHandle& study,
      const v1::ListMeasurementsRequest& request) const;
  absl::StatusOr<v1::ListBestTrialsReply> ListBestTrials(
      const StudyHandle& study, const v1::ListBestTrialsRequest& request) const;
  absl::StatusOr<v1::ExampleOutcomes> GetExampleOutcomes(
      const StudyHandle& study,
      const v1::GetExampleOutcomesRequest& request) const;

  Calls& calls_;
  const storage::TrialStore& store_;
};

// Reads attempts for the FULL view.
absl::StatusOr<v1::Trial> RenderTrial(const storage::TrialRow& row,
                                      const StudyHandle& study,
                                      v1::TrialView view,
                                      const storage::TrialStore& store);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_READING_VERBS_H_
