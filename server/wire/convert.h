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

// Writes a row as a message. `attempts` are shown in the FULL view only.
v1::Trial TrialToProto(const storage::TrialRow& row,
                       const std::string& study_id, const Space& space,
                       v1::TrialView view,
                       const std::vector<storage::AttemptRow>& attempts);

// Writes a row as a message, without counts and best trials, which rows do not
// hold.
v1::Study StudyToProto(const storage::StudyRow& row);

// `secret` is what the worker has to show; rows hold only its hash.
v1::Lease LeaseToProto(const storage::TrialRow& row,
                       const storage::AttemptRow& attempt,
                       const SecretString& secret, const storage::StudyRow& of,
                       const CheckedStudy& study);

v1::Measurement MeasurementToProto(const Measurement& measurement);
Measurement MeasurementFromProto(const v1::Measurement& proto);

// Reads an outcome. A success must have a finite value for every objective.
absl::StatusOr<Result> ResultFromProto(
    const v1::Outcome& outcome, const std::vector<Objective>& objectives);

std::vector<v1::ResolvedModule> ResolvedModules(const Space& space);

// Makes an Observation of a row; nothing else does. The intermediate values are
// not in the row (search/stored_history.h).
// in the row (search/stored_history.h).

Observation ObservationOf(const storage::TrialRow& row);

TrialUse UseOf(const v1::Usage& usage);

// The error is STEP_OUT_OF_ORDER unless the steps rise from 0 or above, and
// FIELD_TOO_LARGE by limits.h. `field` names the list.
absl::StatusOr<std::vector<storage::MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const storage::TrialRow& row, std::int64_t attempt,
    const std::string& field);

// The error is FIELD_TOO_LARGE when an attempt's curve would have this many
// steps.
absl::Status CheckCurve(std::int64_t steps, const std::string& field);

// Serialises a message with its maps in one order: equal content gives equal
// bytes, within one version of the library.
std::string OrderedBytes(const google::protobuf::Message& message);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_CONVERT_H_
