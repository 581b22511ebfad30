// SPDX-License-Identifier: Apache-2.0
//
// File: known_trials.h
#ifndef FROSTLINE_SERVER_IMPORTANCE_KNOWN_TRIALS_H_
#define FROSTLINE_SERVER_IMPORTANCE_KNOWN_TRIALS_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
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
  // Filters use it. Its point is in `seen`; note, cause and usage are dropped.
  storage::TrialRow row;
  Observation seen;
  // It holds the steps that were asked for.
  std::map<std::int64_t, std::optional<Metrics>> steps;
};

// It has the trials of one study, and is thread-safe.
class KnownTrials {
 public:
  // Reads what has changed, then shows `see` all ended trials by number and the
  // revision they are of: the handle's or a later one. With `step` above 0 they
  // have what was measured there. After a stop it is CANCELLED, and what was
  // read stays known.
  absl::Status See(
      const StudyHandle& study, const storage::TrialStore& store,
      std::int64_t step, const std::stop_token& stop,
      absl::FunctionRef<absl::Status(const std::map<std::int64_t, KnownTrial>&,
                                     std::int64_t revision)>
          see);

  std::size_t bytes() const { return bytes_.load(); }

 private:
  absl::Status CatchUp(const StudyHandle& study,
                       const storage::TrialStore& store,
                       const std::stop_token& stop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ReadStep(const StudyHandle& study,
                        const storage::TrialStore& store, std::int64_t step,
                        const std::stop_token& stop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::map<std::int64_t, KnownTrial> trials_ ABSL_GUARDED_BY(mutex_);
  std::set<std::int64_t> steps_ ABSL_GUARDED_BY(mutex_);
  std::int64_t seen_revision_ ABSL_GUARDED_BY(mutex_) = -1;
  std::atomic<std::size_t> bytes_ = 0;
};

// It is thread-safe.
class KnownStudies {
 public:
  // Forgets the studies asked for longest ago when all have more than
  // `max_bytes`; the last one stays.
  explicit KnownStudies(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  std::shared_ptr<KnownTrials> Of(storage::StudyKey study);

 private:
  const std::size_t max_bytes_;
  Mutex mutex_;
  std::list<std::pair<storage::StudyKey, std::shared_ptr<KnownTrials>>> studies_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_KNOWN_TRIALS_H_
