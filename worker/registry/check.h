// SPDX-License-Identifier: Apache-2.0
//
// File: check.h
//
// Checks an entry of a registry as a trainer would at its first trial: sums,
// configuration, tokenizer, columns, labels, every row. Errors are in the words
// of the trainer.
#ifndef FROSTLINE_WORKER_REGISTRY_CHECK_H_
#define FROSTLINE_WORKER_REGISTRY_CHECK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/registry/registry.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::registry {

// What a check found out about a model.
struct ModelFacts {
  std::string id;
  std::string kind;  // "bert", "xlm-roberta"
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t hidden = 0;
  std::int64_t longest_text = 0;  // in tokens
  std::int64_t weight_bytes = 0;

  bool has_pooler() const { return kind == "bert" || kind == "deberta-v2"; }
};

// What a check found out about a data set and its splits.
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

// Returns "classification", "regression", "tagging", "pair", "answers" or
// "choices".
std::string NameOf(const trainer::TaskName& task);

// Returns the task of a study that uses this set and names no task.
trainer::TaskName TaskOfSet(const trainer::DatasetEntry& set);

// Checks a model. It reads the weights once, for their sum, and the header of
// their tensors.
absl::StatusOr<ModelFacts> CheckModel(const Registry& registry,
                                      const std::string& id);
// Does the same without sums: it reads only the configuration.
absl::StatusOr<ModelFacts> LookAtModel(const Registry& registry,
                                       const std::string& id);

// Returns the configuration of a model of the registry.
absl::StatusOr<trainer::ModelConfig> ReadModelOf(const Registry& registry,
                                                 const std::string& id);

// Checks a data set. It reads every file twice and keeps no row in memory. The
// training split needs two classes, and a text in at least one row.
absl::StatusOr<DataFacts> CheckDataSet(const Registry& registry,
                                       const std::string& id);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_CHECK_H_
