// SPDX-License-Identifier: Apache-2.0
//
// File: measurement_rows.h
#ifndef FROSTLINE_SERVER_WIRE_MEASUREMENT_ROWS_H_
#define FROSTLINE_SERVER_WIRE_MEASUREMENT_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/trial.pb.h"
#include "storage/rows.h"

namespace frostline::server {

// Answers STEP_OUT_OF_ORDER unless the steps rise from 0 or above,
// FIELD_TOO_LARGE by limits.h. `field` names the list.
absl::StatusOr<std::vector<storage::MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const storage::TrialRow& row, std::int64_t attempt,
    const std::string& field);

// Answers FIELD_TOO_LARGE when an attempt's curve would come to so many steps.
absl::Status CheckCurve(std::int64_t steps, const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_MEASUREMENT_ROWS_H_
