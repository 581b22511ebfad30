// SPDX-License-Identifier: Apache-2.0
//
// File: stored_rows.h
//
// Rows that calls need from the store, and what memory keeps of them meanwhile.
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
#include "server/ledger/worker_book.h"
#include "storage/trial_store.h"

namespace frostline::server {

// Makes reading beside the loop safe. A read that began before a commit does
// not see the rows of that commit, so memory keeps what was written until every
// such read is over.
//
//   Lookup since = lookups.Begin();     // then the store is read
//   ...                                 // on the loop: what was read is used
//   // `since` goes: rows written before it may be forgotten
//
// A read of the store that is under way. Hold it while its rows matter.
using Lookup = std::shared_ptr<const void>;

// All reads that are under way. Thread-safe; it outlives its lookups.
class Lookups {
 public:
  Lookup Begin();
  // Returns the number of the group that is being written.
  std::int64_t group() const;
  void NextGroup();
  // Returns the oldest group that some reader may not see; all can read earlier
  // ones.
  std::int64_t OldestGroup() const;

 private:
  mutable Mutex mutex_;
  std::int64_t group_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multiset<std::int64_t> begun_ ABSL_GUARDED_BY(mutex_);
};

// The rows that one call needs. When a row is lacking, it is noted, the call is
// put aside, another thread reads the rows, and the call begins again with
// them. So a call has to look up all it needs before it changes anything.
//
//   const TrialAsStored* trial = rows.Trial(key);   // null: noted as lacking

struct TrialAsStored {
  absl::Status status;  // TRIAL_NOT_FOUND, or a failure of the store
  storage::TrialRow row;
  std::vector<storage::AttemptRow> attempts;
};

// A reader of what the store has beside the books. It belongs to one call, and
// goes from thread to thread with it.
class StoredRows {
 public:
  const TrialAsStored* Trial(TrialKey trial);

  // The attempt's first stored step from `step` on. Null while it is not read;
  // an empty value if there is no such step.
  using FirstStep = absl::StatusOr<std::optional<std::int64_t>>;
  const FirstStep* StepFrom(TrialKey trial, std::int64_t attempt,
                            std::int64_t step);

  // How many steps of the attempt are stored. Null while they are not read.
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
  // Reads what is lacking. Called on a reader's thread.
  void Read(const storage::TrialStore& store);

 private:
  using StepKey = std::tuple<TrialKey, std::int64_t, std::int64_t>;
  using CurveKey = std::pair<TrialKey, std::int64_t>;  // with its attempt

  std::map<TrialKey, TrialAsStored> trials_;
  std::map<StepKey, FirstStep> steps_;
  std::map<CurveKey, Curve> curves_;
  std::set<TrialKey> trials_wanted_;
  std::set<StepKey> steps_wanted_;
  std::set<CurveKey> curves_wanted_;
};

// Answers to requests, so that a request sent twice is done once. The store has
// the committed answers; the book has those that somebody who reads the store
// now may not find there yet.

// What identifies a request: its id, its kind and a hash of its content.
struct RequestMark {
  std::string request_id;
  std::string method;
  std::uint64_t hash = 0;
};

std::uint64_t HashRequest(const google::protobuf::Message& request);

// The replies that were given to requests with an id, so that the same request
// gets the same reply. Not thread-safe.
class ReplyBook {
 public:
  explicit ReplyBook(const Lookups& lookups) : lookups_(lookups) {}

  // Returns the answer that the request was given before. `stored` is what the
  // store has. The error is REQUEST_ID_REUSED when another request had this id.
  absl::StatusOr<std::optional<std::string>> Find(
      const RequestMark& request,
      const std::optional<storage::ReplyRow>& stored) const;
  absl::Status Remember(storage::Transaction& transaction,
                        const RequestMark& request, const std::string& reply,
                        WallMicros now);
  // Keeps an answer until every reader can find it in the store.
  void Keep(const RequestMark& request, const std::string& reply,
            WallMicros now);
  // Forgets the answers that every reader can find in the store.
  void Committed();
  // Forgets the answers of the group that was not committed.
  void Undone();

 private:
  const Lookups& lookups_;
  std::map<std::string, storage::ReplyRow> fresh_;          // by request id
  std::deque<std::pair<std::int64_t, std::string>> order_;  // by group
};

// Keeps an attempt's curve within kMaxCurveSteps. Steps are counted as they
// come. After a start nobody has counted: steps rise from 0, so a curve whose
// last step is low has room in any case; any other curve is counted in the
// store once.
//
// Belongs to one call, and borrows `running`.
class CurveLimit {
 public:
  // `row` is as it was before the call.
  CurveLimit(RunningTrials& running, const storage::TrialRow& row,
             std::int64_t attempt);

  // The error is FIELD_TOO_LARGE when these steps would make the curve too
  // long. As with StoredRows, the call may have to ask again when more is read.
  absl::Status Check(const std::vector<storage::MeasurementRow>& measured,
                     StoredRows& rows);
  // Notes that the steps have been written.
  void NoteStored(const std::vector<storage::MeasurementRow>& measured);

 private:
  static std::int64_t CountNew(
      const std::vector<storage::MeasurementRow>& measured,
      std::int64_t last_step);
  // Returns how many steps are stored; nothing when that is not known.
  std::optional<std::int64_t> Known() const;
  absl::StatusOr<StoredRows::Curve> Read(StoredRows& rows);

  RunningTrials& running_;
  const TrialKey trial_;
  const std::int64_t attempt_;
  // The row's last step. It is nothing for an attempt that is not the trial's
  // newest: then only the stored curve says which of its steps are new.
  const std::optional<std::int64_t> last_step_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_
