// SPDX-License-Identifier: Apache-2.0
#include "server/search/stored_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "frostline/v1/trial.pb.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"
#include "storage/trial_store.h"
#include "study/space.h"

namespace frostline::server {

std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study) {
  std::vector<IntermediateValue> values;
  for (const Measurement& measurement : measurements) {
    const auto found = measurement.metrics.find(study.objectives[0].metric);
    if (found == measurement.metrics.end()) continue;
    values.push_back({measurement.step, found->second});
  }
  return values;
}

namespace {

// A worker's clock may report nonsense.
WallMicros Micros(double seconds) {
  constexpr double kLongest = 1e9;
  return seconds > 0.0
             ? static_cast<WallMicros>(std::min(seconds, kLongest) * 1e6)
             : 0;
}

// Returns what was known of a trial when it began.
Observation PendingTrials(Observation seen) {
  seen.state = TrialState::kRunning;
  seen.out_of_memory = false;
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
  // An imported trial came whole, whenever it was trained.
  const bool imported = row.origin == storage::TrialOrigin::kImported;
  trial.ended = imported ? row.created : row.ended;
  if (IsTerminal(row.state)) {
    // Trials of early versions have no such revision.
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

// Sorts ends by revision: the wall clock may have gone back between two ends,
// revisions never do. Nothing is reported after an end.
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

namespace {

absl::Status Refuse(const std::string& cause, const std::string& fix,
                    const std::string& field) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

absl::Status AtField(const absl::Status& status, const std::string& field) {
  const auto detail = DetailOf(status);
  if (!detail.has_value()) return status;
  return MakeError(detail->id, std::string(status.message()), detail->fix,
                   field);
}

// Returns a trial of `from` as one of `to`, or nothing when it says nothing
// there.
std::optional<Observation> Translated(const storage::TrialRow& row,
                                      const CheckedStudy& from,
                                      const CheckedStudy& to) {
  auto point = TranslatePoint(from.space, row.point, to.space);
  if (!point.has_value()) return std::nullopt;
  Observation seen;
  seen.number = row.number;
  seen.state = TrialState::kSucceeded;
  seen.point = *std::move(point);
  for (const Objective& objective : to.objectives) {
    const auto metric = row.metrics.find(objective.metric);
    if (metric == row.metrics.end() || !std::isfinite(metric->second)) {
      return std::nullopt;
    }
    seen.values.push_back(metric->second);
  }
  const auto is_measured = [&row](const v1::MetricConstraint& constraint) {
    return row.metrics.count(constraint.metric()) > 0;
  };
  // A constraint that the other study never measured does not count against its
  // trials.
  if (std::all_of(to.spec.constraints().begin(), to.spec.constraints().end(),
                  is_measured)) {
    seen.constraints = ConstraintsOf(row, to.spec);
  }
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  seen.cost_s = usage.train_seconds();
  return seen;
}

}  // namespace

absl::StatusOr<sampler::PriorStudy> LoadPriorStudy(
    const CheckedStudy& study, int i, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop) {
  const v1::WarmStart& asked = study.spec.warm_start(i);
  const std::string field = absl::StrCat("warm_start[", i, "].");
  if (!(asked.weight() >= 0.0 && asked.weight() <= 1.0)) {
    return Refuse(absl::StrCat("the weight is ", asked.weight()),
                  "give 0 (judged by similarity) to 1 (as the study's own)",
                  field + "weight");
  }
  const auto id = ParseStudyName(asked.study());
  if (!id.ok()) return AtField(id.status(), field + "study");
  const absl::StatusOr<storage::StudyRow> row = store.FindStudy(*id);
  if (!row.ok()) return AtField(row.status(), field + "study");
  ASSIGN_OR_RETURN(const CheckedStudy from, CheckStored(*row, study.lease));
  sampler::PriorStudy prior{
      .name = *id, .weight = asked.weight(), .trials = {}};
  RETURN_IF_ERROR(storage::ForEachTrial(
      store, {.study = row->key, .states = {TrialState::kSucceeded}},
      [&](const storage::TrialRow& trial) -> absl::Status {
        if (stop.stop_requested()) return absl::CancelledError("stopping");
        if (trial.ended > created) return absl::OkStatus();
        auto seen = Translated(trial, from, study);
        if (seen.has_value()) prior.trials.push_back(*std::move(seen));
        return absl::OkStatus();
      }));
  if (prior.trials.empty()) {
    return Refuse(absl::StrCat("no trial of ", asked.study(),
                               " has succeeded at a point of this space with "
                               "all metrics of the objectives"),
                  "name a study of the same modules, levels and metrics",
                  field + "study");
  }
  if (prior.trials.size() > kMaxPriorTrials) {
    prior.trials.erase(prior.trials.begin(),
                       prior.trials.end() - kMaxPriorTrials);
  }
  return prior;
}

absl::StatusOr<std::vector<sampler::PriorStudy>> LoadPriorStudies(
    const CheckedStudy& study, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop) {
  if (study.spec.warm_start_size() > kMaxPriorStudies) {
    return Refuse(
        absl::StrCat("there are ", study.spec.warm_start_size(), " studies"),
        absl::StrCat("name at most ", kMaxPriorStudies), "warm_start");
  }
  std::vector<sampler::PriorStudy> priors;
  std::set<std::string> named;
  for (int i = 0; i < study.spec.warm_start_size(); ++i) {
    ASSIGN_OR_RETURN(sampler::PriorStudy prior,
                     LoadPriorStudy(study, i, created, store, stop));
    if (!named.insert(prior.name).second) {
      return Refuse(absl::StrCat("studies/", prior.name, " is named twice"),
                    "name it once, with the weight it is to have",
                    absl::StrCat("warm_start[", i, "].study"));
    }
    priors.push_back(std::move(prior));
  }
  return priors;
}

absl::StatusOr<std::vector<sampler::PriorStudy>> PriorStudiesLeft(
    const storage::StudyRow& row, const CheckedStudy& study,
    const storage::TrialStore& store, const std::stop_token& stop) {
  std::vector<sampler::PriorStudy> priors;
  for (int i = 0; i < study.spec.warm_start_size(); ++i) {
    auto prior = LoadPriorStudy(study, i, row.created, store, stop);
    if (absl::IsCancelled(prior.status())) return prior.status();
    if (prior.ok()) {
      priors.push_back(*std::move(prior));
      continue;
    }
    Log(LogLevel::kWarning, "prior_study_not_loaded",
        {{"study", row.id},
         {"prior", study.spec.warm_start(i).study()},
         {"error", std::string(prior.status().message())}});
  }
  return priors;
}

}  // namespace frostline::server
