// SPDX-License-Identifier: Apache-2.0
//
// File: training_bounds.h
//
// Holds what a study says about training against base/plain/training_table.h,
// so that a number or a word that no trial could train with is refused at once,
// as are names that would give two metrics one name.
#ifndef FROSTLINE_SERVER_WIRE_TRAINING_BOUNDS_H_
#define FROSTLINE_SERVER_WIRE_TRAINING_BOUNDS_H_

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Answers REQUEST_INVALID naming the field. Only new studies are checked:
// stored ones stay readable when bounds become narrower.
absl::Status CheckTrainingBounds(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_TRAINING_BOUNDS_H_
