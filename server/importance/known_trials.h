// SPDX-License-Identifier: Apache-2.0
//
// File: known_trials.h
//
// A study's ended trials as importance reads them, kept in memory so that after
// one more trial only that one is read from the store.
#ifndef FROSTLINE_SERVER_IMPORTANCE_KNOWN_TRIALS_H_
#define FROSTLINE_SERVER_IMPORTANCE_KNOWN_TRIALS_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "server/wire/study_handle.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

struct KnownTrial {
  // What a filter may ask for; its point is in `seen`, its texts nowhere.
  storage::TrialRow row;
  Observation seen;
  // Of the steps that were asked for: what was measured there.
  std::map<std::int64_t, std::optional<Metrics>> steps;
};

// Thread-safe; one study's.
class KnownTrials {
 public:
  // Reads what has changed since the last call, then shows `see` all ended
  // trials by number and the revision they are of: the handle's or a later one.
  // With `step` above 0 what they measured there is known too.
  absl::Status See(
      const StudyHandle& study, const storage::TrialStore& store,
      std::int64_t step,
      absl::FunctionRef<absl::Status(const std::map<std::int64_t, KnownTrial>&,
                                     std::int64_t revision)>
          see);

  std::size_t bytes() const { return bytes_.load(); }

 private:
  absl::Status CatchUp(const StudyHandle& study,
                       const storage::TrialStore& store)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ReadStep(const StudyHandle& study,
                        const storage::TrialStore& store, std::int64_t step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::map<std::int64_t, KnownTrial> trials_ ABSL_GUARDED_BY(mutex_);
  std::set<std::int64_t> steps_ ABSL_GUARDED_BY(mutex_);  // that trials know
  // Of the last row that was read.
  std::int64_t seen_revision_ ABSL_GUARDED_BY(mutex_) = -1;
  std::atomic<std::size_t> bytes_ = 0;
};

// Those of the studies that were asked for last. Thread-safe.
class KnownStudies {
 public:
  // Studies that nobody has asked for lately are forgotten when all together
  // have more than `max_bytes`; the last one stays, whatever its size.
  explicit KnownStudies(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  std::shared_ptr<KnownTrials> Of(storage::StudyKey study);

 private:
  const std::size_t max_bytes_;
  Mutex mutex_;
  // The last one that was asked for is first.
  std::list<std::pair<storage::StudyKey, std::shared_ptr<KnownTrials>>> studies_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_KNOWN_TRIALS_H_
