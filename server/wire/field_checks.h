// SPDX-License-Identifier: Apache-2.0
//
// File: field_checks.h
//
// The rules of validate_*.cc are made of these: an error names the field and
// says what would be right. It shows text of a request only where that is short
// and part of a name.
#ifndef FROSTLINE_SERVER_WIRE_FIELD_CHECKS_H_
#define FROSTLINE_SERVER_WIRE_FIELD_CHECKS_H_

#include <google/protobuf/duration.pb.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::server {

absl::Status BadField(const std::string& field, const std::string& cause,
                      const std::string& fix);

// Asks for 16 to 64 of [A-Za-z0-9_-].
absl::Status CheckRequestId(const std::string& id);
// Asks for 1 to 64 of [A-Za-z0-9._-], as boot ids and lease secrets are.
absl::Status CheckToken(const std::string& token, const std::string& field);

absl::Status CheckStudyName(const std::string& name, const std::string& field);
absl::Status CheckTrialName(const std::string& name, const std::string& field);
absl::Status CheckWorkerName(const std::string& name, const std::string& field);

absl::Status CheckRange(std::int64_t value, std::int64_t lo, std::int64_t hi,
                        const std::string& field);
// What is not a number is in no range.
absl::Status CheckWithin(double value, double lo, double hi,
                         const std::string& field);
// Both answer FIELD_TOO_LARGE.
absl::Status CheckBytes(const std::string& text, std::size_t max,
                        const std::string& field);
absl::Status CheckCount(std::int64_t count, std::int64_t max,
                        const std::string& field);

// Asks for a well-formed one of 0 … `max_seconds`.
absl::Status CheckDuration(const google::protobuf::Duration& duration,
                           std::int64_t max_seconds, const std::string& field);

absl::Status CheckPage(int page_size, const std::string& page_token,
                       const std::string& filter);

// Checks what workers send about a lease, as field_checks.h does.

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

// Within v1 the contract only grows, but what the two sides do with it changes
// from version to version. A fleet is upgraded bit by bit, so a coordinator
// serves workers of one minor version before and after its own:
//
//   coordinator 0.4.2: workers of 0.3.0 … 0.5.9, not 0.2.1, 0.6.0 or 1.4.0
//
// Returns REQUEST_INVALID at worker.version. Who says none, or one that is no
// number, is a worker of somebody's own, and is served.
absl::Status CheckWorkerVersion(const std::string& workers,
                                const std::string& ours);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FIELD_CHECKS_H_
