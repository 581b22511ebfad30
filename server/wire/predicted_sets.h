// SPDX-License-Identifier: Apache-2.0
//
// File: predicted_sets.h
//
// `training.predictions` names sets that a trial evaluates: `validation` (also
// called `dev`), `train`, `test` where the data have a test split, and the ids
// of `also_evaluate`. Of several tasks each must have the set.
#ifndef FROSTLINE_SERVER_WIRE_PREDICTED_SETS_H_
#define FROSTLINE_SERVER_WIRE_PREDICTED_SETS_H_

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Answers REQUEST_INVALID at "training.predictions[0]", as our trainer would
// fail the first trial.
absl::Status CheckPredictedSets(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_PREDICTED_SETS_H_
