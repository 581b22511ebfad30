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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FIELD_CHECKS_H_
