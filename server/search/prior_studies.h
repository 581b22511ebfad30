// SPDX-License-Identifier: Apache-2.0
//
// File: prior_studies.h
//
// A sampler may learn from trials that had succeeded when the study was created
// (warm start), so that proposals do not depend on what came later.
#ifndef FROSTLINE_SERVER_SEARCH_PRIOR_STUDIES_H_
#define FROSTLINE_SERVER_SEARCH_PRIOR_STUDIES_H_

#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"
#include "server/wire/spec_check.h"
#include "storage/trial_store.h"

namespace frostline::server {

inline constexpr int kMaxPriorStudies = 16;
// The newest of one prior study are taken.
inline constexpr std::size_t kMaxPriorTrials = 2'000;

// Reads what spec.warm_start(i) names. Errors name the field: STUDY_NOT_FOUND,
// or REQUEST_INVALID for a weight outside 0 … 1 or a study none of whose trials
// has a point in this space and all its metrics. After a stop it is CANCELLED,
// as all below: at most the page that was asked for is still read.
absl::StatusOr<sampler::PriorStudy> LoadPriorStudy(
    const CheckedStudy& study, int i, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop);

// Any thread may call.
absl::StatusOr<std::vector<sampler::PriorStudy>> LoadPriorStudies(
    const CheckedStudy& study, WallMicros created,
    const storage::TrialStore& store, const std::stop_token& stop);

// Reads those of a loaded study; a prior that is gone by now is done without.
absl::StatusOr<std::vector<sampler::PriorStudy>> PriorStudiesLeft(
    const storage::StudyRow& row, const CheckedStudy& study,
    const storage::TrialStore& store, const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_PRIOR_STUDIES_H_
