// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// The data sets and models of a worker, by the ids that studies use. A worker's
// operator writes datasets.yaml and models.yaml; a study can name nothing but
// an id, and never reaches a file that is not here. The page for people:
// docs/reference/datasets.md.
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
  std::string weights;  // the file in it that the sum is of
  std::string sha256;
  // Where that file is an index: the sum of each file that it names.
  std::map<std::string, std::string> shards;
};

using DatasetEntries = std::map<std::string, DatasetEntry, std::less<>>;
using ModelEntries = std::map<std::string, ModelEntry, std::less<>>;

// [a-z0-9][a-z0-9._-]{0,63}
bool IsRegistryId(std::string_view id);

// The contents of datasets.yaml and models.yaml. `name` is what faults call
// the file. A key that is not known is a fault, as it is a misspelt one.
Expected<DatasetEntries> ParseDatasets(std::string_view yaml,
                                       const std::string& name);
Expected<ModelEntries> ParseModels(std::string_view yaml,
                                   const std::string& name);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_
