// SPDX-License-Identifier: Apache-2.0
#include "server/importance/known_trials.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "frostline/v1/trial.pb.h"
#include "importance/measure/evaluate_options.h"
#include "server/wire/observation.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

// Steps of which all measurements are kept.
constexpr std::size_t kMostSteps = 8;

// A note is for people, and may be long.
std::string WithoutNote(const std::string& labels) {
  v1::Trial noted;
  noted.ParseFromString(labels);
  noted.clear_note();
  return noted.SerializeAsString();
}

KnownTrial KnownOf(storage::TrialRow row) {
  KnownTrial known;
  known.seen = ObservationOf(row);
  row.labels = WithoutNote(row.labels);
  row.point = {};
  row.secret = {};
  row.cause = {};
  row.usage = {};
  known.row = std::move(row);
  return known;
}

// What a name and a number of a map take, with its node.
constexpr std::size_t kMetricBytes = 96;

std::size_t TrialBytesOf(const KnownTrial& known) {
  return sizeof(known) + known.row.labels.capacity() +
         known.row.worker.capacity() + known.row.metrics.size() * kMetricBytes +
         (known.seen.point.size() + known.seen.values.size() +
          known.row.values.size()) *
             sizeof(double);
}

// What the newest attempt that measured this step has measured: an attempt that
// went on from a checkpoint does not repeat the steps before it.
absl::StatusOr<std::optional<Metrics>> MetricsAt(
    const StudyHandle& study, const storage::TrialStore& store,
    const storage::TrialRow& trial, std::int64_t step) {
  if (trial.last_step < 0) return std::optional<Metrics>();
  for (std::int64_t attempt = trial.attempt; attempt >= 0; --attempt) {
    ASSIGN_OR_RETURN(const std::vector<Measurement> measured,
                     store.ListMeasurements({.study = study.key,
                                             .number = trial.number,
                                             .attempt = attempt,
                                             .after_step = step - 1,
                                             .limit = 1}));
    if (!measured.empty() && measured[0].step == step) {
      return std::optional<Metrics>(measured[0].metrics);
    }
  }
  return std::optional<Metrics>();
}

}  // namespace

absl::Status KnownTrials::CatchUp(const StudyHandle& study,
                                  const storage::TrialStore& store,
                                  const std::stop_token& stop) {
  const storage::TrialQuery changed{
      .study = study.key,
      .states = {TrialState::kSucceeded, TrialState::kPruned,
                 TrialState::kInfeasible, TrialState::kFailed,
                 TrialState::kCancelled},
      .order = storage::TrialQuery::Order::kRevision,
      .after = seen_revision_};
  return storage::ForEachTrial(
      store, changed, [&](const storage::TrialRow& row) {
        mutex_.AssertHeld();
        RETURN_IF_ERROR(importance::CheckStop(stop));
        const auto [place, is_new] = trials_.try_emplace(row.number);
        KnownTrial& known = place->second;
        if (!is_new) bytes_ -= TrialBytesOf(known);
        known = KnownOf(row);
        bytes_ += TrialBytesOf(known);
        seen_revision_ = row.revision;
        return absl::OkStatus();
      });
}

absl::Status KnownTrials::ReadStep(const StudyHandle& study,
                                   const storage::TrialStore& store,
                                   std::int64_t step,
                                   const std::stop_token& stop) {
  if (!steps_.contains(step) && steps_.size() >= kMostSteps) {
    for (auto& [number, known] : trials_) known.steps.clear();
    steps_.clear();
  }
  steps_.insert(step);
  for (auto& [number, known] : trials_) {
    if (known.steps.contains(step)) continue;
    RETURN_IF_ERROR(importance::CheckStop(stop));
    ASSIGN_OR_RETURN(known.steps[step],
                     MetricsAt(study, store, known.row, step));
  }
  return absl::OkStatus();
}

absl::Status KnownTrials::See(
    const StudyHandle& study, const storage::TrialStore& store,
    std::int64_t step, const std::stop_token& stop,
    absl::FunctionRef<absl::Status(const std::map<std::int64_t, KnownTrial>&,
                                   std::int64_t revision)>
        see) {
  const MutexLock lock(&mutex_);
  RETURN_IF_ERROR(CatchUp(study, store, stop));
  if (step > 0) RETURN_IF_ERROR(ReadStep(study, store, step, stop));
  // A row may have changed since the handle was made.
  return see(trials_, std::max(study.revision, seen_revision_));
}

std::shared_ptr<KnownTrials> KnownStudies::Of(storage::StudyKey study) {
  const MutexLock lock(&mutex_);
  const auto found =
      std::find_if(studies_.begin(), studies_.end(),
                   [study](const auto& entry) { return entry.first == study; });
  if (found != studies_.end()) {
    studies_.splice(studies_.begin(), studies_, found);
  } else {
    studies_.emplace_front(study, std::make_shared<KnownTrials>());
  }
  std::size_t bytes = 0;
  for (auto entry = studies_.begin(); entry != studies_.end();) {
    bytes += entry->second->bytes();
    const bool stays = entry == studies_.begin() || bytes <= max_bytes_;
    entry = stays ? std::next(entry) : studies_.erase(entry);
  }
  return studies_.front().second;
}

}  // namespace frostline::server
