// SPDX-License-Identifier: Apache-2.0
//
// File: rows_to_predict.h
//
// Finds out what a trained model is to answer in a file that nobody has
// described: its format, its columns, and whether it has labels to measure by.
#ifndef FROSTLINE_WORKER_REGISTRY_ROWS_TO_PREDICT_H_
#define FROSTLINE_WORKER_REGISTRY_ROWS_TO_PREDICT_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/registry/table_look.h"
#include "worker/trainer/data/dataset_reader.h"

namespace frostline::registry {

struct RowsToPredict {
  trainer::FileFormat format;
  std::string format_name;
  trainer::ColumnMap columns;  // from roles to columns
  bool labelled = false;
};

// `model` is the folder of a fine-tuned model, whose config.json says what it
// answers; `said` are the columns that a person named. In doubt it asks.
absl::StatusOr<RowsToPredict> LookAtRowsToPredict(
    const std::string& model, const std::string& file,
    const trainer::ColumnMap& said, const TableHints& hints);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_ROWS_TO_PREDICT_H_
