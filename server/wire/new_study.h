// SPDX-License-Identifier: Apache-2.0
//
// File: new_study.h
//
// Limits that only a new study has to keep. A study is refused when its trials
// could not end: what it names must fit into the messages that carry it later
// (limits.h), and what it searches into the numbers that hold it.
#ifndef FROSTLINE_SERVER_WIRE_NEW_STUDY_H_
#define FROSTLINE_SERVER_WIRE_NEW_STUDY_H_

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// The error is FIELD_TOO_LARGE, RANGE_INVALID or REQUEST_INVALID, and names the
// field. Only new studies are checked: stored ones stay readable.
absl::Status CheckNewStudy(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_NEW_STUDY_H_
