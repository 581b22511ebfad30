// SPDX-License-Identifier: Apache-2.0
//
// File: worker_book.h
//
// What memory knows of workers: their leases, when each ends, and what they
// last said.
#ifndef FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_
#define FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "storage/rows.h"

namespace frostline::server {

// Leases: when each one ends, its secret, and what its worker last said.

// The times at which leases end, on the steady clock. It decides nothing.

struct TrialKey {
  storage::StudyKey study = 0;
  std::int64_t number = 0;
  friend auto operator<=>(const TrialKey&, const TrialKey&) = default;
};

// The leases that are held, by trial and by when they end. Not thread-safe. A
// call about one trial is O(log n).
class LeaseBook {
 public:
  void Set(TrialKey trial, SteadyTime deadline) {
    Remove(trial);
    deadline_of_[trial] = deadline;
    by_deadline_.insert({deadline, trial});
  }

  void Remove(TrialKey trial) {
    const auto found = deadline_of_.find(trial);
    if (found == deadline_of_.end()) return;
    by_deadline_.erase({found->second, trial});
    deadline_of_.erase(found);
  }

  std::optional<SteadyTime> Find(TrialKey trial) const {
    const auto found = deadline_of_.find(trial);
    if (found == deadline_of_.end()) return std::nullopt;
    return found->second;
  }

  void PostponeAll(Duration by) {
    std::set<std::pair<SteadyTime, TrialKey>> later;
    for (auto& [trial, deadline] : deadline_of_) {
      deadline += by;
      later.insert({deadline, trial});
    }
    by_deadline_ = std::move(later);
  }

  // Returns the leases that end at or before `now`, the earliest first.
  std::vector<TrialKey> Due(SteadyTime now) const {
    std::vector<TrialKey> due;
    for (const auto& [deadline, trial] : by_deadline_) {
      if (deadline > now) break;
      due.push_back(trial);
    }
    return due;
  }

  std::optional<SteadyTime> NextDue() const {
    if (by_deadline_.empty()) return std::nullopt;
    return by_deadline_.begin()->first;
  }

  std::size_t size() const { return deadline_of_.size(); }

 private:
  std::map<TrialKey, SteadyTime> deadline_of_;
  std::set<std::pair<SteadyTime, TrialKey>> by_deadline_;
};

// How a lease's secret is computed, shown to its worker, and stored as a hash:
//
//   shown  = salt || first half of SHA-256(key, salt, study, number, attempt)
//   stored = "v1:" salt ":" SHA-256(shown)
//
// The salt is drawn for each grant, so that a database that was restored to an
// earlier day never gives the secret of an attempt a second time. The key lies
// outside of the database (TrialStore::LeaseKey()). With the key and the salt,
// an Acquire whose reply was lost gets the same answer again. Only half of the
// sum is shown, so that nobody can compute the sum of a longer text from it.
//
//   AsStored("<salt><half>") == "v1:<salt>:<sum>"     what a worker shows
//   AsStored("<32 digits>")  == "<32 digits>"         of before there was a key

// Returns what a row holds for a secret that was granted. The result never
// equals the secret, not even when the secret has the form of a stored one:
// reading the database gives nobody a secret.
SecretString AsStored(const SecretString& shown);

// Makes the secrets of leases. Immutable: any thread may use it.
class LeaseSecrets {
 public:
  explicit LeaseSecrets(SecretString key) : key_(std::move(key)) {}

  // Returns a new secret, a different one at each call.
  SecretString Draw(TrialKey trial, std::int64_t attempt) const;
  // Returns the secret that is stored as `stored`. If another key made that
  // one, the result is a secret that nobody accepts.
  SecretString Again(TrialKey trial, std::int64_t attempt,
                     const SecretString& stored) const;

 private:
  SecretString Shown(const std::string& salt, TrialKey trial,
                     std::int64_t attempt) const;

  SecretString key_;
};

// What the worker last said about its run.
struct RunProgress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  SteadyTime stepped{};
};

// What is known of trials while they run. It is made and forgotten here, in the
// ledger, and nowhere else. Not thread-safe.
class RunningTrials {
 public:
  // Begins or renews a lease.
  void LeaseUntil(TrialKey trial, SteadyTime end) { leases_.Set(trial, end); }
  void NoteProgress(TrialKey trial, const RunProgress& progress) {
    progress_[trial] = progress;
  }
  // Asks the attempt to stop early. Every answer tells it so until it has
  // obeyed.
  void WantPruned(TrialKey trial, std::int64_t attempt, std::string reason) {
    prune_wanted_[trial] = {attempt, std::move(reason)};
  }
  // Notes how many steps of the attempt's curve are stored.
  void NoteSteps(TrialKey trial, std::int64_t attempt, std::int64_t steps) {
    steps_[trial] = {attempt, steps};
  }
  // Forgets the count, since what was noted may be undone. StepsOf() then
  // returns nothing.
  void ForgetSteps(TrialKey trial) { steps_.erase(trial); }
  // Returns when its lease would have ended.
  std::optional<SteadyTime> Forget(TrialKey trial) {
    const std::optional<SteadyTime> end = leases_.Find(trial);
    steps_.erase(trial);
    leases_.Remove(trial);
    progress_.erase(trial);
    prune_wanted_.erase(trial);
    return end;
  }

  const LeaseBook& leases() const { return leases_; }
  void PostponeLeases(Duration by) { leases_.PostponeAll(by); }
  std::optional<RunProgress> ProgressOf(TrialKey trial) const {
    const auto found = progress_.find(trial);
    if (found == progress_.end()) return std::nullopt;
    return found->second;
  }
  // Returns nothing when nobody has counted since the start.
  std::optional<std::int64_t> StepsOf(TrialKey trial,
                                      std::int64_t attempt) const {
    const auto found = steps_.find(trial);
    if (found == steps_.end() || found->second.first != attempt) {
      return std::nullopt;
    }
    return found->second.second;
  }
  std::optional<std::string> PruneReason(TrialKey trial,
                                         std::int64_t attempt) const {
    const auto found = prune_wanted_.find(trial);
    if (found == prune_wanted_.end() || found->second.first != attempt) {
      return std::nullopt;
    }
    return found->second.second;
  }

 private:
  LeaseBook leases_;
  std::map<TrialKey, RunProgress> progress_;
  std::map<TrialKey, std::pair<std::int64_t, std::int64_t>> steps_;
  std::map<TrialKey, std::pair<std::int64_t, std::string>> prune_wanted_;
};

// How far the running trials are, as their workers last said. Only people look
// at it, so it is kept in memory alone: heartbeats cost no write for it, and
// after a restart the next heartbeat brings it again.
//
// The loop posts and removes, readers look: any thread may call. It holds one
// small entry for each trial that runs; wire/ limits its size.
class ProgressBoard {
 public:
  // Takes what the holder of the trial's lease said at `now`. Does nothing when
  // it did not say how far it is.
  void Post(TrialKey trial, const v1::LeaseProgress& said, WallMicros now);
  void Remove(TrialKey trial);
  void Clear();

  // Returns the attempt's progress; nothing if only another attempt has told
  // any.
  std::optional<v1::TrialProgress> Of(TrialKey trial,
                                      std::int64_t attempt) const;

 private:
  struct Entry {
    std::int64_t attempt = 0;
    v1::TrialProgress progress;
  };

  mutable Mutex mutex_;
  std::map<TrialKey, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// The registered workers, and what each last said of its GPUs, summed by model,
// so that a look at the fleet costs the same however many GPUs a node has. The
// load is kept in memory alone: the next heartbeat brings it again.
//
// A worker may claim what it likes. wire/ accepts only finite numbers and at
// most 64 GPUs; here a worker has at most four models by name, each of
// printable letters, and all others are "other".

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

// What a study asks of a model and the model has not.
struct Misfit {
  std::string field;  // "training.max_length"
  std::int64_t asked = 0;
  std::int64_t has = 0;
};

// What a worker has said that it has: models, data sets, precisions. Immutable.
class KnownStock {
 public:
  explicit KnownStock(const v1::Worker& worker);

  // Returns "" when all is there, else what lacks: "the data set sst5". An item
  // or a study without a sum fits any sum. `precision` is the one that the
  // study's trials share, if any.
  std::string WhatLacks(const v1::StudySpec& spec,
                        const std::string& precision) const;
  // Says whether it has the model, or did not say what it has.
  bool MayHaveModel(const std::string& id) const {
    return !says_stock_ || models_.contains(id);
  }
  // Returns what of the study its model of that id has not, and the study's
  // field: more layers, longer texts. Nothing where all fits, where it has no
  // such model, or has not said what the model bounds.
  std::optional<Misfit> MisfitOf(const v1::StudySpec& spec) const;
  // Returns the trainer that a worker without any stock runs, by its label
  // `trainer`; "" for any other worker. It serves only studies that name it.
  const std::string& own_trainer() const { return own_trainer_; }
  // Says whether it trains what its registry has and nothing else, as a worker
  // with `--registry` and no trainer of its own does.
  bool trains_by_id() const { return trains_by_id_; }
  // Returns a text that is equal for two stocks with the same items.
  const std::string& mark() const { return mark_; }

 private:
  using Sums = std::map<std::string, std::string>;  // by id
  bool says_stock_ = false;
  bool trains_by_id_ = false;
  std::string own_trainer_;
  Sums models_;
  std::map<std::string, v1::ModelBounds> bounds_;  // of models, by id
  Sums data_sets_;
  std::set<std::string> precisions_;  // empty: the worker did not say
  std::string mark_;
};

// The label by which a worker says its trainer, and a study asks for one.
inline constexpr char kTrainerLabel[] = "trainer";

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
  // When it was heard last, as an earlier coordinator stored it; nothing once
  // this one has stored that it was heard.
  std::optional<WallMicros> unheard_since = {};
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

  std::map<std::string, WorkerEntry>& all() { return workers_; }
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

// Checks a new study against the models that workers have told. The error is
// TRAINER_MISMATCH where at least one live worker with the study's labels has
// the model, and none has one that fits; it names the field. A worker that did
// not say what it has is taken to fit.
//
//   max_length 3200, and both workers' model reads 512: refused
//   max_length 3200, and one of them reads 4096: that one gets the trials
absl::Status CheckFitsAModel(const WorkerBook& workers,
                             const v1::StudySpec& spec,
                             const v1::StudySettings& settings, WallMicros now,
                             Duration lease_ttl);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_WORKER_BOOK_H_
