// SPDX-License-Identifier: Apache-2.0
//
// File: predict.h
//
// Answers for each example of a file, and where the file has labels measures
// the answers as a trial's evaluation would.
//
//   PredictRequest request = {.model = "best/model", .file = "new.tsv"};
//   request.output = "answers.tsv";
//   Expected<PredictReport> report = Predict(request, device);
#ifndef FROSTLINE_WORKER_TRAINER_PREDICT_PREDICT_H_
#define FROSTLINE_WORKER_TRAINER_PREDICT_PREDICT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/plain/result.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/trial/scores.h"

namespace frostline::trainer {

// Opens a fine-tuned model to answer with: one that a trial exported, its
// adapters with it, or one that transformers saved.

struct ExportedModel {
  Model model;
  LabelSet labels;  // by class; none of numbers
  TextReading texts;
};

// Returns kInconsistent where the weights lack any of the head: nothing is
// drawn, for a drawn head answers nonsense.
Expected<ExportedModel> OpenExportedModel(const std::string& folder);

struct PredictRequest {
  std::string model = {};  // a folder
  std::string file = {};   // of rows
  FileFormat format = {};
  ColumnMap columns = {};       // they go before the defaults
  bool labelled = true;         // else a column of labels is not looked at
  std::string output = {};      // as base/plain/predictions_file.h says
  std::int64_t max_length = 0;  // tokens; 0: as the model was trained
  std::string precision = "fp32";
};

struct PredictReport {
  std::size_t examples = 0;
  Metrics metrics;  // empty without labels
};

// The output is there whole, or not at all. Labels that the model does not know
// are a fault that names file and line.
Expected<PredictReport> Predict(const PredictRequest& request,
                                const Device& device);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREDICT_PREDICT_H_
