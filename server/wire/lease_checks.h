// SPDX-License-Identifier: Apache-2.0
//
// File: lease_checks.h
//
// The rules of what workers send about a lease, for validate_worker.cc: the
// lease itself, measurements, outcomes, labels. Like field_checks.h.
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
absl::Status CheckLabels(const Labels& labels, const std::string& field);

// The tail of a trial's log.
absl::Status CheckLogTail(const std::string& tail, const std::string& field);
// A sentence or two for people.
absl::Status CheckCause(const std::string& cause, const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_LEASE_CHECKS_H_
