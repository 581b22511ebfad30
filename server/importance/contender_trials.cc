// SPDX-License-Identifier: Apache-2.0
#include "server/importance/contender_trials.h"

#include <set>
#include <utility>

#include "base/error.h"
#include "base/ids.h"

namespace frostline::server {
namespace {

absl::StatusOr<ContenderTrial> FindNamed(const std::string& name,
                                         const StudiesByName& studies,
                                         const storage::TrialStore& store) {
  ASSIGN_OR_RETURN(const TrialName parsed, ParseTrialName(name));
  ContenderTrial trial;
  trial.study = &studies.at(StudyNameOf(parsed.study_id));
  ASSIGN_OR_RETURN(trial.row, store.FindTrial(trial.study->key, parsed.number));
  return trial;
}

// The trials that succeeded at the same point, in their order.
absl::StatusOr<std::vector<ContenderTrial>> RepeatsOf(
    const ContenderTrial& trial, ImportanceDesk& desk,
    const std::stop_token& stop) {
  std::vector<ContenderTrial> repeats;
  const StudyHandle& study = *trial.study;
  RETURN_IF_ERROR(desk.studies().Of(study.key)->See(
      study, desk.store(), 0, stop,
      [&](const std::map<std::int64_t, KnownTrial>& trials, std::int64_t) {
        for (const auto& [number, known] : trials) {
          if (known.row.state == TrialState::kSucceeded &&
              SamePoint(known.seen.point, trial.row.point)) {
            repeats.push_back({trial.study, known.row});
          }
        }
        return absl::OkStatus();
      }));
  return repeats;
}

}  // namespace

std::string ContenderTrial::name() const {
  return TrialNameOf(study->id, row.number);
}

absl::StatusOr<std::vector<std::string>> StudiesOf(
    const v1::CompareTrialsRequest& request) {
  std::set<std::string> names;
  for (const v1::Contender& contender : request.contenders()) {
    for (const std::string& trial : contender.trials()) {
      ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(trial));
      names.insert(StudyNameOf(name.study_id));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

absl::StatusOr<std::vector<ContenderTrial>> TrialsOf(
    const v1::Contender& contender, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop) {
  std::vector<ContenderTrial> trials;
  std::set<std::string> seen;
  for (const std::string& name : contender.trials()) {
    ASSIGN_OR_RETURN(ContenderTrial trial,
                     FindNamed(name, studies, desk.store()));
    std::vector<ContenderTrial> all = {std::move(trial)};
    if (contender.with_repeats()) {
      ASSIGN_OR_RETURN(std::vector<ContenderTrial> repeats,
                       RepeatsOf(all[0], desk, stop));
      all.insert(all.end(), repeats.begin(), repeats.end());
    }
    for (ContenderTrial& one : all) {
      if (seen.insert(one.name()).second) trials.push_back(std::move(one));
    }
  }
  return trials;
}

}  // namespace frostline::server
