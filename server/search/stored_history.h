// SPDX-License-Identifier: Apache-2.0
//
// File: stored_history.h
//
// A study's history as it is read from the store. A pruner depends on the order
// in which trials reported and ended (sampler/pruner/rungs.h). So, where there
// are curves, trials are told in that order again: ends by their revisions,
// reports by the time they came, which is the attempt's start plus the time
// that the worker measured since. The rows alone lie by number and do not show
// this order.
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

// Returns the intermediate values of the first objective.
std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study);

// What is known of a study at one moment, so that the rest can be read later.
// Rows change meanwhile, and later changes must not be seen.
struct Opening {
  storage::StudyRow row;
  std::shared_ptr<const CheckedStudy> checked;
  std::int64_t next_number = 0;  // of the first trial that is not known yet
  std::vector<storage::TrialRow> fresh;  // open, or ended a moment ago
};

// Reads the history that a coordinator would have if it had never been
// restarted, once all that `opening` knows is on disk. The error is CANCELLED
// after a stop.
absl::StatusOr<History> ReadHistory(const Opening& opening,
                                    const storage::TrialStore& store,
                                    const std::stop_token& stop);

// Builds a study's history from stored trials. Not thread-safe.
class StoredHistory {
 public:
  // Adds the next trial of one study, in order of numbers. When the study
  // prunes, it also reads the intermediate values up to the row's last step.
  // Errors are the store's, and CANCELLED after a stop.
  absl::Status Add(const storage::TrialRow& row, const CheckedStudy& study,
                   const storage::TrialStore& store,
                   const std::stop_token& stop);
  // Returns the history of what was added, and begins again with an empty one.
  // After a stop a part of it is missing.
  History Take(const std::stop_token& stop);

 private:
  static constexpr std::int64_t kNever =
      std::numeric_limits<std::int64_t>::max();
  struct Trial {
    Observation seen;  // without its curve
    std::vector<IntermediateValue> curve;
    std::vector<WallMicros> reported;  // for each value of `curve`, rising
    WallMicros ended = 0;
    std::int64_t ended_revision = kNever;
  };
  // The next thing to tell of a trial: a report, or its end after the last
  // report.
  struct Next {
    WallMicros time = 0;
    std::int64_t ended_revision = 0;
    std::size_t trial = 0;
    std::size_t report = 0;
  };
  static bool IsLater(const Next& a, const Next& b);
  // Finds the next thing to tell; false after the last one.
  bool Find(Next& next) const;
  void OrderEnds();

  std::vector<Trial> trials_;
  bool has_curves_ = false;
};

// Trials from which a sampler may learn (warm start): those that had succeeded
// when the study was created, so that proposals do not depend on what came
// later.

inline constexpr int kMaxPriorStudies = 16;
// At most this many trials of one prior study are used, the newest ones.
inline constexpr std::size_t kMaxPriorTrials = 2'000;

// Reads the study that spec.warm_start(i) names. Errors name the field:
// STUDY_NOT_FOUND, or REQUEST_INVALID for a weight outside 0 … 1 or for a study
// none of whose trials has a point in this space and all of its metrics. After
// a stop the error is CANCELLED, here and below; at most the page that was
// asked for is still read.
absl::StatusOr<sampler::PriorStudy> LoadPriorStudy(
    const CheckedStudy& study, int i, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop);

// Reads all prior studies of a new study. Any thread may call it.
absl::StatusOr<std::vector<sampler::PriorStudy>> LoadPriorStudies(
    const CheckedStudy& study, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop);

// Reads the prior studies of a loaded study. A prior study that has been
// deleted since is left out.
absl::StatusOr<std::vector<sampler::PriorStudy>> PriorStudiesLeft(
    const storage::StudyRow& row, const CheckedStudy& study,
    const storage::TrialStore& store, const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_STORED_HISTORY_H_
