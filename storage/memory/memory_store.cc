// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.h"

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

}  // namespace frostline::storage
