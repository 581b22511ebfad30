// SPDX-License-Identifier: Apache-2.0
//
// File: prior_studies.h
//
// The trials of earlier studies that a study's sampler may learn from (warm
// start). They are those that had succeeded when the study was created, so
// what is proposed does not depend on what became of the others later.
#ifndef FROSTLINE_SERVER_SEARCH_PRIOR_STUDIES_H_
#define FROSTLINE_SERVER_SEARCH_PRIOR_STUDIES_H_

#include <string>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "server/wire/spec_check.h"
#include "storage/trial_store.h"

namespace frostline::server {

inline constexpr int kMaxPriorStudies = 16;
// Of one prior study, the newest; more would not be worth their time.
inline constexpr std::size_t kMaxPriorTrials = 2'000;

// Of `study`, created at `created`: what spec.warm_start(i) names. Errors name
// the field: STUDY_NOT_FOUND, REQUEST_INVALID for a weight outside 0 … 1 or a
// study none of whose trials has a point in this space and all its metrics.
absl::StatusOr<sampler::PriorStudy> LoadPriorStudy(
    const CheckedStudy& study, int i, WallMicros created,
    const storage::TrialStore& store);

// All of them. Any thread.
absl::StatusOr<std::vector<sampler::PriorStudy>> LoadPriorStudies(
    const CheckedStudy& study, WallMicros created,
    const storage::TrialStore& store);

// Those of a study that is loaded. A prior that is gone by now is done without:
// there is no way back to it.
std::vector<sampler::PriorStudy> PriorStudiesLeft(
    const storage::StudyRow& row, const CheckedStudy& study,
    const storage::TrialStore& store);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_PRIOR_STUDIES_H_
