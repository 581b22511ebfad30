// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_log.h"

#include <chrono>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/log.h"
#include "base/plain/audit_chain.h"
#include "server/audit/audit_entry.h"

namespace frostline::server {
namespace {

using storage::AuditRow;

constexpr Duration kMoved = std::chrono::seconds(1);
constexpr Duration kMovedAfterFailure = std::chrono::seconds(10);
constexpr int kRefusedInSecond = 16;
constexpr int kRowsAtOnce = 1'000;
constexpr std::size_t kMostNoted = 10'000;
constexpr std::int64_t kMostWithoutFiles = 100'000;

std::vector<v1::AuditEntry> EntriesOf(const AuditRow& row) {
  std::vector<v1::AuditEntry> entries;
  for (const auto line : absl::StrSplit(row.lines, '\n', absl::SkipEmpty())) {
    auto entry = ReadEntry(std::string_view(line.data(), line.size()));
    if (entry.has_value()) entries.push_back(*std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::vector<AuditRow>> RowsAfter(
    const storage::TrialStore& store, std::int64_t after) {
  std::vector<AuditRow> rows;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<AuditRow> page,
                     store.ListAudit(after, kRowsAtOnce));
    if (page.empty()) return rows;
    after = page.back().first;
    std::move(page.begin(), page.end(), std::back_inserter(rows));
  }
}

}  // namespace

AuditLog::AuditLog(std::string folder, CommitLoop& loop, TaskPool& readers,
                   const storage::TrialStore& store, const Clock& clock)
    : loop_(loop),
      readers_(readers),
      store_(store),
      clock_(clock),
      has_files_(!folder.empty()),
      files_(std::move(folder)) {}

absl::Status AuditLog::Load() {
  noted_.clear();
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows, RowsAfter(store_, 0));
  stored_ = {0, FirstChain()};
  const auto take_up = [this](const v1::AuditEntry& last) FROSTLINE_ON_LOOP {
    if (last.sequence() > stored_.sequence) {
      stored_ = {last.sequence(), ChainOf(last)};
    }
  };
  if (!rows.empty()) {
    const std::vector<v1::AuditEntry> last = EntriesOf(rows.back());
    if (!last.empty()) take_up(last.back());
  }
  if (has_files_) {
    const MutexLock lock(&files_mutex_);
    ASSIGN_OR_RETURN(const v1::AuditEntry last, files_.Last());
    take_up(last);
    RETURN_IF_ERROR(CheckEnd(last));
  }
  written_ = stored_;
  return absl::OkStatus();
}

void AuditLog::Note(const CallContext& caller, const absl::Status& outcome) {
  if (noted_.size() >= kMostNoted) return;  // the store takes no writes
  noted_.push_back(EntryOf(caller, outcome, clock_.Wall()));
}

void AuditLog::NoteRefused(const CallContext& caller, const absl::Status& why) {
  bool is_first = false;
  {
    const MutexLock lock(&refused_mutex_);
    const SteadyTime now = clock_.Steady();
    if (now - refused_since_ >= std::chrono::seconds(1)) {
      refused_since_ = now;
      refused_in_second_ = 0;
    }
    if (++refused_in_second_ > kRefusedInSecond) return;
    is_first = refused_.empty();
    refused_.push_back(EntryOf(caller, why, clock_.Wall()));
  }
  // The turn takes it up.
  if (is_first) (void)loop_.Post([](Batch&) {}, Urgency::kRead);
}

void AuditLog::TakeRefused() {
  const MutexLock lock(&refused_mutex_);
  for (v1::AuditEntry& entry : refused_) noted_.push_back(std::move(entry));
  refused_.clear();
}

void AuditLog::Write(Batch& batch) {
  TakeRefused();
  if (noted_.empty() || !batch.MayWrite()) return;
  AuditRow row;
  row.first = written_.sequence + 1;
  End end = written_;
  for (v1::AuditEntry& entry : noted_) {
    entry.set_sequence(++end.sequence);
    const std::string text = TextOf(entry);
    end.chain = NextChain(end.chain, text);
    row.lines += ChainedLine(text, end.chain) + "\n";
  }
  row.last = end.sequence;
  const absl::Status put =
      batch.Write([&row](storage::Transaction& transaction) {
        return transaction.PutAudit(row);
      });
  if (put.ok()) written_ = end;
  noted_.clear();  // the group's failure is theirs, too
}

void AuditLog::Committed() { stored_ = written_; }

void AuditLog::Undo() {
  noted_.clear();
  written_ = stored_;
}

void AuditLog::Turn(Batch& batch) {
  Write(batch);
  const std::optional<SteadyTime> due = NextDue();
  if (!due.has_value() || clock_.Steady() < *due) return;
  is_moving_ = true;
  const bool posted = readers_.TryPost([this] {
    const auto moved = Move();
    (void)loop_.Post(
        [this, moved](Batch& later) {
          later.AssertOnLoop();
          TakeMoved(later, moved);
        },
        Urgency::kRead);
  });
  if (!posted) is_moving_ = false;
}

std::optional<SteadyTime> AuditLog::NextDue() const {
  if (is_moving_ || stored_.sequence == moved_) return std::nullopt;
  return next_move_;
}

absl::StatusOr<AuditLog::Moved> AuditLog::Move() {
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows, RowsAfter(store_, 0));
  if (rows.empty()) return Moved{};
  Moved moved{.sequence = rows.back().last, .forget_before = 0};
  if (!has_files_) {
    moved.forget_before = moved.sequence - kMostWithoutFiles;
    return moved;
  }
  const MutexLock lock(&files_mutex_);
  RETURN_IF_ERROR(files_.Append(rows));
  moved.forget_before = rows.back().first;
  return moved;
}

void AuditLog::TakeMoved(Batch& batch, const absl::StatusOr<Moved>& moved) {
  is_moving_ = false;
  next_move_ = clock_.Steady() + (moved.ok() ? kMoved : kMovedAfterFailure);
  if (!moved.ok()) {
    Log(LogLevel::kWarning, "audit_not_moved",
        {{"why", std::string(moved.status().message())}});
    return;
  }
  moved_ = moved->sequence;
  const bool is_new = has_files_ && moved_ > marked_;
  if ((moved->forget_before <= 1 && !is_new) || !batch.MayWrite()) return;
  // Where it fails, they are forgotten with the next ones.
  const absl::Status written =
      batch.Write([&moved, this](storage::Transaction& transaction) {
        RETURN_IF_ERROR(transaction.ForgetAuditBefore(moved->forget_before));
        if (!has_files_) return absl::OkStatus();
        return transaction.PutAudit({.first = storage::kAuditMoved,
                                     .last = moved->sequence,
                                     .lines = ""});
      });
  if (written.ok()) marked_ = moved_;
}

absl::Status AuditLog::CheckEnd(const v1::AuditEntry& last) {
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows,
                   store_.ListAudit(storage::kAuditMoved - 1, 1));
  if (rows.empty() || rows.front().first != storage::kAuditMoved) {
    return absl::OkStatus();
  }
  marked_ = rows.front().last;
  if (last.sequence() >= marked_) return absl::OkStatus();
  Log(LogLevel::kError, "audit_cut",
      {{"last_in_files", std::to_string(last.sequence())},
       {"last_written", std::to_string(marked_)},
       {"fix", "frostline audit verify"}});
  return absl::OkStatus();
}

absl::Status AuditLog::ReadBack(
    absl::FunctionRef<bool(const v1::AuditEntry&)> take) const {
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows, RowsAfter(store_, 0));
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    // What is between was written after the backup that is the store now, and
    // is in the files.
    if (row != rows.rbegin() && row->last + 1 != below && has_files_) break;
    const std::vector<v1::AuditEntry> entries = EntriesOf(*row);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      below = entry->sequence();
      if (!take(*entry)) return absl::OkStatus();
    }
  }
  if (!has_files_) return absl::OkStatus();
  const MutexLock lock(&files_mutex_);
  return files_.ReadBack([&](const v1::AuditEntry& entry) {
    return entry.sequence() >= below || take(entry);
  });
}

}  // namespace frostline::server
