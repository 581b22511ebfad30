// SPDX-License-Identifier: Apache-2.0
//
// File: check.h
//
// Checks an entry of a registry as a trainer would at its first trial, and says
// in the trainer's own words what is wrong: sums, configuration, tokenizer,
// columns, labels, every row.
#ifndef FROSTLINE_WORKER_REGISTRY_CHECK_H_
#define FROSTLINE_WORKER_REGISTRY_CHECK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/registry/registry.h"

namespace frostline::registry {

struct ModelFacts {
  std::string id;
  std::string kind;  // "bert", "xlm-roberta"
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t hidden = 0;
  std::int64_t longest_text = 0;  // in tokens
  std::int64_t weight_bytes = 0;
};

struct SplitFacts {
  std::string name;
  bool labelled = true;
  std::int64_t rows = 0;
  std::int64_t empty_texts = 0;
  std::int64_t left_out = 0;  // rows without a label
};

struct DataFacts {
  std::string id;
  trainer::TaskName task;
  std::vector<SplitFacts> splits;  // `train` first
  // The classes of the training split in the order of a model's outputs, each
  // with its rows (tagging: words). Empty for regression.
  std::vector<std::pair<std::string, std::int64_t>> classes;
};

// "classification", "regression", "tagging", "pair".
std::string NameOf(const trainer::TaskName& task);

// What a study means that names no task.
trainer::TaskName TaskOfSet(const trainer::DatasetEntry& set);

// Reads the weights once, for their sum, and of the tensors the header alone.
absl::StatusOr<ModelFacts> CheckModel(const Registry& registry,
                                      const std::string& id);
// The same without sums: the configuration alone.
absl::StatusOr<ModelFacts> LookAtModel(const Registry& registry,
                                       const std::string& id);

// Reads every file of it twice and keeps no row of it. A set to be learnt from
// needs two classes, and a text in one row at least.
absl::StatusOr<DataFacts> CheckDataSet(const Registry& registry,
                                       const std::string& id);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_CHECK_H_
