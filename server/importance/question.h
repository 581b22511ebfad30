// SPDX-License-Identifier: Apache-2.0
//
// File: question.h
//
// A question about importance, and the trials that it is about.
#ifndef FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_
#define FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "frostline/v1/importance.pb.h"
#include "importance/evaluator.h"
#include "server/wire/spec.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// What is remembered of a trial that has ended.
struct KnownTrial {
  // Filters use it. Its point is in `seen`; note, cause and usage are dropped.
  storage::TrialRow row;
  Observation seen;
  // It holds the steps that were asked for.
  std::map<std::int64_t, std::optional<Metrics>> steps;
};

// The ended trials of one study, each read once. Thread-safe.
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

// The studies asked for lately, with their trials. Thread-safe.
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

// These targets are of a trial's usage and no metrics.
inline constexpr char kTrainSeconds[] = "train_seconds";
inline constexpr char kTrainedParameters[] = "trained_parameters";

// A question that was checked: what to evaluate, and by which options.
struct ImportanceQuestion {
  v1::ImportanceOptions used;  // defaults filled in; without `parameters`
  importance::EvaluateOptions options;
  std::vector<Objective> objectives;  // the target, and what best_by names
  bool by_labels = false;             // the filter looks at labels
};

// Answers REQUEST_INVALID for unknown parameters, sets that are none
// (evaluate_options.h) and a step before the first; evaluators judge the rest.
absl::StatusOr<ImportanceQuestion> MakeQuestion(
    const v1::ImportanceOptions& asked, const CheckedStudy& study);

// Returns names as errors list them: "accuracy, loss, …".
std::string ListOf(const std::set<std::string>& names);

// Returns the parameter's place; else REQUEST_INVALID, naming those that there
// are.
absl::StatusOr<int> FindParameter(const Space& space, const std::string& name,
                                  const std::string& field);

// Returns a text that is the same for questions with the same answer at one
// revision of the study. Which parameters are shown is not in it.
std::string KeyOf(const ImportanceQuestion& question);

// Returns what the trial ended with, in a metric or of its usage.
std::optional<double> FinalValueOf(const KnownTrial& known,
                                   const std::string& metric);

// Returns the trials that match the filter. One that lacks an objective has no
// values, and evaluators leave it out. A target that no trial has is
// REQUEST_INVALID, which names what there is.
absl::StatusOr<History> SelectHistory(
    const ImportanceQuestion& question, const CheckedStudy& study,
    const std::map<std::int64_t, KnownTrial>& trials);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_
