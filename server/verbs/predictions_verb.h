// SPDX-License-Identifier: Apache-2.0
//
// File: predictions_verb.h
//
// The verb ReadPredictions, which answers from the disk of the worker that ran
// the trial. The worker hears through Listen which part of which file is
// wanted, and sends it. Nothing is stored here, and no text is sent that nobody
// asked for.
#ifndef FROSTLINE_SERVER_VERBS_PREDICTIONS_VERB_H_
#define FROSTLINE_SERVER_VERBS_PREDICTIONS_VERB_H_

#include <optional>
#include <string>

#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/auth/gate.h"
#include "server/dispatch/acquire_line.h"
#include "server/verbs/calls.h"
#include "server/verbs/log_verbs.h"

namespace frostline::server {

class PredictionsVerb {
 public:
  // Workers hear of wishes through `logs`. Borrows all of its arguments.
  PredictionsVerb(Calls& calls, Ledger& ledger, LogVerb& logs,
                  const Credentials& credentials, const Clock& clock);

  void AddTo(VerbTable& table);

  // Answers those who have waited long enough, or everybody.
  void Turn(bool all) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;

 private:
  struct Parked {
    std::string trial;   // its name
    std::string worker;  // its id
    std::string wish;    // its id
    SteadyTime deadline{};
    Reply<v1::ReadPredictionsReply> reply;

    const std::string& Key() const { return wish; }
  };

  void ReadPredictions(CallContext caller, v1::ReadPredictionsRequest request,
                       Reply<v1::ReadPredictionsReply> reply);
  // Returns what the worker is to send. The error is PREDICTIONS_MISSING or
  // PREDICTIONS_AWAY when asking would be useless.
  absl::StatusOr<v1::PredictionsWish> WishOf(
      const v1::ReadPredictionsRequest& request, StoredRows& rows,
      std::string& worker) const FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::SendPredictionsReply> SendPredictions(
      Change& change, const v1::SendPredictionsRequest& request);

  Calls& calls_;
  Ledger& ledger_;
  LogVerb& logs_;
  const Credentials& credentials_;
  const Clock& clock_;
  WaitingRoom<Parked> waiting_ ABSL_GUARDED_BY(kLoopThread);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_PREDICTIONS_VERB_H_
