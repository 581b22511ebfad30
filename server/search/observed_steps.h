// SPDX-License-Identifier: Apache-2.0
//
// File: observed_steps.h
#ifndef FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_
#define FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_

#include "absl/status/statusor.h"
#include "server/wire/spec_check.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// Reads intermediate values when the study prunes.
absl::StatusOr<Observation> ReadObservation(const storage::TrialRow& row,
                                            const CheckedStudy& study,
                                            const storage::TrialStore& store);

// Takes those of the first objective.
std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_
