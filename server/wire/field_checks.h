// SPDX-License-Identifier: Apache-2.0
//
// File: field_checks.h
//
// The checks of which the rules in validate.cc are made. An error names the
// field and says what would be right. It shows text of a request only where
// that text is short and part of a name.
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

// Accepts 16 to 64 characters of [A-Za-z0-9_-].
absl::Status CheckRequestId(const std::string& id);
// Accepts 1 to 64 characters of [A-Za-z0-9._-], as boot ids and lease secrets
// have.
absl::Status CheckToken(const std::string& token, const std::string& field);

absl::Status CheckStudyName(const std::string& name, const std::string& field);
absl::Status CheckTrialName(const std::string& name, const std::string& field);
absl::Status CheckWorkerName(const std::string& name, const std::string& field);

absl::Status CheckRange(std::int64_t value, std::int64_t lo, std::int64_t hi,
                        const std::string& field);
// NaN is in no range.
absl::Status CheckWithin(double value, double lo, double hi,
                         const std::string& field);
// Both return FIELD_TOO_LARGE.
absl::Status CheckBytes(const std::string& text, std::size_t max,
                        const std::string& field);
absl::Status CheckCount(std::int64_t count, std::int64_t max,
                        const std::string& field);

// Accepts a well-formed duration from 0 to `max_seconds`.
absl::Status CheckDuration(const google::protobuf::Duration& duration,
                           std::int64_t max_seconds, const std::string& field);

absl::Status CheckPage(int page_size, const std::string& page_token,
                       const std::string& filter);

// Checks of what workers send about a lease.

using Measurements = google::protobuf::RepeatedPtrField<v1::Measurement>;
using Labels = google::protobuf::Map<std::string, std::string>;

absl::Status CheckLease(const v1::LeaseRef& lease, const std::string& field);
absl::Status CheckMeasurements(const Measurements& measurements);
absl::Status CheckOutcome(const v1::Outcome& outcome);
absl::Status CheckFinalMetrics(
    const google::protobuf::Map<std::string, double>& metrics,
    const std::string& field);
absl::Status CheckLabels(const Labels& labels, const std::string& field);
// Checks the labels of a trial, which its trainer is told.
absl::Status CheckTrialLabels(const Labels& labels, const std::string& field);

absl::Status CheckLogTail(const std::string& tail, const std::string& field);
absl::Status CheckLogPlace(const v1::LogPlace& place, const std::string& field);
// Checks what a worker says of its progress. The coordinator fills in steps and
// `as_of`.
absl::Status CheckProgress(const v1::TrialProgress& progress,
                           const std::string& field);
absl::Status CheckCause(const std::string& cause, const std::string& field);

// Decides which workers are served. Within v1 the contract only grows, but what
// the two sides do with it changes from version to version. The workers of a
// fleet are upgraded one after the other, so a coordinator serves workers of
// one minor version before and after its own:
//
//   coordinator 0.4.2: workers of 0.3.0 … 0.5.9, not 0.2.1, 0.6.0 or 1.4.0
//
// The error is REQUEST_INVALID at worker.version. A worker that names no
// version, or one that is no number, is somebody's own program, and is served.
absl::Status CheckWorkerVersion(const std::string& workers,
                                const std::string& ours);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FIELD_CHECKS_H_
