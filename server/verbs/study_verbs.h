// SPDX-License-Identifier: Apache-2.0
//
// File: study_verbs.h
#ifndef FROSTLINE_SERVER_VERBS_STUDY_VERBS_H_
#define FROSTLINE_SERVER_VERBS_STUDY_VERBS_H_

#include <memory>
#include <optional>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "server/notify/deliver.h"
#include "server/search/proposer.h"
#include "server/verbs/calls.h"
#include "server/verbs/describe.h"

namespace frostline::server {

// The verbs that create, change, show and list studies.
class StudyVerbs {
 public:
  StudyVerbs(Calls& calls, Ledger& ledger, Proposer& proposer,
             const storage::TrialStore& store, const storage::DiskRoom& disk,
             const Destinations& destinations, const Clock& clock);

  void AddTo(VerbTable& table);

  // Changes the settings after checking them; a completed study that has budget
  // left goes on.
  absl::Status ChangeSettings(Batch& batch, StudyBook& book,
                              const v1::StudySettings& settings)
      FROSTLINE_ON_LOOP;

 private:
  // A new study that a reader has checked as far as it can without the loop,
  // since the studies that it starts from may have to be read.
  struct Prepared {
    v1::StudySpec spec;
    std::shared_ptr<const CheckedStudy> checked;
    std::vector<sampler::PriorStudy> priors;
    WallMicros created = 0;
  };
  absl::StatusOr<Prepared> Prepare(const v1::CreateStudyRequest& request) const;
  absl::StatusOr<v1::CreateStudyReply> Create(
      Change& change, const v1::CreateStudyRequest& request,
      const absl::StatusOr<Prepared>& prepared) FROSTLINE_ON_LOOP;
  // Returns the study that is there, if the request asks for the same one.
  absl::StatusOr<v1::CreateStudyReply> CreatedBefore(
      const CallerIdentity& caller, const StudyBook& existing,
      const v1::CreateStudyRequest& request) const FROSTLINE_ON_LOOP;
  // The error is STORE_FULL when the disk has no room for another study.
  absl::Status MayBegin(const v1::CreateStudyRequest& request) const
      FROSTLINE_ON_LOOP;

  struct Listing;
  // The studies as memory has them; nothing for one that it does not have.
  using Snapshots = std::vector<std::optional<StudySnapshot>>;
  // Fills the page: a reader reads the store's next rows, the loop makes
  // snapshots of them, and a reader describes these, until the page is full or
  // the caller has hung up.
  void ListMore(const std::shared_ptr<Listing>& listing,
                Reply<v1::ListStudiesReply> reply);
  Snapshots See(Listing& listing) const FROSTLINE_ON_LOOP;
  void TakeListed(const std::shared_ptr<Listing>& listing,
                  const Snapshots& seen, Reply<v1::ListStudiesReply> reply);

  void CreateStudy(CallContext caller, v1::CreateStudyRequest request,
                   Reply<v1::CreateStudyReply> reply);
  void ListStudies(CallContext caller, v1::ListStudiesRequest request,
                   Reply<v1::ListStudiesReply> reply);
  void GetStudy(CallContext caller, v1::GetStudyRequest request,
                Reply<v1::Study> reply);
  absl::StatusOr<v1::Study> PauseStudy(
      Change& change, const v1::PauseStudyRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Study> ResumeStudy(
      Change& change, const v1::ResumeStudyRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Study> StopStudy(
      Change& change, const v1::StopStudyRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Study> UpdateStudy(
      Change& change, const v1::UpdateStudyRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Study> DeleteStudy(
      Change& change, const v1::DeleteStudyRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Study> SetState(
      Change& change, const std::string& name, storage::StudyState state,
      const std::string& reason) FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  Proposer& proposer_;
  const storage::TrialStore& store_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Destinations& destinations_;
  const Clock& clock_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_STUDY_VERBS_H_
