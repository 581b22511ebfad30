// SPDX-License-Identifier: Apache-2.0
//
// File: stored_rows.h
//
// What a call lacks is noted, it is put aside, another thread reads the rows,
// and it begins again with them. So it looks up all it needs before it changes
// anything.
//
//   const TrialAsStored* trial = rows.Trial(key);   // null: noted as lacking
#ifndef FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_
#define FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/ledger/lease_book.h"
#include "storage/trial_store.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_STORED_ROWS_H_
