// SPDX-License-Identifier: Apache-2.0
//
// File: exported_model.h
//
// Opens a fine-tuned model to answer with: one that a trial exported, its
// adapters with it, or one that transformers saved.
#ifndef FROSTLINE_WORKER_TRAINER_PREDICT_EXPORTED_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_PREDICT_EXPORTED_MODEL_H_

#include <string>

#include "base/plain/result.h"
#include "worker/trainer/data/label_set.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

struct ExportedModel {
  Model model;
  LabelSet labels;  // by class; none of numbers
  TextReading texts;
};

// Returns kInconsistent where the weights lack any of the head: nothing is
// drawn, for a drawn head answers nonsense.
Expected<ExportedModel> OpenExportedModel(const std::string& folder);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREDICT_EXPORTED_MODEL_H_
