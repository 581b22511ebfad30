// SPDX-License-Identifier: Apache-2.0
#include "server/search/stored_history.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "server/search/observed_steps.h"
#include "server/wire/constraints.h"
#include "server/wire/observation.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

// What a worker says of its clock may be nonsense.
WallMicros Micros(double seconds) {
  constexpr double kLongest = 1e9;
  return seconds > 0.0
             ? static_cast<WallMicros>(std::min(seconds, kLongest) * 1e6)
             : 0;
}

// What was known of a trial when it began.
Observation PendingTrials(Observation seen) {
  seen.state = TrialState::kRunning;
  seen.values.clear();
  seen.constraints.clear();
  seen.cost_s = 0.0;
  seen.use = {};
  seen.trained_parameters = 0.0;
  return seen;
}

}  // namespace

absl::Status StoredHistory::Add(const storage::TrialRow& row,
                                const CheckedStudy& study,
                                const storage::TrialStore& store,
                                const std::stop_token& stop) {
  Trial trial;
  trial.seen = ObservationOf(row);
  trial.seen.constraints = ConstraintsOf(row, study.spec);
  if (!IsTerminal(row.state)) {  // of a failed attempt
    trial.seen.cost_s = 0.0;
    trial.seen.use = {};
  }
  // It came whole, whenever it may have been trained.
  const bool imported = row.origin == storage::TrialOrigin::kImported;
  trial.ended = imported ? row.created : row.ended;
  if (IsTerminal(row.state)) {
    // Trials of early versions noted none.
    trial.ended_revision =
        row.ended_revision > 0 ? row.ended_revision : row.revision;
  }
  if (row.last_step >= 0 && study.pruner.name != "none") {
    const storage::MeasurementQuery query{
        .study = row.study, .number = row.number, .attempt = row.attempt};
    RETURN_IF_ERROR(storage::ForEachMeasurement(
        store, query, [&](const Measurement& measured) -> absl::Status {
          if (stop.stop_requested()) return absl::CancelledError("stopping");
          if (measured.step > row.last_step) return absl::OkStatus();
          const WallMicros time =
              imported ? row.created : row.started + Micros(measured.elapsed_s);
          for (const IntermediateValue value :
               IntermediateOf({measured}, study)) {
            trial.curve.push_back(value);
            trial.reported.push_back(
                trial.reported.empty() ? time
                                       : std::max(time, trial.reported.back()));
          }
          return absl::OkStatus();
        }));
  }
  has_curves_ = has_curves_ || !trial.curve.empty();
  trials_.push_back(std::move(trial));
  return absl::OkStatus();
}

// The wall clock may have gone back between two ends, revisions never do. And
// nothing is reported after the end.
void StoredHistory::OrderEnds() {
  std::vector<Trial*> ended;
  for (Trial& trial : trials_) {
    if (trial.ended_revision != kNever) ended.push_back(&trial);
  }
  std::sort(ended.begin(), ended.end(), [](const Trial* a, const Trial* b) {
    return a->ended_revision < b->ended_revision;
  });
  WallMicros last = 0;
  for (Trial* const trial : ended) {
    last = trial->ended = std::max(trial->ended, last);
    for (WallMicros& time : trial->reported) time = std::min(time, last);
  }
}

// At the same time, trials come by their ends.
bool StoredHistory::IsLater(const Next& a, const Next& b) {
  return std::tie(a.time, a.ended_revision, a.trial) >
         std::tie(b.time, b.ended_revision, b.trial);
}

bool StoredHistory::Find(Next& next) const {
  const Trial& trial = trials_[next.trial];
  next.ended_revision = trial.ended_revision;
  if (next.report < trial.curve.size()) {
    next.time = trial.reported[next.report];
    return true;
  }
  next.time = trial.ended;
  return trial.ended_revision != kNever && next.report == trial.curve.size();
}

History StoredHistory::Take(const std::stop_token& stop) {
  History history;
  if (!std::exchange(has_curves_, false)) {
    for (Trial& trial : std::exchange(trials_, {})) {
      history.Put(std::move(trial.seen));
    }
    return history;
  }
  OrderEnds();
  std::priority_queue<Next, std::vector<Next>, decltype(&IsLater)> coming(
      &IsLater);
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    history.Put(PendingTrials(trials_[i].seen));
    Next next;
    next.trial = i;
    if (Find(next)) coming.push(next);
  }
  while (!coming.empty() && !stop.stop_requested()) {
    Next next = coming.top();
    coming.pop();
    Trial& trial = trials_[next.trial];
    const std::int64_t number = trial.seen.number;
    if (next.report < trial.curve.size()) {
      history.Append(number, trial.curve[next.report]);
    } else {
      history.Amend(number, [&](Observation& known) {
        trial.seen.intermediate = std::move(known.intermediate);
        known = std::move(trial.seen);
      });
    }
    ++next.report;
    if (Find(next)) coming.push(next);
  }
  trials_.clear();
  return history;
}

absl::StatusOr<History> ReadHistory(const Opening& opening,
                                    const storage::TrialStore& store,
                                    const std::stop_token& stop) {
  std::map<std::int64_t, const storage::TrialRow*> fresh;
  for (const storage::TrialRow& row : opening.fresh) fresh[row.number] = &row;
  StoredHistory history;
  RETURN_IF_ERROR(storage::ForEachTrial(
      store, {.study = opening.row.key},
      [&](const storage::TrialRow& stored) -> absl::Status {
        if (stop.stop_requested()) return absl::CancelledError("stopping");
        if (stored.number >= opening.next_number) return absl::OkStatus();
        const auto found = fresh.find(stored.number);
        return history.Add(found == fresh.end() ? stored : *found->second,
                           *opening.checked, store, stop);
      }));
  History read = history.Take(stop);
  if (stop.stop_requested()) return absl::CancelledError("stopping");
  return read;
}

}  // namespace frostline::server
