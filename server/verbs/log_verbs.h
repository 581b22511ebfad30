// SPDX-License-Identifier: Apache-2.0
//
// File: log_verbs.h
//
// What a running trial's worker is asked for by its listening call: the tail
// of a log, and predictions.
#ifndef FROSTLINE_SERVER_VERBS_LOG_VERBS_H_
#define FROSTLINE_SERVER_VERBS_LOG_VERBS_H_

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "base/ids.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/auth/access.h"
#include "server/dispatch/acquire_line.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// Functions on a log's tail. It comes with its end: how many bytes the log has
// had up to there. So bytes 900 to 1,000 are a tail of 100 with the end 1,000,
// of which 40 come after 960.

// Returns the end of `tail`, in whole lines if that leaves anything.
std::string LastBytes(const std::string& tail, std::int64_t most);

// Returns what of `tail` comes after `after` bytes: all of it when `after` is
// not given or `end` is 0 (not known).
std::string TextAfter(const std::string& tail, std::int64_t end,
                      std::optional<std::int64_t> after);

// Wishes for logs and predictions, by worker. They are numbered as they come,
// and a worker says up to which number it has heard. So it hears each wish
// once, none that was dropped, and all of them again after the coordinator has
// restarted. Memory and time grow only with the calls that wait.
//
// Not thread-safe.
class LogWishes {
 public:
  // Adds a wish, which is an answer that holds nothing else. Returns its id, by
  // which it can be dropped.
  std::string Add(const std::string& worker, v1::ListenReply wish);
  void Drop(const std::string& worker, const std::string& id);
  // Returns the id that Add() will return next.
  std::string NextId() const;

  // Says whether there is a wish for a worker that has heard up to `seen`.
  bool HasMore(const std::string& worker, const std::string& seen) const;
  v1::ListenReply Since(const std::string& worker,
                        const std::string& seen) const;

 private:
  // Returns 0 for what was seen in another life of the coordinator.
  std::int64_t NumberOf(const std::string& seen) const;

  const std::string life_ = RandomHexId();
  std::int64_t last_ = 0;
  std::map<std::string, std::map<std::int64_t, v1::ListenReply>> wishes_;
};

// The verb GetTrialLog, which returns the tail of a trial's log, and the verb
// Listen. For an ended attempt the store has the tail. The worker of a running
// one hears through Listen that somebody wants it, and sends it with a
// heartbeat at once; a worker that does not listen is asked in the reply to its
// next heartbeat. Nothing of this is written.
class LogVerb {
 public:
  LogVerb(Calls& calls, Ledger& ledger, const storage::TrialStore& store,
          const Credentials& credentials, const Clock& clock);

  void AddTo(VerbTable& table);

  bool IsWanted(TrialKey trial) const FROSTLINE_ON_LOOP {
    return waiting_.Has(trial);
  }
  // Takes the tail that a worker sent for a trial it holds.
  void Take(Batch& batch, TrialKey trial,
            const v1::LeaseProgress& progress) FROSTLINE_ON_LOOP;
  // Notes that the trial's run ends with this group. Those who wait for its log
  // are told what is stored, once it is.
  void NoteRunOver(TrialKey trial) FROSTLINE_ON_LOOP;
  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP;
  // Adds a wish of another kind. The worker's listener is told, or whoever
  // listens next, until the wish is dropped. Its id is NextWishId().
  std::string NextWishId() const FROSTLINE_ON_LOOP { return wishes_.NextId(); }
  void AddWish(const std::string& worker,
               v1::ListenReply wish) FROSTLINE_ON_LOOP;
  void DropWish(const std::string& worker,
                const std::string& id) FROSTLINE_ON_LOOP {
    wishes_.Drop(worker, id);
  }
  // Answers those who have waited long enough, or everybody.
  void Turn(bool all) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;

 private:
  struct Parked {
    TrialKey trial;
    std::string name;  // the trial's
    std::int64_t attempt = 0;
    std::optional<std::int64_t> after;
    std::string worker;  // its id
    std::string wish;    // its id
    SteadyTime deadline{};
    Reply<v1::GetTrialLogReply> reply;

    TrialKey Key() const { return trial; }
  };
  struct Listener {
    std::string worker;  // its id
    std::string seen;
    SteadyTime deadline{};
    Reply<v1::ListenReply> reply;

    const std::string& Key() const { return worker; }
  };

  void GetTrialLog(CallContext caller, v1::GetTrialLogRequest request,
                   Reply<v1::GetTrialLogReply> reply);
  absl::StatusOr<Parked> Find(const v1::GetTrialLogRequest& request,
                              StoredRows& rows) const FROSTLINE_ON_LOOP;
  void Park(Parked parked) FROSTLINE_ON_LOOP;
  void Listen(CallContext caller, v1::ListenRequest request,
              Reply<v1::ListenReply> reply);
  void Tell(Listener listener) FROSTLINE_ON_LOOP;
  void TellListeners(const std::string& worker) FROSTLINE_ON_LOOP;

  void AnswerStored(Parked parked);
  // These run on a reading thread.
  absl::StatusOr<v1::GetTrialLogReply> ReadStored(const Parked& parked) const;
  absl::StatusOr<storage::LogRow> ReadLog(TrialKey trial,
                                          std::int64_t attempt) const;
  // Says where the log is, as far as the worker's registration tells.
  v1::LogPlace PlaceOf(const std::string& worker, const std::string& trial,
                       std::int64_t attempt) const FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  const storage::TrialStore& store_;
  const Credentials& credentials_;
  const Clock& clock_;
  WaitingRoom<Parked> waiting_ ABSL_GUARDED_BY(kLoopThread);
  WaitingRoom<Listener> listeners_ ABSL_GUARDED_BY(kLoopThread);
  LogWishes wishes_ ABSL_GUARDED_BY(kLoopThread);
  std::list<Parked> run_over_ ABSL_GUARDED_BY(kLoopThread);
};

// The verb ReadPredictions, which answers from the disk of the worker that ran
// the trial. The worker hears through Listen which part of which file is
// wanted, and sends it. Nothing is stored here, and no text is sent that nobody
// asked for.
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

#endif  // FROSTLINE_SERVER_VERBS_LOG_VERBS_H_
