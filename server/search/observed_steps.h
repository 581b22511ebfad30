// SPDX-License-Identifier: Apache-2.0
//
// File: observed_steps.h
//
// A stored trial as samplers and pruners see it, with what it measured on the
// way.
#ifndef FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_
#define FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_

#include "absl/status/statusor.h"
#include "server/wire/spec_check.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// Intermediate values are read when the study prunes.
absl::StatusOr<Observation> ReadObservation(const storage::TrialRow& row,
                                            const CheckedStudy& study,
                                            const storage::TrialStore& store);

// Of the first objective.
std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_
