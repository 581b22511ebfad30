// SPDX-License-Identifier: Apache-2.0
//
// File: stored_history.h
//
// A study's history as its store tells it. To pruners the order matters in
// which trials reported and ended (sampler/pruner/rungs.h), so where there
// are curves they are told in that order again: ends by their revisions,
// reports by when they came, which is their attempt's start and what the worker
// measured since. Rows alone do not say it: they lie by number.
#ifndef FROSTLINE_SERVER_SEARCH_STORED_HISTORY_H_
#define FROSTLINE_SERVER_SEARCH_STORED_HISTORY_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sampler/sampler.h"
#include "server/wire/spec.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// Takes those of the first objective.
std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study);

// What is known of a study at one moment, to read the rest of it later: rows
// change on, and what they say of later must not be seen.
struct Opening {
  storage::StudyRow row;
  std::shared_ptr<const CheckedStudy> checked;
  std::int64_t next_number = 0;          // of the first that is not known yet
  std::vector<storage::TrialRow> fresh;  // open, or ended a moment ago
};

// Reads the history that a coordinator has that was never restarted, once all
// that `opening` knows is on disk. It answers CANCELLED when it is to stop.
absl::StatusOr<History> ReadHistory(const Opening& opening,
                                    const storage::TrialStore& store,
                                    const std::stop_token& stop);

// It is not thread-safe.
class StoredHistory {
 public:
  // Adds the next trial of one study, by rising number. Intermediate values, up
  // to the row's last step, are read when the study prunes. The store's errors
  // are answered, and CANCELLED after a stop.
  absl::Status Add(const storage::TrialRow& row, const CheckedStudy& study,
                   const storage::TrialStore& store,
                   const std::stop_token& stop);
  // Returns the history of what was added, and begins anew. After a stop a part
  // of it is missing.
  History Take(const std::stop_token& stop);

 private:
  static constexpr std::int64_t kNever =
      std::numeric_limits<std::int64_t>::max();
  struct Trial {
    Observation seen;  // without its curve
    std::vector<IntermediateValue> curve;
    std::vector<WallMicros> reported;  // as `curve`, rising
    WallMicros ended = 0;
    std::int64_t ended_revision = kNever;
  };
  // What comes next of a trial: a report, or its end behind the last one.
  struct Next {
    WallMicros time = 0;
    std::int64_t ended_revision = 0;
    std::size_t trial = 0;
    std::size_t report = 0;
  };
  static bool IsLater(const Next& a, const Next& b);
  // Answers false behind the end.
  bool Find(Next& next) const;
  void OrderEnds();

  std::vector<Trial> trials_;
  bool has_curves_ = false;
};

// A sampler may learn from trials that had succeeded when the study was created
// (warm start), so that proposals do not depend on what came later.

inline constexpr int kMaxPriorStudies = 16;
// The newest of one prior study are taken.
inline constexpr std::size_t kMaxPriorTrials = 2'000;

// Reads what spec.warm_start(i) names. Errors name the field: STUDY_NOT_FOUND,
// or REQUEST_INVALID for a weight outside 0 … 1 or a study none of whose trials
// has a point in this space and all its metrics. After a stop it is CANCELLED,
// as all below: at most the page that was asked for is still read.
absl::StatusOr<sampler::PriorStudy> LoadPriorStudy(
    const CheckedStudy& study, int i, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop);

// Any thread may call.
absl::StatusOr<std::vector<sampler::PriorStudy>> LoadPriorStudies(
    const CheckedStudy& study, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop);

// Reads those of a loaded study; a prior that is gone by now is done without.
absl::StatusOr<std::vector<sampler::PriorStudy>> PriorStudiesLeft(
    const storage::StudyRow& row, const CheckedStudy& study,
    const storage::TrialStore& store, const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_STORED_HISTORY_H_
