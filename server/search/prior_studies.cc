// SPDX-License-Identifier: Apache-2.0
#include "server/search/prior_studies.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "frostline/v1/trial.pb.h"
#include "server/wire/constraints.h"
#include "server/wire/stored_study.h"
#include "storage/trial_store.h"
#include "study/space.h"

namespace frostline::server {
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

// A trial of `from` as one of `to`; nothing when it says nothing there.
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
  // What that study never measured is not held against its trials.
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
