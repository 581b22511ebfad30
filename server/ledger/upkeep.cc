// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/upkeep.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

// A turn comes every 50 ms; after a longer gap no worker is to blame.
constexpr Duration kStall = std::chrono::seconds(2);
// A thousand leases may end at once. This many take some milliseconds; the rest
// are due in the next turn, and calls come between.
constexpr int kLeasesATurn = 50;
constexpr Duration kDiskEvery = std::chrono::seconds(1);
constexpr Duration kTimeEvery = std::chrono::seconds(1);
constexpr WallMicros kMinute = 60LL * 1'000'000;
constexpr WallMicros kHour = 60 * kMinute;
constexpr WallMicros kReplyLifetime = 25 * kHour;  // one day is promised
constexpr WallMicros kDay = 24 * kHour;
constexpr int kWorkersAtOnce = 100;
// How many rows of a study, or old replies, are deleted at a time: a few
// milliseconds of the loop, some tenths of its time at most.
constexpr std::int64_t kRowsASlice = 500;
constexpr Duration kSliceEvery = std::chrono::milliseconds(50);

// Says whether a worker may be forgotten: if it comes back, it registers anew.
// One that was taken out of service stays so for a month.
bool IsForgotten(const WorkerEntry& worker, WallMicros now) {
  const bool is_free = worker.row.state == storage::WorkerState::kActive ||
                       worker.row.state == storage::WorkerState::kGone;
  return worker.holds.empty() &&
         now - worker.row.last_seen > (is_free ? kDay : 30 * kDay);
}

void LogSweepFailed(const absl::Status& status) {
  if (status.ok()) return;
  Log(LogLevel::kWarning, "sweep_failed",
      {{"error", std::string(status.message())}});
}

}  // namespace

Upkeep::Upkeep(Ledger& ledger, CommitLoop& loop, TaskPool& readers,
               const storage::TrialStore& store, const Clock& clock)
    : ledger_(ledger),
      loop_(loop),
      readers_(readers),
      store_(store),
      clock_(clock) {}

void Upkeep::Turn(Batch& batch) {
  LookAtDisk();
  EndDueLeases(batch);
  LookAtTime(batch);
  Sweep();
  SweepSlice(batch);
  ForgetWorkers(batch);
}

void Upkeep::LookAtDisk() {
  const SteadyTime now = clock_.Steady();
  if (now - disk_looked_at_ < kDiskEvery) return;
  disk_looked_at_ = now;
  const storage::Room before = std::exchange(disk_, store_.RoomLeft()).room;
  if (disk_.room == before) return;
  Log(disk_.room == storage::Room::kAmple ? LogLevel::kInfo
                                          : LogLevel::kWarning,
      "disk_room", {{"free_mib", absl::StrCat(disk_.free_bytes >> 20)}});
}

void Upkeep::EndDueLeases(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  const bool first = last_turn_ == SteadyTime{};
  const Duration stalled = now - std::exchange(last_turn_, now);
  if (stalled > kStall && !first) {
    // This process slept or hung, so it could not hear heartbeats meanwhile.
    Log(LogLevel::kWarning, "stalled",
        {{"seconds",
          absl::StrCat(std::chrono::duration<double>(stalled).count())}});
    ledger_.running().PostponeLeases(stalled);
  }
  // Leases that are due now stay due until the store takes writes again.
  if (!batch.MayWrite()) return;
  int ended = 0;
  for (const TrialKey& due : ledger_.running().leases().Due(now)) {
    if (ended++ == kLeasesATurn) return;
    StudyBook& book = *ledger_.Find(due.study);
    const OpenTrial trial = *book.Find(due.number);
    const LeaseRules& rules = book.checked().lease;
    const std::string cause = absl::StrCat(
        "no heartbeat from ", WorkerNameOf(trial.row.worker), " for ",
        std::chrono::duration_cast<std::chrono::seconds>(rules.ttl).count(),
        " s");
    Log(LogLevel::kWarning, "lease_lost",
        {{"trial", TrialNameOf(book.row().id, due.number)},
         {"attempt", absl::StrCat(trial.row.attempt)},
         {"worker", trial.row.worker}});
    const absl::Status lost = ledger_.Apply(
        batch, book, Lose(trial, cause, rules.retry, clock_.Wall()));
    // The store refused: the group is undone, and the lease is looked at again
    // later.
    if (!lost.ok()) return;
    ledger_.NoteExpired();
    FROSTLINE_FAILPOINT(kLossWritten);
  }
}

// Ends studies whose time is over, which may happen while nothing runs.
void Upkeep::LookAtTime(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  if (now - time_looked_at_ < kTimeEvery || !batch.MayWrite()) return;
  time_looked_at_ = now;
  ledger_.WriteDownHeard(batch);
  for (auto& [key, book] : ledger_.studies()) {
    if (book.IsLeasing()) ledger_.CompleteIfDone(batch, book);
  }
}

// Looks for what nobody needs any more: old replies, and studies deleted a week
// ago.
void Upkeep::Sweep() {
  const WallMicros now = clock_.Wall();
  if (swept_ == 0) {
    started_ = now;
    swept_ = now - kHour + kMinute;  // not while all come back
  }
  if (now - swept_ < kHour) return;
  swept_ = now;
  // What was stored of a worker may be old, so each gets an hour to be heard.
  if (now - started_ >= kHour) looked_at_ = "";
  readers_.Post([this, now] {
    std::vector<storage::StudyKey> over;
    const absl::Status found = storage::ForEachStudy(
        store_, {.with_deleted = true},
        [&over, now](const storage::StudyRow& row) {
          if (row.state == storage::StudyState::kDeleted &&
              row.expires <= now) {
            over.push_back(row.key);
          }
          return absl::OkStatus();
        });
    if (!found.ok()) return LogSweepFailed(found);
    (void)loop_.Post([this, now, over = std::move(over)](Batch& batch) mutable {
      batch.AssertOnLoop();
      leftovers_ = {std::move(over), now - kReplyLifetime};
    });
  });
}

// Deletes one slice. The rest is left to the next slice, or to the next sweep
// if this coordinator ends before.
void Upkeep::SweepSlice(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  if (!leftovers_.has_value() || !batch.MayWrite()) return;
  if (now - sliced_ < kSliceEvery) return;
  sliced_ = now;
  std::vector<storage::StudyKey>& studies = leftovers_->studies;
  const WallMicros before = leftovers_->replies_before;
  bool some_left = false;
  const absl::Status swept =
      batch.Write([&](storage::Transaction& transaction) -> absl::Status {
        ASSIGN_OR_RETURN(
            some_left,
            studies.empty()
                ? transaction.ForgetRepliesBefore(before, kRowsASlice)
                : transaction.PurgeStudy(studies.back(), kRowsASlice));
        return absl::OkStatus();
      });
  if (!swept.ok()) {
    LogSweepFailed(swept);
    // A full disk needs a sweep most, so the next try comes soon.
    swept_ = clock_.Wall() - kHour + kMinute;
    leftovers_.reset();
  } else if (some_left) {
    return;
  } else if (studies.empty()) {
    leftovers_.reset();
  } else {
    studies.pop_back();
  }
}

void Upkeep::ForgetWorkers(Batch& batch) {
  if (!looked_at_.has_value()) return;
  const WallMicros now = clock_.Wall();
  std::vector<std::string> forgotten;
  const auto& workers = ledger_.workers().all();
  auto worker = workers.upper_bound(*looked_at_);
  for (int i = 0; i < kWorkersAtOnce && worker != workers.end(); ++i) {
    if (IsForgotten(worker->second, now)) forgotten.push_back(worker->first);
    looked_at_ = worker->first;
    ++worker;
  }
  if (worker == workers.end()) looked_at_.reset();
  for (const std::string& id : forgotten) {
    if (!ledger_.ForgetWorker(batch, id).ok()) return;
  }
}

}  // namespace frostline::server
