// SPDX-License-Identifier: Apache-2.0
//
// File: lease_checks.h
//
// Checks what workers send about a lease, as field_checks.h does.
#ifndef FROSTLINE_SERVER_WIRE_LEASE_CHECKS_H_
#define FROSTLINE_SERVER_WIRE_LEASE_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::server {

using Measurements = google::protobuf::RepeatedPtrField<v1::Measurement>;
using Labels = google::protobuf::Map<std::string, std::string>;

absl::Status CheckLease(const v1::LeaseRef& lease, const std::string& field);
absl::Status CheckMeasurements(const Measurements& measurements);
absl::Status CheckOutcome(const v1::Outcome& outcome);
absl::Status CheckFinalMetrics(
    const google::protobuf::Map<std::string, double>& metrics,
    const std::string& field);
absl::Status CheckLabels(const Labels& labels, const std::string& field);
// Of a trial; they are told to its trainer.
absl::Status CheckTrialLabels(const Labels& labels, const std::string& field);

absl::Status CheckLogTail(const std::string& tail, const std::string& field);
absl::Status CheckLogPlace(const v1::LogPlace& place, const std::string& field);
// Of what a worker says; the coordinator fills in steps and `as_of`.
absl::Status CheckProgress(const v1::TrialProgress& progress,
                           const std::string& field);
absl::Status CheckCause(const std::string& cause, const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_LEASE_CHECKS_H_
