// SPDX-License-Identifier: Apache-2.0
//
// File: convert.h
#ifndef FROSTLINE_SERVER_WIRE_CONVERT_H_
#define FROSTLINE_SERVER_WIRE_CONVERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"
#include "google/protobuf/message.h"
#include "server/wire/spec.h"
#include "storage/rows.h"
#include "study/history.h"

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

// A row becomes an Observation here alone. What was measured on the way is not
// in the row (search/stored_history.h).

Observation ObservationOf(const storage::TrialRow& row);

TrialUse UseOf(const v1::Usage& usage);

// Answers STEP_OUT_OF_ORDER unless the steps rise from 0 or above,
// FIELD_TOO_LARGE by limits.h. `field` names the list.
absl::StatusOr<std::vector<storage::MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const storage::TrialRow& row, std::int64_t attempt,
    const std::string& field);

// Answers FIELD_TOO_LARGE when an attempt's curve would come to so many steps.
absl::Status CheckCurve(std::int64_t steps, const std::string& field);

// Serialises a message, its maps in one order: the same bytes for the same
// content, within one version of the library.
std::string OrderedBytes(const google::protobuf::Message& message);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_CONVERT_H_
