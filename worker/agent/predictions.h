// SPDX-License-Identifier: Apache-2.0
//
// File: predictions.h
//
// Reads what somebody wishes of the predictions that a trainer wrote
// (base/plain/predictions_file.h). Nothing else of a run folder can be had.
#ifndef FROSTLINE_WORKER_AGENT_PREDICTIONS_H_
#define FROSTLINE_WORKER_AGENT_PREDICTIONS_H_

#include <string>

#include "frostline/v1/worker_service.pb.h"

namespace frostline::agent {

// Whether a trial below DIR/trials/ has any.
bool HasPredictions(const std::string& run_folder);
// Whether an attempt of this trial's folder has.
bool TrialHasPredictions(const std::string& trial_folder);

// Answers what `wish` asks for, without the worker's names. Where the attempt's
// folder has no such file, an earlier attempt's is taken; where there is none,
// the answer says why.
v1::SendPredictionsRequest AnswerWish(const std::string& run_folder,
                                      const v1::PredictionsWish& wish);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PREDICTIONS_H_
