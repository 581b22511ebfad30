// SPDX-License-Identifier: Apache-2.0
//
// File: predict_options.h
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_PREDICT_OPTIONS_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_PREDICT_OPTIONS_H_

#include <string>

#include "base/plain/result.h"
#include "worker/trainer/predict/predict.h"

namespace frostline::trainer {

// Takes an option that says what to answer, such as --rows FILE or --column
// text=review. False when it is none of those; kMisuse for its value.
Expected<bool> TakePredictOption(const std::string& option,
                                 const std::string& value,
                                 PredictRequest& request);

// Returns kMisuse when the model, the rows or the output is not named.
Expected<Done> CheckPredictRequest(const PredictRequest& request);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_PREDICT_OPTIONS_H_
