// SPDX-License-Identifier: Apache-2.0
//
// File: worker_book.h
#ifndef FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_
#define FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/worker.pb.h"
#include "server/ledger/known_load.h"
#include "server/ledger/known_stock.h"
#include "server/ledger/lease_book.h"
#include "storage/rows.h"

namespace frostline::server {

struct WorkerEntry {
  storage::WorkerRow row;
  v1::Worker info;  // as registered
  StockPtr stock = {};
  LoadPtr load = {};
  std::set<TrialKey> holds;
};

// It is not thread-safe.
class WorkerBook {
 public:
  WorkerEntry& Absorb(const storage::WorkerRow& row);
  WorkerEntry* Find(const std::string& id);
  // Answers WORKER_UNKNOWN unless the worker is registered with this boot id.
  absl::StatusOr<WorkerEntry*> Require(const std::string& name,
                                       const std::string& boot_id);

  void Hold(const std::string& id, TrialKey trial);
  void Release(const std::string& id, TrialKey trial);

  const std::map<std::string, WorkerEntry>& all() const { return workers_; }
  void Forget(const std::string& id) { workers_.erase(id); }
  void Clear() { workers_.clear(); }

 private:
  std::map<std::string, WorkerEntry> workers_;
};

// Says whether it holds nothing and has been silent for three leases.
bool IsGone(const WorkerEntry& entry, WallMicros now, Duration lease_ttl);

bool CarriesLabels(
    const v1::Worker& worker,
    const google::protobuf::Map<std::string, std::string>& required);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_
