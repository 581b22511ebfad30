// SPDX-License-Identifier: Apache-2.0
//
// File: contender_trials.h
//
// Which trials a contender of a comparison is.
#ifndef FROSTLINE_SERVER_IMPORTANCE_CONTENDER_TRIALS_H_
#define FROSTLINE_SERVER_IMPORTANCE_CONTENDER_TRIALS_H_

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"

namespace frostline::server {

using StudiesByName = std::map<std::string, StudyHandle>;

// "studies/a" for each that the request names; NAME_INVALID.
absl::StatusOr<std::vector<std::string>> StudiesOf(
    const v1::CompareTrialsRequest& request);

struct ContenderTrial {
  const StudyHandle* study = nullptr;  // of the map that it was looked up in
  storage::TrialRow row;

  std::string name() const;
};

// Those that it names, each with the trials that succeeded at its point where
// it asks for repeats. Each once; TRIAL_NOT_FOUND. REQUIRES: all its studies
// are in `studies`.
absl::StatusOr<std::vector<ContenderTrial>> TrialsOf(
    const v1::Contender& contender, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_CONTENDER_TRIALS_H_
