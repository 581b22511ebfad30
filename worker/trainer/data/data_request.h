// SPDX-License-Identifier: Apache-2.0
//
// File: data_request.h
//
// Reads the contract's DataRef in JSON (docs/reference/trainer-protocol.md,
// `data`).
#ifndef FROSTLINE_WORKER_TRAINER_DATA_DATA_REQUEST_H_
#define FROSTLINE_WORKER_TRAINER_DATA_DATA_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/data/task_name.h"

namespace frostline::trainer {

// Two trials with equal requests train on the same rows.
struct DataRequest {
  std::string id = {};
  ColumnMap columns = {};  // go before the registry's
  std::string train_split = {};
  std::string validation_split = {};
  std::string test_split = {};
  std::uint64_t train_rows = 0;
  double train_share = 0.0;
  double validation_share = 0.0;
  std::uint64_t split_seed = 0;
  std::optional<TaskName> task = {};
  std::string sha256 = {};
  TextForm form = {};     // besides what the registry says
  LabelRules rules = {};  // behind the registry's, of every set

  friend bool operator==(const DataRequest&, const DataRequest&) = default;
};

// Passes over unknown fields. Returns kMisuse naming a field that is not right.
Expected<DataRequest> ReadDataRequest(const JsonValue& data);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_DATA_REQUEST_H_
