// SPDX-License-Identifier: Apache-2.0
//
// File: spec_check.h
//
// A spec is judged here alone, for CreateStudy, --dry-run and stored studies.
#ifndef FROSTLINE_SERVER_WIRE_SPEC_CHECK_H_
#define FROSTLINE_SERVER_WIRE_SPEC_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"
#include "sampler/factory.h"
#include "sampler/pruner/pruner.h"
#include "server/wire/spec.h"
#include "study/freezing.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::server {

inline constexpr std::int64_t kMaxTrialsPerStudy = kMostBudgetTrials;
inline constexpr std::size_t kMaxSpecBytes = std::size_t{256} * 1024;

struct CheckedStudy {
  v1::StudySpec spec;
  v1::StudySettings settings;
  ModelShape shape;
  Space space;
  std::vector<Objective> objectives;
  sampler::SamplerSpec sampler;
  sampler::PrunerSpec pruner;
  LeaseRules lease;
  RepeatRule repeat;
};

absl::StatusOr<CheckedStudy> CheckStudy(const v1::StudySpec& spec,
                                        const v1::StudySettings& settings,
                                        const LeaseRules& defaults);

// What a strategy or values leave open is drawn from (study seed, number). It
// answers VALUE_OUT_OF_SPACE when there is no such point.
absl::StatusOr<Point> PointFromEnqueued(const CheckedStudy& study,
                                        const v1::EnqueuedTrial& trial,
                                        const std::string& field,
                                        std::int64_t number);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SPEC_CHECK_H_
