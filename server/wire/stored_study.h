// SPDX-License-Identifier: Apache-2.0
//
// File: stored_study.h
//
// A study as it is in the store, checked again: the code that judges it may be
// newer than the study.
#ifndef FROSTLINE_SERVER_WIRE_STORED_STUDY_H_
#define FROSTLINE_SERVER_WIRE_STORED_STUDY_H_

#include "absl/status/statusor.h"
#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

// STORE_CORRUPT when the row's spec cannot be read; else as CheckStudy.
absl::StatusOr<CheckedStudy> CheckStored(const storage::StudyRow& row,
                                         const LeaseRules& defaults);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_STORED_STUDY_H_
