// SPDX-License-Identifier: Apache-2.0
//
// File: log_verb.h
//
// GetTrialLog answers the tail of a trial's log. The store has it of an ended
// attempt; a running one's worker is asked with the reply to its next
// heartbeat, and sends it with the one after.
#ifndef FROSTLINE_SERVER_VERBS_LOG_VERB_H_
#define FROSTLINE_SERVER_VERBS_LOG_VERB_H_

#include <optional>

#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/dispatch/waiting_room.h"
#include "server/verbs/calls.h"
#include "server/verbs/point_reads.h"

namespace frostline::server {

class LogVerb {
 public:
  LogVerb(Calls& calls, PointReads& points, Ledger& ledger,
          const storage::TrialStore& store, const Clock& clock);

  void AddTo(VerbTable& table);

  bool IsWanted(TrialKey trial) const FROSTLINE_ON_LOOP {
    return waiting_.Has(trial);
  }
  // Takes the tail that a worker sent of a trial it holds.
  void Take(Batch& batch, TrialKey trial,
            const v1::LeaseProgress& progress) FROSTLINE_ON_LOOP;
  // Tells those who have waited long enough, or everybody, what is stored.
  void Turn(bool all) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP {
    return waiting_.NextDue();
  }

 private:
  struct Parked {
    TrialKey trial;
    std::int64_t attempt = 0;
    SteadyTime deadline{};
    Reply<v1::GetTrialLogReply> reply;

    TrialKey Key() const { return trial; }
  };

  void GetTrialLog(CallContext caller, v1::GetTrialLogRequest request,
                   Reply<v1::GetTrialLogReply> reply);
  absl::StatusOr<Parked> Find(const v1::GetTrialLogRequest& request,
                              StoredRows& rows) const FROSTLINE_ON_LOOP;
  void AnswerStored(Parked parked);

  Calls& calls_;
  PointReads& points_;
  Ledger& ledger_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  WaitingRoom<Parked> waiting_ ABSL_GUARDED_BY(kLoopThread);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_LOG_VERB_H_
