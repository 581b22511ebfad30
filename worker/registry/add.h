// SPDX-License-Identifier: Apache-2.0
//
// File: add.h
//
// Puts models and data sets into a registry: their files, their sums, entries
// in models.yaml or datasets.yaml behind what is there. Everything is checked
// first; what does not hold changes nothing.
//
//   ASSIGN_OR_RETURN(Addition addition, Addition::To("registry"));
//   ASSIGN_OR_RETURN(const AddedDataSet data, addition.Add(set));
//   RETURN_IF_ERROR(addition.Keep());
#ifndef FROSTLINE_WORKER_REGISTRY_ADD_H_
#define FROSTLINE_WORKER_REGISTRY_ADD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/registry/check.h"
#include "worker/registry/guess.h"
#include "worker/registry/placing.h"
#include "worker/registry/registry.h"

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

// What it has added goes again with it, unless Keep() has answered OK. Others
// cannot add to the registry while it lives. One thread uses it.
class Addition {
 public:
  // Makes the folder where there is none.
  static absl::StatusOr<Addition> To(const std::string& folder);

  absl::StatusOr<AddedModel> Add(const NewModel& model);
  absl::StatusOr<AddedDataSet> Add(const NewDataSet& set);

  // With what was added.
  const Registry& registry() const { return registry_; }

  // Writes the entries of all that was added, or of none.
  absl::Status Keep();

 private:
  Addition(std::string named, Placing placing, Registry registry);

  std::string named_;  // the folder, as somebody wrote it
  Placing placing_;
  Registry registry_;
  std::string data_entries_;  // as datasets.yaml will have them
  std::string model_entries_;
};

// One alone, and kept.
absl::StatusOr<AddedModel> AddModel(const std::string& registry,
                                    const NewModel& model);
absl::StatusOr<AddedDataSet> AddDataSet(const std::string& registry,
                                        const NewDataSet& set);

// "My Reviews.csv" makes "my-reviews"; a folder called model has its parent's
// name.
std::string IdFromPath(const std::string& path);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_ADD_H_
