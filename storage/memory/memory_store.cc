// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/backend.h"
#include "storage/memory/memory_transaction.h"

namespace frostline::storage {

absl::StatusOr<Epoch> MemoryStore::TakeLead() {
  writer_.Take();
  Epoch taken = 0;
  {
    const MutexLock lock(&mutex_);
    taken = ++epoch_;
  }
  writer_.Give();
  return taken;
}

absl::StatusOr<Epoch> MemoryStore::FindLead() const {
  const MutexLock lock(&mutex_);
  return epoch_;
}

absl::StatusOr<std::unique_ptr<Transaction>> MemoryStore::Begin(Epoch epoch) {
  writer_.Take();
  const Epoch stored = epoch_;
  if (epoch == stored && epoch > 0) {
    return std::make_unique<MemoryTransaction>(*this);
  }
  writer_.Give();
  return NotLeader(stored, epoch);
}

DiskRoom MemoryStore::RoomLeft() const {
  return DiskRoom{.room = Room::kAmple,
                  .free_bytes = std::numeric_limits<std::int64_t>::max()};
}

absl::StatusOr<BackupReport> MemoryStore::Backup(const std::string&) const {
  return MakeError(ErrorId::kMethodNotBuilt,
                   "this coordinator keeps nothing that could be backed up",
                   "start it with a data folder instead of --ephemeral");
}

void MemoryStore::Index(const TrialRow& row) {
  const TrialPointer& pointer = stored_.trials.at({row.study, row.number});
  by_revision_[{row.study, row.revision, row.number}] = pointer;
  by_state_[{row.study, row.state, row.number}] = pointer;
}

void MemoryStore::Unindex(const TrialRow& row) {
  by_revision_.erase({row.study, row.revision, row.number});
  by_state_.erase({row.study, row.state, row.number});
}

void MemoryStore::IndexGrants(const Tables& changes) {
  for (const auto& [key, row] : changes.attempts) {
    const auto old = stored_.attempts.find(key);
    if (old != stored_.attempts.end()) {
      const auto granted = granted_.find(old->second->request_id);
      if (granted != granted_.end()) granted->second.erase(key);
      if (granted != granted_.end() && granted->second.empty()) {
        granted_.erase(granted);
      }
    }
    const bool is_granted = row != nullptr && !row->request_id.empty();
    if (is_granted) granted_[row->request_id].insert(key);
  }
}

std::vector<WallMicros> MemoryStore::NoteStart(WallMicros now) {
  const MutexLock lock(&mutex_);
  std::vector<WallMicros> before = starts_;
  starts_.push_back(now);
  return before;
}

void MemoryStore::Apply(Tables&& changes, StudyKey next_key) {
  const MutexLock lock(&mutex_);
  next_key_ = next_key;
  for (const auto& [key, row] : changes.studies) {
    const auto old = stored_.studies.find(key);
    if (old != stored_.studies.end()) {
      const auto live = live_ids_.find(old->second->id);
      if (live != live_ids_.end() && live->second == std::get<0>(key)) {
        live_ids_.erase(live);
      }
    }
  }
  for (const auto& [key, row] : changes.studies) {
    if (row != nullptr && row->state != StudyState::kDeleted) {
      live_ids_[row->id] = row->key;
    }
  }
  std::vector<OfTrial> trials;
  for (const auto& [key, row] : changes.trials) {
    const auto old = stored_.trials.find(key);
    if (old != stored_.trials.end()) Unindex(*old->second);
    if (row != nullptr) trials.push_back(key);
  }
  IndexGrants(changes);
  ForEachTable([this, &changes](auto table) {
    for (auto& [key, row] : changes.*table) {
      if (row == nullptr) {
        (stored_.*table).erase(key);
      } else {
        (stored_.*table)[key] = std::move(row);
      }
    }
  });
  for (const OfTrial& key : trials) Index(*stored_.trials.at(key));
}

// The reading half of MemoryStore.

namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

template <typename Row>
std::vector<Row> CopyRows(
    const std::vector<std::shared_ptr<const Row>>& pointers) {
  std::vector<Row> rows;
  rows.reserve(pointers.size());
  for (const auto& pointer : pointers) rows.push_back(*pointer);
  return rows;
}

bool IsFull(std::size_t size, int limit) {
  return size >= static_cast<std::size_t>(std::max(limit, 0));
}

bool Wants(const TrialQuery& query, TrialState state) {
  return query.states.empty() ||
         std::find(query.states.begin(), query.states.end(), state) !=
             query.states.end();
}

}  // namespace

absl::StatusOr<StudyRow> MemoryStore::FindStudy(const std::string& id) const {
  const MutexLock lock(&mutex_);
  const auto live = live_ids_.find(id);
  if (live == live_ids_.end()) return StudyNotFound(id);
  return *stored_.studies.at({live->second});
}

absl::StatusOr<std::vector<StudyRow>> MemoryStore::ListStudies(
    const StudyQuery& query) const {
  const MutexLock lock(&mutex_);
  std::vector<StudyRow> rows;
  for (auto it = stored_.studies.upper_bound({query.after});
       it != stored_.studies.end() && !IsFull(rows.size(), query.limit); ++it) {
    const bool deleted = it->second->state == StudyState::kDeleted;
    if (!deleted || query.with_deleted) rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<TrialRow> MemoryStore::FindTrial(StudyKey study,
                                                std::int64_t number) const {
  const MutexLock lock(&mutex_);
  const auto found = stored_.trials.find({study, number});
  if (found == stored_.trials.end()) return TrialNotFound(number);
  return *found->second;
}

std::vector<MemoryStore::TrialPointer> MemoryStore::ByNumber(
    const TrialQuery& query) const {
  std::vector<TrialPointer> rows;
  for (auto it = stored_.trials.upper_bound({query.study, query.after});
       it != stored_.trials.end() && it->second->study == query.study &&
       !IsFull(rows.size(), query.limit);
       ++it) {
    rows.push_back(it->second);
  }
  return rows;
}

// A page's worth of each state, then the first page of them all.
std::vector<MemoryStore::TrialPointer> MemoryStore::ByState(
    const TrialQuery& query) const {
  std::map<std::int64_t, TrialPointer> rows;
  for (const TrialState state : query.states) {
    std::size_t taken = 0;
    for (auto it = by_state_.upper_bound({query.study, state, query.after});
         it != by_state_.end() && it->second->study == query.study &&
         it->second->state == state && !IsFull(taken, query.limit);
         ++it, ++taken) {
      rows[it->second->number] = it->second;
    }
  }
  std::vector<TrialPointer> page;
  for (const auto& [number, row] : rows) {
    if (IsFull(page.size(), query.limit)) break;
    page.push_back(row);
  }
  return page;
}

std::vector<MemoryStore::TrialPointer> MemoryStore::ByRevision(
    const TrialQuery& query) const {
  std::vector<TrialPointer> rows;
  for (auto it = by_revision_.upper_bound({query.study, query.after, kLast});
       it != by_revision_.end() && it->second->study == query.study &&
       !IsFull(rows.size(), query.limit);
       ++it) {
    if (Wants(query, it->second->state)) rows.push_back(it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<TrialRow>> MemoryStore::ListTrials(
    const TrialQuery& query) const {
  std::vector<TrialPointer> rows;
  {
    const MutexLock lock(&mutex_);
    rows = query.order == TrialQuery::Order::kRevision ? ByRevision(query)
           : query.states.empty()                      ? ByNumber(query)
                                                       : ByState(query);
  }
  return CopyRows(rows);
}

absl::StatusOr<std::vector<AttemptRow>> MemoryStore::ListAttempts(
    StudyKey study, std::int64_t number) const {
  const MutexLock lock(&mutex_);
  std::vector<AttemptRow> rows;
  for (auto it = stored_.attempts.lower_bound({study, number, kFirst});
       it != stored_.attempts.end() && it->second->study == study &&
       it->second->number == number;
       ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<AttemptRow>> MemoryStore::ListGranted(
    const std::string& request_id) const {
  const MutexLock lock(&mutex_);
  std::vector<AttemptRow> rows;
  const auto granted = granted_.find(request_id);
  if (granted == granted_.end()) return rows;
  for (const OfAttempt& key : granted->second) {
    rows.push_back(*stored_.attempts.at(key));
  }
  return rows;
}

absl::StatusOr<std::vector<SummaryRow>> MemoryStore::ListSummaries(
    StudyKey after, int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<SummaryRow> rows;
  for (auto it = stored_.summaries.upper_bound({after});
       it != stored_.summaries.end() && !IsFull(rows.size(), limit); ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<BestRow>> MemoryStore::ListBest(StudyKey study,
                                                           std::int64_t after,
                                                           int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<BestRow> rows;
  for (auto it = stored_.best.upper_bound({study, after});
       it != stored_.best.end() && it->second->study == study &&
       !IsFull(rows.size(), limit);
       ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<Measurement>> MemoryStore::ListMeasurements(
    const MeasurementQuery& query) const {
  std::vector<std::shared_ptr<const Measurement>> rows;
  {
    const MutexLock lock(&mutex_);
    const auto end = stored_.measurements.upper_bound(
        {query.study, query.number, query.attempt, kLast});
    for (auto it = stored_.measurements.upper_bound(
             {query.study, query.number, query.attempt, query.after_step});
         it != end && !IsFull(rows.size(), query.limit); ++it) {
      rows.push_back(it->second);
    }
  }
  return CopyRows(rows);
}

absl::StatusOr<std::optional<OutcomeRow>> MemoryStore::FindOutcome(
    StudyKey study, std::int64_t number) const {
  const MutexLock lock(&mutex_);
  const auto found = stored_.outcomes.find({study, number});
  if (found == stored_.outcomes.end()) return std::optional<OutcomeRow>();
  return std::optional<OutcomeRow>(*found->second);
}

absl::StatusOr<std::optional<LogRow>> MemoryStore::FindLog(
    StudyKey study, std::int64_t number, std::int64_t attempt) const {
  const MutexLock lock(&mutex_);
  const auto found = stored_.logs.find({study, number, attempt});
  if (found == stored_.logs.end()) return std::optional<LogRow>();
  return std::optional<LogRow>(*found->second);
}

absl::StatusOr<std::vector<WorkerRow>> MemoryStore::ListWorkers(
    const std::string& after, int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<WorkerRow> rows;
  for (auto it = stored_.workers.upper_bound(after);
       it != stored_.workers.end() && !IsFull(rows.size(), limit); ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<TokenRow>> MemoryStore::ListTokens(
    const std::string& after, int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<TokenRow> rows;
  for (auto it = stored_.tokens.upper_bound(after);
       it != stored_.tokens.end() && !IsFull(rows.size(), limit); ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<CertificateRow>> MemoryStore::ListCertificates(
    const std::string& after, int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<CertificateRow> rows;
  for (auto it = stored_.certificates.upper_bound(after);
       it != stored_.certificates.end() && !IsFull(rows.size(), limit); ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<AuditRow>> MemoryStore::ListAudit(std::int64_t after,
                                                             int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<AuditRow> rows;
  for (auto it = stored_.audit.upper_bound(after);
       it != stored_.audit.end() && !IsFull(rows.size(), limit); ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<NotificationRow>> MemoryStore::ListNotifications(
    const std::string& after, int limit) const {
  const MutexLock lock(&mutex_);
  std::vector<NotificationRow> rows;
  for (auto it = stored_.notifications.upper_bound(after);
       it != stored_.notifications.end() && !IsFull(rows.size(), limit); ++it) {
    rows.push_back(*it->second);
  }
  return rows;
}

absl::StatusOr<std::optional<ReplyRow>> MemoryStore::FindReply(
    const std::string& request_id) const {
  const MutexLock lock(&mutex_);
  const auto found = stored_.replies.find(request_id);
  if (found == stored_.replies.end()) return std::optional<ReplyRow>();
  return std::optional<ReplyRow>(*found->second);
}

}  // namespace frostline::storage
