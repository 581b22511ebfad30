// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/log_verb.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "proto/wire_time.h"
#include "server/wire/limits.h"

namespace frostline::server {
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

LogVerb::LogVerb(Calls& calls, PointReads& points, Ledger& ledger,
                 const storage::TrialStore& store, const Clock& clock)
    : calls_(calls),
      points_(points),
      ledger_(ledger),
      store_(store),
      clock_(clock) {}

void LogVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "StudyService.GetTrialLog", CallerRole::kViewer, this,
             &LogVerb::GetTrialLog);
}

absl::StatusOr<LogVerb::Parked> LogVerb::Find(
    const v1::GetTrialLogRequest& request, StoredRows& rows) const {
  ASSIGN_OR_RETURN(const NamedTrial named,
                   ledger_.FindTrial(request.name(), rows));
  const storage::TrialRow& row = named.trial.row;
  if (request.attempt() > row.attempt) {
    return MakeError(ErrorId::kTrialNotFound,
                     absl::StrCat(request.name(), " has had ", row.attempt,
                                  " attempts so far"),
                     "ask for one of them, or for 0, the newest", "attempt");
  }
  Parked parked;
  parked.trial = {row.study, row.number};
  parked.attempt = request.attempt() == 0 ? row.attempt : request.attempt();
  const bool runs =
      row.state == TrialState::kRunning && parked.attempt == row.attempt;
  parked.deadline =
      clock_.Steady() +
      (runs ? proto::DurationFromProto(request.wait()) : Duration::zero());
  return parked;
}

void LogVerb::GetTrialLog(CallContext caller, v1::GetTrialLogRequest request,
                          Reply<v1::GetTrialLogReply> reply) {
  const std::int64_t most = request.max_bytes() == 0
                                ? static_cast<std::int64_t>(kMaxLogTailBytes)
                                : std::int64_t{request.max_bytes()};
  Reply<v1::GetTrialLogReply> cut =
      [most, reply = std::move(reply)](
          absl::StatusOr<v1::GetTrialLogReply> log) mutable {
        if (log.ok()) log->set_tail(LastBytes(log->tail(), most));
        reply(std::move(log));
      };
  calls_.Wait(
      std::move(caller), std::move(cut),
      [this, request = std::move(request)](
          Change& change, Reply<v1::GetTrialLogReply>& to) -> absl::Status {
        change.AssertOnLoop();
        ASSIGN_OR_RETURN(Parked parked, Find(request, change.rows));
        parked.reply = std::exchange(to, nullptr);
        if (parked.deadline <= clock_.Steady()) {
          AnswerStored(std::move(parked));
        } else {
          waiting_.Enter(std::move(parked));
        }
        return absl::OkStatus();
      });
}

void LogVerb::AnswerStored(Parked parked) {
  auto shared = std::make_shared<Parked>(std::move(parked));
  points_.Post([this, shared] {
    auto log = store_.FindLog(shared->trial.study, shared->trial.number,
                              shared->attempt);
    if (!log.ok()) return shared->reply(log.status());
    std::string tail = log->has_value() ? std::move((*log)->tail) : "";
    shared->reply(LogReply(shared->attempt, std::move(tail), false));
  });
}

void LogVerb::Take(Batch& batch, TrialKey trial,
                   const v1::LeaseProgress& progress) {
  const std::int64_t attempt = progress.lease().attempt();
  for (Parked& parked : waiting_.Take(trial, [attempt](const Parked& waiting) {
         return waiting.attempt == attempt;
       })) {
    batch.Then([reply = std::move(parked.reply),
                log = LogReply(attempt, progress.log_tail(), true)](
                   const absl::Status&) mutable { reply(std::move(log)); });
  }
}

void LogVerb::Turn(bool all) {
  for (Parked& parked :
       all ? waiting_.TakeAll() : waiting_.TakeDue(clock_.Steady())) {
    AnswerStored(std::move(parked));
  }
}

}  // namespace frostline::server
