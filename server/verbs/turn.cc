// SPDX-License-Identifier: Apache-2.0
//
// What happens without a caller: leases that end, calls whose time is over, and
// what is swept away. Who waits is served in serve.cc.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/coordinator_impl.h"
#include "server/wire/convert.h"
#include "storage/scan.h"

namespace frostline {
namespace {

// A turn comes every 50 ms; after a longer gap no worker is to blame.
constexpr Duration kStall = std::chrono::seconds(2);
constexpr Duration kRoomEvery = std::chrono::seconds(1);
constexpr WallMicros kHour = 3600LL * 1'000'000;
constexpr WallMicros kReplyLifetime = 25 * kHour;  // one day is promised

}  // namespace

void Coordinator::Impl::Turn(Batch& batch) {
  LookAtRoom();
  EndDueLeases(batch);
  CompleteTimedOut(batch);
  ServeWaiting(batch);
  if (std::exchange(some_study_ended_, false)) TurnAwayFromEnded(batch);
  AnswerDue(batch);
  Sweep(batch);
}

void Coordinator::Impl::LookAtRoom() {
  const SteadyTime now = clock_.Steady();
  if (now - room_looked_at_ < kRoomEvery) return;
  room_looked_at_ = now;
  const Room before = room_.room;
  room_ = store_.RoomLeft();
  if (room_.room == before) return;
  Log(room_.room == Room::kAmple ? LogLevel::kInfo : LogLevel::kWarning,
      "disk_room", {{"free_mib", absl::StrCat(room_.free_bytes >> 20)}});
}

// What nobody needs any more: old replies, and studies deleted a week ago.
void Coordinator::Impl::Sweep(Batch& batch) {
  const WallMicros now = clock_.Wall();
  if (now - swept_ < kHour) return;
  swept_ = now;
  const absl::Status swept =
      batch.Write([&](Transaction& transaction) -> absl::Status {
        RETURN_IF_ERROR(ForEachStudy(
            store_, {.with_deleted = true}, [&](const StudyRow& row) {
              const bool over =
                  row.state == StudyState::kDeleted && row.expires <= now;
              return over ? transaction.PurgeStudy(row.key) : absl::OkStatus();
            }));
        return transaction.ForgetRepliesBefore(now - kReplyLifetime);
      });
  if (!swept.ok()) {
    Log(LogLevel::kWarning, "sweep_failed",
        {{"error", std::string(swept.message())}});
  }
}

std::optional<SteadyTime> Coordinator::Impl::NextDue() const {
  std::optional<SteadyTime> next = leases_.NextDue();
  for (const auto& due :
       {parked_.NextDue(), watching_.NextDue(), log_waiters_.NextDue()}) {
    if (due.has_value()) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

// A budget of time may end while nothing is running.
void Coordinator::Impl::CompleteTimedOut(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  if (now - timed_out_checked_ < std::chrono::seconds(1)) return;
  timed_out_checked_ = now;
  for (auto& [key, book] : studies_) {
    if (book.IsLeasing()) CompleteIfDone(batch, book);
  }
}

void Coordinator::Impl::EndDueLeases(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  const bool first = last_turn_ == SteadyTime{};
  const Duration stalled = now - std::exchange(last_turn_, now);
  if (stalled > kStall && !first) {
    // This process slept or hung: heartbeats could not be heard meanwhile.
    Log(LogLevel::kWarning, "stalled",
        {{"seconds",
          absl::StrCat(std::chrono::duration<double>(stalled).count())}});
    leases_.PostponeAll(stalled);
  }
  for (const TrialKey& due : leases_.Due(now)) {
    StudyBook& book = studies_.at(due.study);
    const OpenTrial trial = *book.Find(due.number);
    const std::string cause = absl::StrCat(
        "no heartbeat from ", WorkerNameOf(trial.row.worker), " for ",
        std::chrono::duration_cast<std::chrono::seconds>(
            book.checked().lease.ttl)
            .count(),
        " s");
    Log(LogLevel::kWarning, "lease_lost",
        {{"trial", TrialNameOf(book.row().id, due.number)},
         {"attempt", absl::StrCat(trial.row.attempt)},
         {"worker", trial.row.worker}});
    const absl::Status lost =
        Persist(batch, book,
                Lose(trial, cause, book.checked().lease.retry, clock_.Wall()),
                NothingMore);
    // The store refused: the group is undone and the lease judged again after.
    if (!lost.ok()) return;
    FROSTLINE_FAILPOINT(kLossWritten);
  }
}

void Coordinator::Impl::AnswerDue(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  for (ParkedAcquire& parked :
       draining_ ? parked_.TakeAll() : parked_.TakeDue(now)) {
    AnswerNone(batch, parked);
  }
  for (ParkedLog& log :
       draining_ ? log_waiters_.TakeAll() : log_waiters_.TakeDue(now)) {
    AnswerStoredLog(std::move(log));
  }
  for (ParkedWatch& watch :
       draining_ ? watching_.TakeAll() : watching_.TakeDue(now)) {
    batch.Then([reply = std::move(watch.reply),
                draining = draining_](const absl::Status& committed) mutable {
      if (!committed.ok()) return reply(committed);
      if (draining) return reply(DrainingError());
      reply(std::vector<v1::StudyEvent>());
    });
  }
}

void Coordinator::Impl::AnswerNone(Batch& batch, ParkedAcquire& parked) {
  batch.Then([none = NothingFor(parked), reply = std::move(parked.reply)](
                 const absl::Status& committed) mutable {
    committed.ok() ? reply(std::move(none)) : reply(committed);
  });
}

// Who waits for one study that has ended waits for nothing.
void Coordinator::Impl::TurnAwayFromEnded(Batch& batch) {
  parked_.Offer([&](ParkedAcquire& parked) {
    if (!WaitsForNothing(parked.request)) return Offered::kStays;
    AnswerNone(batch, parked);
    return Offered::kLeaves;
  });
}

}  // namespace frostline
