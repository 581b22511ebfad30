// SPDX-License-Identifier: Apache-2.0
//
// File: imported_trial.h
//
// A trial that was finished elsewhere is checked like one of ours.
#ifndef FROSTLINE_SERVER_VERBS_IMPORTED_TRIAL_H_
#define FROSTLINE_SERVER_VERBS_IMPORTED_TRIAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"
#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

// Leaves number and revisions out. Errors of state, parameters and times are at
// `field` and below.
absl::StatusOr<storage::TrialRow> ImportedRow(const v1::ImportedTrial& trial,
                                              const CheckedStudy& study,
                                              const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_IMPORTED_TRIAL_H_
