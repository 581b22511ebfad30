// SPDX-License-Identifier: Apache-2.0
//
// File: add.h
//
// Puts a model or a data set into a registry: its files, their sums, an entry
// in models.yaml or datasets.yaml behind what is there. Everything is checked
// first; what does not hold changes nothing.
#ifndef FROSTLINE_WORKER_REGISTRY_ADD_H_
#define FROSTLINE_WORKER_REGISTRY_ADD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/registry/check.h"
#include "worker/registry/guess.h"

namespace frostline::registry {

struct NewModel {
  std::string path;  // a folder, as transformers saves one
  std::string id;    // empty: from the path
};

struct NewDataSet {
  std::string path;  // a file of rows, or a folder of them
  std::string id;
  std::string validation;  // a file, or empty
  std::string test;
  trainer::ColumnMap columns;  // those that a person named
  std::string task;
  TableHints hints;
  bool skip_unlabelled = false;
};

struct AddedModel {
  ModelFacts facts;
  bool was_there = false;  // under this id, with these weights
};

struct AddedDataSet {
  DataFacts facts;
  trainer::ColumnMap columns;
  std::vector<std::string> guessed;  // roles
  bool was_there = false;            // under this id, with these rows
};

// The registry's folder is made where there is none.
absl::StatusOr<AddedModel> AddModel(const std::string& registry,
                                    const NewModel& model);
absl::StatusOr<AddedDataSet> AddDataSet(const std::string& registry,
                                        const NewDataSet& set);

// "My Reviews.csv" makes "my-reviews"; a folder called model has its parent's
// name.
std::string IdFromPath(const std::string& path);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_ADD_H_
