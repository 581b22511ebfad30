// SPDX-License-Identifier: Apache-2.0
//
// File: convert.h
#ifndef FROSTLINE_SERVER_WIRE_CONVERT_H_
#define FROSTLINE_SERVER_WIRE_CONVERT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker.pb.h"
#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

// Shows `attempts` in the FULL view only.
v1::Trial TrialToProto(const storage::TrialRow& row,
                       const std::string& study_id, const Space& space,
                       v1::TrialView view,
                       const std::vector<storage::AttemptRow>& attempts);

// Leaves out counts and best trials, which rows do not hold.
v1::Study StudyToProto(const storage::StudyRow& row);

// `secret` is what the worker is to show; rows hold what it hashes to.
v1::Lease LeaseToProto(const storage::TrialRow& row,
                       const storage::AttemptRow& attempt,
                       const SecretString& secret, const storage::StudyRow& of,
                       const CheckedStudy& study);

v1::Measurement MeasurementToProto(const Measurement& measurement);
Measurement MeasurementFromProto(const v1::Measurement& proto);

// A success must have every objective, finite.
absl::StatusOr<Result> ResultFromProto(
    const v1::Outcome& outcome, const std::vector<Objective>& objectives);

std::vector<v1::ResolvedModule> ResolvedModules(const Space& space);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_CONVERT_H_
