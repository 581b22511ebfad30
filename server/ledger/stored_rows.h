// SPDX-License-Identifier: Apache-2.0
//
// File: stored_rows.h
//
// What memory keeps of rows that the store has, while calls need it.
#ifndef FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_
#define FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "google/protobuf/message.h"
#include "server/ledger/lease_book.h"
#include "storage/trial_store.h"

namespace frostline::server {

// A read that began before a commit does not see its rows, so memory keeps what
// was written until every such read is over.
//
//   Lookup since = lookups.Begin();     // then the store is read
//   ...                                 // on the loop: what was read is used
//   // `since` goes: rows written before it may be forgotten
//
// It is held while what was read matters.
using Lookup = std::shared_ptr<const void>;

// It is thread-safe, and outlives its lookups.
class Lookups {
 public:
  Lookup Begin();
  // Returns the group that is being written.
  std::int64_t group() const;
  void NextGroup();
  // All who look can read the groups before this one.
  std::int64_t OldestGroup() const;

 private:
  mutable Mutex mutex_;
  std::int64_t group_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multiset<std::int64_t> begun_ ABSL_GUARDED_BY(mutex_);
};

// What a call lacks is noted, it is put aside, another thread reads the rows,
// and it begins again with them. So it looks up all it needs before it changes
// anything.
//
//   const TrialAsStored* trial = rows.Trial(key);   // null: noted as lacking

struct TrialAsStored {
  absl::Status status;  // TRIAL_NOT_FOUND, or a failure of the store
  storage::TrialRow row;
  std::vector<storage::AttemptRow> attempts;
};

// These belong to one call, and go from thread to thread with it.
class StoredRows {
 public:
  const TrialAsStored* Trial(TrialKey trial);

  // Finds the attempt's first stored step from `step` on: null while it is not
  // read, nothing in it where there is none.
  using FirstStep = absl::StatusOr<std::optional<std::int64_t>>;
  const FirstStep* StepFrom(TrialKey trial, std::int64_t attempt,
                            std::int64_t step);

  // Counts the attempt's stored steps: null while they are not read.
  struct Curve {
    absl::Status status;
    std::int64_t steps = 0;
    std::int64_t last_step = -1;
  };
  const Curve* CurveOf(TrialKey trial, std::int64_t attempt);

  bool lacks() const {
    return !trials_wanted_.empty() || !steps_wanted_.empty() ||
           !curves_wanted_.empty();
  }
  // A reader's thread calls it.
  void Read(const storage::TrialStore& store);

 private:
  using StepKey = std::tuple<TrialKey, std::int64_t, std::int64_t>;
  using CurveKey = std::pair<TrialKey, std::int64_t>;  // and its attempt

  std::map<TrialKey, TrialAsStored> trials_;
  std::map<StepKey, FirstStep> steps_;
  std::map<CurveKey, Curve> curves_;
  std::set<TrialKey> trials_wanted_;
  std::set<StepKey> steps_wanted_;
  std::set<CurveKey> curves_wanted_;
};

// A request sent twice is done once. The store has committed answers; the book
// has those that somebody who is looking may not find there yet.

struct RequestMark {
  std::string request_id;
  std::string method;
  std::uint64_t hash = 0;
};

std::uint64_t HashRequest(const google::protobuf::Message& request);

// It is not thread-safe.
class ReplyBook {
 public:
  explicit ReplyBook(const Lookups& lookups) : lookups_(lookups) {}

  // `stored` is the store's answer. An id of another request is
  // REQUEST_ID_REUSED.
  absl::StatusOr<std::optional<std::string>> Find(
      const RequestMark& request,
      const std::optional<storage::ReplyRow>& stored) const;
  absl::Status Remember(storage::Transaction& transaction,
                        const RequestMark& request, const std::string& reply,
                        WallMicros now);
  // Only until everybody who looks can read what the rows say of it.
  void Keep(const RequestMark& request, const std::string& reply,
            WallMicros now);
  // Forgets what everybody who looks can read.
  void Committed();
  // Forgets the group that was not committed.
  void Undone();

 private:
  const Lookups& lookups_;
  std::map<std::string, storage::ReplyRow> fresh_;          // by request id
  std::deque<std::pair<std::int64_t, std::string>> order_;  // by group
};

// Keeps an attempt's curve at kMaxCurveSteps. Steps are counted as they come.
// After a start nobody has counted: since steps rise from 0, a curve whose last
// step is low has room anyway, and any other is counted in the store, once.
//
// It belongs to one call, and borrows `running`.
class CurveLimit {
 public:
  // `row` is as it was before the call.
  CurveLimit(RunningTrials& running, const storage::TrialRow& row,
             std::int64_t attempt);

  // Answers FIELD_TOO_LARGE when these would make the curve too long. As
  // StoredRows does, it may have to be asked again once more was read.
  absl::Status Check(const std::vector<storage::MeasurementRow>& measured,
                     StoredRows& rows);
  // They have been written.
  void NoteStored(const std::vector<storage::MeasurementRow>& measured);

 private:
  static std::int64_t CountNew(
      const std::vector<storage::MeasurementRow>& measured,
      std::int64_t last_step);
  // Counts what is stored, as far as that is known.
  std::optional<std::int64_t> Known() const;
  absl::StatusOr<StoredRows::Curve> Read(StoredRows& rows);

  RunningTrials& running_;
  const TrialKey trial_;
  const std::int64_t attempt_;
  // Nothing is known of an attempt that is not the trial's newest: only its
  // stored curve says which of its steps are new.
  const std::optional<std::int64_t> last_step_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_
