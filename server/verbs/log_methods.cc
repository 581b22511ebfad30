// SPDX-License-Identifier: Apache-2.0
//
// The tail of a trial's log. Of an ended attempt it is in the store; of a
// running one it is asked for with the reply to its worker's next heartbeat and
// comes with the one after.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/coordinator_impl.h"
#include "server/wire/limits.h"

namespace frostline {
namespace {

// The end of `tail`, whole lines where that leaves anything.
std::string LastBytes(const std::string& tail, std::int64_t most) {
  const auto limit = static_cast<std::size_t>(most);
  if (tail.size() <= limit) return tail;
  std::string last = tail.substr(tail.size() - limit);
  const std::size_t line = last.find('\n');
  const bool some_left = line != std::string::npos && line + 1 < last.size();
  return some_left ? last.substr(line + 1) : last;
}

v1::GetTrialLogReply LogReply(std::int64_t attempt, std::string tail,
                              bool live) {
  v1::GetTrialLogReply reply;
  reply.set_attempt(attempt);
  reply.set_tail(std::move(tail));
  reply.set_live(live);
  return reply;
}

}  // namespace

absl::StatusOr<ParkedLog> Coordinator::Impl::FindLogged(
    const v1::GetTrialLogRequest& request) {
  ASSIGN_OR_RETURN(const Named named, FindTrial(request.name()));
  const TrialRow& row = named.trial.row;
  if (request.attempt() > row.attempt) {
    return MakeError(ErrorId::kTrialNotFound,
                     absl::StrCat(request.name(), " has had ", row.attempt,
                                  " attempts so far"),
                     "ask for one of them, or for 0, the newest", "attempt");
  }
  ParkedLog parked;
  parked.trial = {row.study, row.number};
  parked.attempt = request.attempt() == 0 ? row.attempt : request.attempt();
  const bool runs =
      row.state == TrialState::kRunning && parked.attempt == row.attempt;
  parked.deadline = clock_.Steady() + (runs ? DurationFromProto(request.wait())
                                            : Duration::zero());
  return parked;
}

void Coordinator::Impl::StartLog(v1::GetTrialLogRequest request,
                                 Reply<v1::GetTrialLogReply> reply) {
  const std::int64_t most = request.max_bytes() == 0
                                ? static_cast<std::int64_t>(kMaxLogTailBytes)
                                : std::int64_t{request.max_bytes()};
  auto shared = std::make_shared<Reply<v1::GetTrialLogReply>>(
      [most, reply = std::move(reply)](
          absl::StatusOr<v1::GetTrialLogReply> log) mutable {
        if (log.ok()) log->set_tail(LastBytes(log->tail(), most));
        reply(std::move(log));
      });
  PostCall(
      [this, shared, request](Batch& batch) {
        absl::StatusOr<ParkedLog> parked = FindLogged(request);
        if (!parked.ok()) {
          return batch.Then([shared, refused = parked.status()](
                                const absl::Status&) { (*shared)(refused); });
        }
        parked->reply = std::move(*shared);
        if (parked->deadline <= clock_.Steady()) {
          return AnswerStoredLog(*std::move(parked));
        }
        log_waiters_.Enter(*std::move(parked));
      },
      [&shared](const absl::Status& refused) { (*shared)(refused); });
}

absl::StatusOr<v1::GetTrialLogReply> Coordinator::Impl::StoredLog(
    TrialKey trial, std::int64_t attempt) const {
  ASSIGN_OR_RETURN(std::optional<LogRow> log,
                   store_.FindLog(trial.study, trial.number, attempt));
  return LogReply(attempt, log.has_value() ? std::move(log->tail) : "", false);
}

void Coordinator::Impl::AnswerStoredLog(ParkedLog parked) {
  auto shared = std::make_shared<ParkedLog>(std::move(parked));
  readers_.Post([this, shared] {
    shared->reply(StoredLog(shared->trial, shared->attempt));
  });
}

void Coordinator::Impl::TakeLog(Batch& batch, TrialKey trial,
                                const v1::LeaseProgress& progress) {
  const std::int64_t attempt = progress.lease().attempt();
  for (ParkedLog& parked :
       log_waiters_.Take(trial, [attempt](const ParkedLog& waiting) {
         return waiting.attempt == attempt;
       })) {
    batch.Then([reply = std::move(parked.reply),
                log = LogReply(attempt, progress.log_tail(), true)](
                   const absl::Status&) mutable { reply(std::move(log)); });
  }
}

}  // namespace frostline
