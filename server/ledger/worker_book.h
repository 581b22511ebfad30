// SPDX-License-Identifier: Apache-2.0
//
// File: worker_book.h
//
// The registered workers, and what each last said of its GPUs, summed by model,
// so that a look at the fleet costs the same however many GPUs a node has. The
// load is kept in memory alone: the next heartbeat brings it again.
//
// A worker may claim what it likes. wire/ accepts only finite numbers and at
// most 64 GPUs; here a worker has at most four models by name, each of
// printable letters, and all others are "other".
#ifndef FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_
#define FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"
#include "server/ledger/lease_book.h"
#include "storage/rows.h"

namespace frostline::server {

inline constexpr char kOtherModel[] = "other";

// GPUs of one model and their use.
struct GpuUse {
  double gpus = 0;  // those that say how busy they are
  double busy = 0;  // their use, summed: 1 for a GPU that is wholly busy
  double leased = 0;
  double memory_bytes = 0;
  double memory_used_bytes = 0;
  double watts = 0;

  GpuUse& operator+=(const GpuUse& more);
};

using GpuUses = std::map<std::string, GpuUse>;  // by model

// What a worker last said of its load.
struct KnownLoad {
  v1::NodeLoad load;  // with `as_of`
  GpuUses gpus;       // with nothing counted as leased
};

// What a worker said of its load. Null: it did not say.
using LoadPtr = std::shared_ptr<const KnownLoad>;

// Returns the load by model. `worker` is as registered; a GPU that it did not
// name has no model.
LoadPtr LoadOf(const v1::NodeLoad& load, const v1::Worker& worker,
               WallMicros now);

// Counts as many GPUs as leased as the leased share of the slots: two trials on
// eight slots of four GPUs lease one GPU.
GpuUse Leased(GpuUse use, std::size_t trials, std::int64_t slots);

// What a worker said that its trainer can open, so that a study goes only to
// workers that have its model and its data.

// Immutable.
class KnownStock {
 public:
  explicit KnownStock(const v1::Worker& worker);

  // Returns "" when all is there, else what lacks: "the data set sst5". An item
  // or a study without a sum fits any sum. `precision` is the one that the
  // study's trials share, if any.
  std::string WhatLacks(const v1::StudySpec& spec,
                        const std::string& precision) const;
  // Returns a text that is equal for two stocks with the same items.
  const std::string& mark() const { return mark_; }

 private:
  using Sums = std::map<std::string, std::string>;  // by id
  bool says_stock_ = false;
  Sums models_;
  Sums data_sets_;
  std::set<std::string> precisions_;  // empty: the worker did not say
  std::string mark_;
};

// Null: the worker did not say, and is taken to have everything.
using StockPtr = std::shared_ptr<const KnownStock>;

StockPtr StockOf(const v1::Worker& worker);
std::string WhatLacks(const StockPtr& stock, const v1::StudySpec& spec,
                      const std::string& precision = "");

// A registered worker.
struct WorkerEntry {
  storage::WorkerRow row;
  v1::Worker info;  // as registered
  StockPtr stock = {};
  LoadPtr load = {};
  std::set<TrialKey> holds;
};

// All registered workers. Not thread-safe.
class WorkerBook {
 public:
  WorkerEntry& Absorb(const storage::WorkerRow& row);
  WorkerEntry* Find(const std::string& id);
  // The error is WORKER_UNKNOWN unless the worker is registered with this boot
  // id.
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

// Says whether a worker holds nothing and has been silent for three leases.
bool IsGone(const WorkerEntry& entry, WallMicros now, Duration lease_ttl);

bool CarriesLabels(
    const v1::Worker& worker,
    const google::protobuf::Map<std::string, std::string>& required);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_
