// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/worker_book.h"

#include "base/error.h"
#include "base/ids.h"

namespace frostline::server {

WorkerEntry& WorkerBook::Absorb(const storage::WorkerRow& row) {
  WorkerEntry& entry = workers_[row.id];
  // An earlier life's says nothing of this one.
  if (entry.row.boot_id != row.boot_id) entry.load = nullptr;
  entry.row = row;
  entry.info.ParseFromString(row.info);
  entry.stock = StockOf(entry.info);
  return entry;
}

WorkerEntry* WorkerBook::Find(const std::string& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

absl::StatusOr<WorkerEntry*> WorkerBook::Require(const std::string& name,
                                                 const std::string& boot_id) {
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(name));
  WorkerEntry* const entry = Find(id);
  if (entry == nullptr || entry->row.boot_id != boot_id) {
    return MakeError(ErrorId::kWorkerUnknown,
                     entry == nullptr
                         ? name + " is not registered"
                         : name + " is registered with another boot id",
                     "register the worker, then go on", "worker");
  }
  return entry;
}

void WorkerBook::Hold(const std::string& id, TrialKey trial) {
  if (WorkerEntry* const entry = Find(id)) entry->holds.insert(trial);
}

void WorkerBook::Release(const std::string& id, TrialKey trial) {
  if (WorkerEntry* const entry = Find(id)) entry->holds.erase(trial);
}

bool IsGone(const WorkerEntry& entry, WallMicros now, Duration lease_ttl) {
  constexpr int kLeases = 3;
  const auto ttl =
      std::chrono::duration_cast<std::chrono::microseconds>(lease_ttl);
  return entry.holds.empty() &&
         now - entry.row.last_seen > kLeases * ttl.count();
}

bool CarriesLabels(
    const v1::Worker& worker,
    const google::protobuf::Map<std::string, std::string>& required) {
  for (const auto& [key, value] : required) {
    const auto found = worker.labels().find(key);
    if (found == worker.labels().end() || found->second != value) return false;
  }
  return true;
}

}  // namespace frostline::server
