// SPDX-License-Identifier: Apache-2.0
//
// File: stored_study.h
//
// A study from the store is checked again, since the code that judges it may be
// newer.
#ifndef FROSTLINE_SERVER_WIRE_STORED_STUDY_H_
#define FROSTLINE_SERVER_WIRE_STORED_STUDY_H_

#include "absl/status/statusor.h"
#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

// Answers STORE_CORRUPT for an unreadable spec, else as CheckStudy does.
absl::StatusOr<CheckedStudy> CheckStored(const storage::StudyRow& row,
                                         const LeaseRules& defaults);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_STORED_STUDY_H_
