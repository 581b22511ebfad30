// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// Lists the data sets and models of a worker, by id, from its operator's
// datasets.yaml and models.yaml (docs/reference/datasets.md). A study names ids
// alone, so it never reaches another file.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_
#define FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/data/row_source.h"
#include "worker/trainer/data/task_name.h"

namespace frostline::trainer {

struct SplitEntry {
  std::string path;  // below the operator's root
  std::string sha256;
  FileFormat format;
  ColumnMap columns;
  TextForm form;     // of its set
  LabelRules rules;  // of its set
  bool labelled = true;
  bool skip_unlabelled = false;
};

struct DatasetEntry {
  std::string id;
  std::optional<TaskName> task;
  std::vector<std::string> labels;  // empty: those of the training split
  std::map<std::string, SplitEntry, std::less<>> splits;
};

struct ModelEntry {
  std::string id;
  std::string path;     // of its folder, below the operator's root
  std::string weights;  // the file in it of this sum
  std::string sha256;
  // Where that file is an index, they are the sums of the files in it.
  std::map<std::string, std::string> shards;
};

using DatasetEntries = std::map<std::string, DatasetEntry, std::less<>>;
using ModelEntries = std::map<std::string, ModelEntry, std::less<>>;

// [a-z0-9][a-z0-9._-]{0,63}
bool IsRegistryId(std::string_view id);

// `name` is what faults call the file. An unknown key is a fault: it is
// misspelt.
Expected<DatasetEntries> ParseDatasets(std::string_view yaml,
                                       const std::string& name);
Expected<ModelEntries> ParseModels(std::string_view yaml,
                                   const std::string& name);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_
