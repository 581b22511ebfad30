// SPDX-License-Identifier: Apache-2.0
//
// File: predictions.h
//
// Writes what was predicted of each example, beside its text, in the form of
// base/plain/predictions_file.h.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_PREDICTIONS_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_PREDICTIONS_H_

#include <string>

#include "worker/trainer/data/load.h"
#include "worker/trainer/trial/scores.h"

namespace frostline::trainer {

// `scores` are of the part's rows. The file is there whole, or not at all.
Expected<Done> WritePredictions(const std::string& path, const DataPart& part,
                                const Scores& scores);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_PREDICTIONS_H_
